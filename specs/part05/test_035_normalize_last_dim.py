"""035 · normalize_last_dim. Lesson: 035_normalize_last_dim.md."""

import pytest
import torch
from torch.nn import functional

from kata.part05_sublayers import normalize_last_dim
from specs.harness import draw
from specs.harness.check import assert_close

PRECISIONS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def test_two_numbers_by_hand():
    """7 and 1: mean 4, variance 9. With ε = 7 the root is √16 = 4, and ±3 become ±3/4."""
    assert_close(normalize_last_dim(torch.tensor([[7.0, 1.0]]), eps=7.0), [[0.75, -0.75]])


def test_epsilon_is_a_hundred_thousandth_by_default():
    """±0.0015: variance 2.25e−6, and √1.225e−5 = 0.0035. 15/35 = 3/7."""
    assert_close(normalize_last_dim(torch.tensor([[0.0015, -0.0015]])), expected=[[3 / 7, -3 / 7]])


def test_each_token_has_a_scale_of_its_own():
    """0, 2 and 10, 12 are both one below and one above their mean; −3, 3 and 70, 10 likewise."""
    x = torch.tensor([[[0.0, 2.0], [10.0, 12.0]], [[-3.0, 3.0], [70.0, 10.0]]])
    expected = [[[-1.0, 1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]]
    assert_close(normalize_last_dim(x, eps=0.0), expected)


def test_spread_is_measured_by_the_width():
    """4, 0, 0, 0 has mean 1 and variance 12 / 4 = 3; with ε = 1 the root is 2."""
    answer = normalize_last_dim(torch.tensor([[4.0, 0.0, 0.0, 0.0]]), eps=1.0)
    assert_close(answer, expected=[[1.5, -0.5, -0.5, -0.5]])


@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_constant_row_gives_zeros(dtype):
    """5, 5, 5: nothing deviates, and 0 / √ε = 0, even where ε is too small for float16."""
    x = torch.full((1, 3), 5.0, dtype=dtype)
    assert_close(normalize_last_dim(x, eps=1e-9), expected=[[0.0, 0.0, 0.0]])


def test_one_number_alone_gives_zero():
    """At width 1 every row is constant."""
    assert_close(normalize_last_dim(torch.tensor([[7.0], [-2.0]])), expected=[[0.0], [0.0]])


def test_gradient_by_hand():
    """d / √(d² + 7), where d is half the gap: slope 7 / 16^(3/2) = 7/64, halved for each number."""
    x = torch.tensor([[7.0, 1.0]], requires_grad=True)
    normalize_last_dim(x, eps=7.0)[0, 0].backward()
    assert_close(x.grad, expected=[[7 / 128, -7 / 128]])


def test_gradient_of_a_constant_row_is_finite():
    """μ takes half of each slope: 1/2 and −1/2, over √ε = 1/10. Not 0/0."""
    x = torch.tensor([[5.0, 5.0]], requires_grad=True)
    normalize_last_dim(x, eps=0.01)[0, 0].backward()
    assert_close(x.grad, expected=[[5.0, -5.0]])


@pytest.mark.parametrize(
    ("dtype", "start"), [(torch.float16, 2048.0), (torch.bfloat16, 256.0)], ids=str
)
def test_half_precision_is_rounded_once(dtype, start):
    """n and n + 2: their mean n + 1 does not exist in this type, yet the answer is −1 and 1."""
    x = torch.tensor([[start, start + 2]], dtype=dtype)
    assert_close(normalize_last_dim(x), expected=[[-1.0, 1.0]])


def test_loud_float16_does_not_overflow():
    """±1000: the variance is beyond float16, the answer is ±1."""
    x = torch.tensor([[1000.0, -1000.0]], dtype=torch.float16)
    assert_close(normalize_last_dim(x), expected=[[1.0, -1.0]])


def test_every_digit_of_float64_counts():
    """0.7 and 0.1: mean 0.4, variance 0.09; with ε = 0.07 the root is 0.4."""
    x = torch.tensor([[0.7, 0.1]], dtype=torch.float64)
    assert_close(normalize_last_dim(x, eps=0.07), expected=[[0.75, -0.75]])


@pytest.mark.parametrize("size", draw.sizes("batch length d_model", count=6), ids=str)
def test_agrees_with_torch(size):
    """F.layer_norm without gain and bias, in float64."""
    x = 2 * draw.floats(size.batch, size.length, size.d_model) + 0.5
    expected = functional.layer_norm(x.double(), (size.d_model,))
    assert_close(normalize_last_dim(x), expected)
