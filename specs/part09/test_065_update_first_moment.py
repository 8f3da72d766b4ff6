"""065 · update_first_moment. Lesson: 065_update_first_moment.md."""

from math import inf, nan

import pytest
import torch

from kata.part09_adam import update_first_moment
from specs.harness import draw
from specs.harness.check import assert_close


def test_three_quarters_old_one_quarter_new():
    """3/4 · 8 + 1/4 · 16 = 6 + 4 = 10."""
    moment = update_first_moment(torch.tensor([8.0]), torch.tensor([16.0]), 0.75)
    assert_close(moment, expected=[10.0])


def test_nine_tenths_are_kept_by_default():
    """0.9 · 10 + 0.1 · 20 = 11."""
    assert_close(update_first_moment(torch.tensor([10.0]), torch.tensor([20.0])), expected=[11.0])


def test_first_gradient_of_all_is_heard_as_a_tenth():
    """0.9 · 0 + 0.1 · 20 = 2: far too small, and step 067 puts it right."""
    assert_close(update_first_moment(torch.tensor([0.0]), torch.tensor([20.0])), expected=[2.0])


def test_gradient_that_agrees_changes_nothing():
    """An average of 7 and 7 is 7."""
    moment = update_first_moment(torch.tensor([7.0]), torch.tensor([7.0]), 0.75)
    assert_close(moment, expected=[7.0])


def test_gradient_that_disagrees_cancels_out():
    """1/2 · 6 + 1/2 · (−6) = 0: uphill once and downhill once is nowhere."""
    moment = update_first_moment(torch.tensor([6.0]), torch.tensor([-6.0]), 0.5)
    assert_close(moment, expected=[0.0])


def test_zero_gradient_lets_the_moment_fade():
    """3/4 · 8 + 1/4 · 0 = 6: no news is not the same as no step."""
    moment = update_first_moment(torch.tensor([8.0]), torch.tensor([0.0]), 0.75)
    assert_close(moment, expected=[6.0])


def test_beta_of_zero_forgets_everything():
    """0 · 8 + 1 · 16 = 16: plain gradient descent."""
    moment = update_first_moment(torch.tensor([8.0]), torch.tensor([16.0]), 0.0)
    assert_close(moment, expected=[16.0])


def test_every_number_has_its_own_memory():
    """Each place of the matrix meets its own gradient: 3/4 · 4 + 1/4 · (0, 4, −4, −12)."""
    gradient = torch.tensor([[0.0, 4.0], [-4.0, -12.0]])
    moment = update_first_moment(torch.full((2, 2), 4.0), gradient, 0.75)
    assert_close(moment, expected=[[3.0, 4.0], [2.0, 0.0]])


def test_gradients_reach_both():
    """d m / d (old moment) = 3/4, d m / d (gradient) = 1/4."""
    first, gradient = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    update_first_moment(first, gradient, 0.75).backward(torch.tensor([8.0]))
    assert_close((first.grad, gradient.grad), expected=([6.0], [2.0]))


@pytest.mark.parametrize("bad", [nan, inf], ids=["NaN", "infinite"])
def test_gradient_that_is_no_number_is_not_hidden(bad):
    """What is broken has to be seen, and in its own place only: the other number is 3/4 · 8 = 6."""
    moment = update_first_moment(torch.tensor([8.0, 8.0]), torch.tensor([bad, 0.0]), 0.75)
    assert_close(moment, expected=[bad, 6.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The worked example, in half and in double precision."""
    old, new = torch.tensor([8.0], dtype=dtype), torch.tensor([16.0], dtype=dtype)
    assert_close(update_first_moment(old, new, 0.75), expected=[10.0])


def test_float64_is_float64_all_the_way():
    """0.9 · 1 + 0.1 · 0 = 0.9, to the last digit and not only to the seventh."""
    one = torch.ones(1, dtype=torch.float64)
    assert_close(update_first_moment(one, 0 * one), expected=[0.9])


@pytest.mark.parametrize("size", draw.sizes("turns length d_model"), ids=str)
def test_older_gradients_count_less_and_less(size):
    """From zero, the gradient of k turns ago has the share (1 − β) · βᵏ: summed in float64."""
    gradients = draw.floats(size.turns, size.length, size.d_model)
    moment = torch.zeros(size.length, size.d_model)
    for gradient in gradients:
        moment = update_first_moment(moment, gradient, 0.8)
    shares = [0.2 * 0.8**ago for ago in reversed(range(size.turns))]
    expected = torch.tensordot(torch.tensor(shares, dtype=torch.float64), gradients.double(), 1)
    assert_close(moment, expected)
