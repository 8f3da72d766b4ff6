"""066 · update_second_moment. Lesson: 066_update_second_moment.md."""

from math import inf, nan

import pytest
import torch

from kata.part09_adam import update_second_moment
from specs.harness import draw
from specs.harness.check import assert_close


def test_three_quarters_old_one_quarter_of_the_square():
    """3/4 · 8 + 1/4 · 4² = 6 + 4 = 10."""
    moment = update_second_moment(torch.tensor([8.0]), torch.tensor([4.0]), 0.75)
    assert_close(moment, expected=[10.0])


def test_two_hundredths_are_new_by_default():
    """0.98 · 100 + 0.02 · 20² = 98 + 8 = 106: the paper's β₂ is 0.98."""
    assert_close(
        update_second_moment(torch.tensor([100.0]), torch.tensor([20.0])), expected=[106.0]
    )


def test_sign_of_the_gradient_plays_no_part():
    """(−4)² is 16 as well: rough is rough, uphill or downhill."""
    moment = update_second_moment(torch.tensor([8.0]), torch.tensor([-4.0]), 0.75)
    assert_close(moment, expected=[10.0])


def test_first_gradient_of_all_is_heard_as_its_share():
    """3/4 · 0 + 1/4 · 4² = 4: the square is weighted, not squared with its weight."""
    moment = update_second_moment(torch.tensor([0.0]), torch.tensor([4.0]), 0.75)
    assert_close(moment, expected=[4.0])


def test_zero_gradient_lets_the_moment_fade():
    """3/4 · 8 + 1/4 · 0² = 6."""
    moment = update_second_moment(torch.tensor([8.0]), torch.tensor([0.0]), 0.75)
    assert_close(moment, expected=[6.0])


def test_tiny_gradient_counts_in_full():
    """3/4 · 0 + 1/4 · (2 · 10⁻⁷)² = 10⁻¹⁴: there is no floor under it."""
    moment = update_second_moment(torch.tensor([0.0]), torch.tensor([2e-7]), 0.75)
    assert_close(moment, expected=[1e-14], atol=0.0)


def test_beta_of_zero_forgets_everything():
    """0 · 8 + 1 · 4² = 16."""
    moment = update_second_moment(torch.tensor([8.0]), torch.tensor([4.0]), 0.0)
    assert_close(moment, expected=[16.0])


def test_every_number_is_squared_by_itself():
    """3/4 · 4 + 1/4 · (0², 2², 4², 6²): no sum over the tensor, no matrix product."""
    gradient = torch.tensor([[0.0, 2.0], [4.0, 6.0]])
    moment = update_second_moment(torch.full((2, 2), 4.0), gradient, 0.75)
    assert_close(moment, expected=[[3.0, 4.0], [7.0, 12.0]])


def test_gradients_reach_both():
    """d v / d (old moment) = 3/4, d v / d g = 1/4 · 2 · 4 = 2."""
    second = torch.tensor([8.0], requires_grad=True)
    gradient = torch.tensor([4.0], requires_grad=True)
    update_second_moment(second, gradient, 0.75).backward(torch.tensor([4.0]))
    assert_close((second.grad, gradient.grad), expected=([3.0], [8.0]))


@pytest.mark.parametrize("bad", [nan, inf], ids=["NaN", "infinite"])
def test_gradient_that_is_no_number_is_not_hidden(bad):
    """What is broken has to be seen, and in its own place only: the other number is 3/4 · 8 = 6."""
    moment = update_second_moment(torch.tensor([8.0, 8.0]), torch.tensor([bad, 0.0]), 0.75)
    assert_close(moment, expected=[bad, 6.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The worked example, in half and in double precision."""
    old, new = torch.tensor([8.0], dtype=dtype), torch.tensor([4.0], dtype=dtype)
    assert_close(update_second_moment(old, new, 0.75), expected=[10.0])


def test_float64_is_float64_all_the_way():
    """0.98 · 1 + 0.02 · 0 = 0.98, to the last digit and not only to the seventh."""
    one = torch.ones(1, dtype=torch.float64)
    assert_close(update_second_moment(one, 0 * one), expected=[0.98])


@pytest.mark.parametrize("size", draw.sizes("turns length d_model"), ids=str)
def test_older_squares_count_less_and_less(size):
    """From zero, the square of k turns ago has the share (1 − β) · βᵏ: summed in float64."""
    gradients = draw.floats(size.turns, size.length, size.d_model)
    moment = torch.zeros(size.length, size.d_model)
    for gradient in gradients:
        moment = update_second_moment(moment, gradient, 0.8)
    shares = [0.2 * 0.8**ago for ago in reversed(range(size.turns))]
    squares = gradients.double().square()
    expected = torch.tensordot(torch.tensor(shares, dtype=torch.float64), squares, 1)
    assert_close(moment, expected)
