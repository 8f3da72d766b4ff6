"""034 · compute_mean_and_variance. Lesson: 034_compute_mean_and_variance.md."""

import pytest
import torch

from kata.part05_sublayers import compute_mean_and_variance
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal


def test_three_numbers_by_hand():
    """0, 0, 6: mean 2; squared deviations 4, 4 and 16, and 24 / 3 = 8."""
    mean, variance = compute_mean_and_variance(torch.tensor([[0.0, 0.0, 6.0]]))
    assert_close(mean, expected=[[2.0]])
    assert_close(variance, expected=[[8.0]])


def test_variance_divides_by_the_width():
    """1, 0, 0, 0: deviations 3/4 and three times −1/4, so 12/16 in all, divided by 4, not by 3."""
    _, variance = compute_mean_and_variance(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    assert_close(variance, expected=[[3 / 16]])


def test_each_token_is_measured_alone():
    """Tokens 0, 2 and 10, 12: means 1 and 11, variance 1 each. Sentence 2 is 5, 5 and −3, 3."""
    x = torch.tensor([[[0.0, 2.0], [10.0, 12.0]], [[5.0, 5.0], [-3.0, 3.0]]])
    mean, variance = compute_mean_and_variance(x)
    assert_close(mean, expected=[[[1.0], [11.0]], [[5.0], [0.0]]])
    assert_close(variance, expected=[[[1.0], [1.0]], [[0.0], [9.0]]])


def test_one_number_has_no_spread():
    """At width 1 the mean is the number itself: variance 0 / 1 = 0, not NaN."""
    mean, variance = compute_mean_and_variance(torch.tensor([[7.0]]))
    assert_close(mean, expected=[[7.0]])
    assert_close(variance, expected=[[0.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_measured_in_float32(dtype):
    """1 and 256: mean 128.5, which bfloat16 rounds to 128; variance 127.5² = 16256.25."""
    mean, variance = compute_mean_and_variance(torch.tensor([[1.0, 256.0]], dtype=dtype))
    assert_equal(mean.dtype, torch.float32)
    assert_equal(variance.dtype, torch.float32)
    assert_close(mean, expected=[[128.5]])
    assert_close(variance, expected=[[16256.25]])


def test_variance_of_float16_does_not_overflow():
    """±1000: variance 1 000 000, where float16 ends at 65504."""
    _, variance = compute_mean_and_variance(torch.tensor([[1000.0, -1000.0]], dtype=torch.float16))
    assert_close(variance, expected=[[1e6]])


def test_every_digit_of_float64_counts():
    """0.1 and 0.3: mean 0.2 and variance 0.01, to the last digits."""
    mean, variance = compute_mean_and_variance(torch.tensor([[0.1, 0.3]], dtype=torch.float64))
    assert_close(mean, expected=[[0.2]])
    assert_close(variance, expected=[[0.01]])


def test_gradient_of_the_mean_by_hand():
    """Each of three numbers moves the mean by a third."""
    x = torch.tensor([[0.0, 0.0, 6.0]], requires_grad=True)
    compute_mean_and_variance(x)[0].sum().backward()
    assert_close(x.grad, expected=[[1 / 3, 1 / 3, 1 / 3]])


def test_gradient_of_the_variance_by_hand():
    """2 (xᵢ − μ) / D: deviations −2, −2 and 4 give −4/3, −4/3 and 8/3."""
    x = torch.tensor([[0.0, 0.0, 6.0]], requires_grad=True)
    compute_mean_and_variance(x)[1].sum().backward()
    assert_close(x.grad, expected=[[-4 / 3, -4 / 3, 8 / 3]])


@pytest.mark.parametrize("size", draw.sizes("batch length d_model", count=6), ids=str)
def test_agrees_with_torch(size):
    """torch.var_mean without Bessel's correction, in float64."""
    x = draw.floats(size.batch, size.length, size.d_model) + 0.5
    mean, variance = compute_mean_and_variance(x)
    wanted_variance, wanted_mean = torch.var_mean(x.double(), dim=-1, correction=0, keepdim=True)
    assert_close(mean, expected=wanted_mean)
    assert_close(variance, expected=wanted_variance)
