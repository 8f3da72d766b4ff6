"""067 · correct_moment_bias. Lesson: 067_correct_moment_bias.md."""

import pytest
import torch

from kata.part09_adam import correct_moment_bias
from specs.harness import draw
from specs.harness.check import assert_close, rejects


def test_first_update_by_hand():
    """With β = 3/4 the gradient 8 has left a moment of 2: 2 / (1 − 3/4) = 8 again."""
    assert_close(correct_moment_bias(torch.tensor([2.0]), 0.75, 1), expected=[8.0])


def test_second_update_by_hand():
    """β² = 1/4 is missing: 3 / (1 − 1/4) = 4."""
    assert_close(correct_moment_bias(torch.tensor([3.0]), 0.5, 2), expected=[4.0])


@pytest.mark.parametrize(
    ("step", "moment"), [(1, 8.0), (2, 12.0), (3, 14.0), (4, 15.0)], ids=["1", "2", "3", "4"]
)
def test_steady_gradient_is_found_again_at_every_step(step, moment):
    """Gradients of 16 and β = 1/2 leave 8, 12, 14, 15: each is corrected to 16."""
    assert_close(correct_moment_bias(torch.tensor([moment]), 0.5, step), expected=[16.0])


def test_late_moments_need_no_correction():
    """0.5¹⁰⁰ is nothing: 7 stays 7."""
    assert_close(correct_moment_bias(torch.tensor([7.0]), 0.5, 100), expected=[7.0])


def test_beta_of_zero_was_never_cold():
    """0¹ = 0: nothing is missing, 7 stays 7."""
    assert_close(correct_moment_bias(torch.tensor([7.0]), 0.0, 1), expected=[7.0])


def test_every_number_is_corrected_alike():
    """All of them are divided by 1/4, whatever their sign."""
    moment = torch.tensor([[1.0, -2.0], [0.0, 0.5]])
    assert_close(correct_moment_bias(moment, 0.75, 1), expected=[[4.0, -8.0], [0.0, 2.0]])


def test_gradient_is_corrected_too():
    """d m̂ / d m = 1 / (1 − 3/4) = 4."""
    moment = torch.tensor([2.0], requires_grad=True)
    correct_moment_bias(moment, 0.75, 1).backward(torch.tensor([3.0]))
    assert_close(moment.grad, expected=[12.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """1 / (1 − 0.999) = 1000 in every type, though bfloat16 has nothing between 0.996 and 1."""
    moment = torch.ones(1, dtype=dtype)
    assert_close(correct_moment_bias(moment, 0.999, 1), expected=[1000.0])


@pytest.mark.parametrize("beta", [0.9, 0.98], ids=str)
@pytest.mark.parametrize("size", draw.sizes("step length d_model"), ids=str)
def test_shares_add_up_to_one(size, beta):
    """1 − βᵗ is the sum of the shares (1 − β) · βᵏ that t gradients have: added up one by one."""
    moment = draw.floats(size.length, size.d_model)
    shares = sum((1 - beta) * beta**ago for ago in range(size.step))
    assert_close(correct_moment_bias(moment, beta, size.step), moment.double() / shares)


@pytest.mark.parametrize(("beta", "step"), [(0.98, 101), (0.999, 2000)], ids=str)
def test_long_memory_is_cold_for_long(beta, step):
    """0.98¹⁰¹ and 0.999²⁰⁰⁰ are still 0.13 and 0.14: the shares are added up one by one."""
    shares = sum((1 - beta) * beta**ago for ago in range(step))
    assert_close(correct_moment_bias(torch.ones(1), beta, step), expected=[1 / shares])


@pytest.mark.parametrize("step", [0, -3], ids=str)
def test_step_before_the_first_is_an_error(step):
    """No gradient was seen: there is nothing to make a whole of."""
    with rejects(ValueError, naming=step):
        correct_moment_bias(torch.tensor([2.0]), 0.75, step)
