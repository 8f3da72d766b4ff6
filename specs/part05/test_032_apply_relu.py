"""032 · apply_relu. Lesson: 032_apply_relu.md."""

from math import inf, nan

import pytest
import torch
from torch.nn import functional

from kata.part05_sublayers import apply_relu
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("relu",)


def test_only_what_is_above_zero_gets_through():
    """max(0, x): 3 stays 3, and −1 and −20 become 0. At 0 both sides say 0."""
    answer = apply_relu(torch.tensor([3.0, 0.0, -1.0, -20.0]))
    assert_close(answer, expected=[3.0, 0.0, 0.0, 0.0])


def test_every_number_is_its_own_gate():
    """No number looks at its neighbours, in its row or in its column."""
    answer = apply_relu(torch.tensor([[1.0, -2.0], [-3.0, 4.0]]))
    assert_close(answer, expected=[[1.0, 0.0], [0.0, 4.0]])


def test_above_zero_there_is_no_ceiling():
    """A half, 7 and 1000 come through whole."""
    assert_close(apply_relu(torch.tensor([0.5, 7.0, 1000.0])), expected=[0.5, 7.0, 1000.0])


def test_minus_infinity_gives_zero():
    """−∞ is below zero like any other: 0, not NaN. +∞ is above."""
    assert_close(apply_relu(torch.tensor([-inf, inf])), expected=[0.0, inf])


def test_nan_stays_nan():
    """A NaN is a mistake somewhere before: making a 0 of it would hide that."""
    # The slope at NaN is free: it comes fourth, for three calls of a test are asked for theirs.
    answers = [apply_relu(torch.tensor([number])) for number in (2.0, 0.0, -2.0, nan)]
    assert_close(torch.cat(answers), expected=[2.0, 0.0, 0.0, nan])


def test_gradient_passes_where_the_number_passed():
    """Gradients 5, 7, 9 arrive at 2, −3 and 10⁻³⁰: slope 1 lets 5 and 9 through, 0 stops the 7."""
    x = torch.tensor([2.0, -3.0, 1e-30], requires_grad=True)
    apply_relu(x).backward(torch.tensor([5.0, 7.0, 9.0]))
    assert_close(x.grad, expected=[5.0, 0.0, 9.0])


def test_slope_at_zero_is_zero():
    """The kink has no slope of its own. By agreement it is 0: not 1, and not 1/2."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    apply_relu(x).sum().backward()
    assert_close(x.grad, expected=[0.0, 1.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """1.5 and −1.5 are exact in every type, and the type stays."""
    assert_close(apply_relu(torch.tensor([1.5, -1.5], dtype=dtype)), expected=[1.5, 0.0])


def test_float64_stays_float64_all_the_way():
    """1e300 is infinite in float32; here it comes through whole."""
    x = torch.tensor([1e300, -1e300], dtype=torch.float64)
    assert_close(apply_relu(x), expected=[1e300, 0.0])


@pytest.mark.parametrize("size", draw.sizes("batch length d_ff"), ids=str)
def test_agrees_with_torch(size):
    """F.relu is the judge, which the learner may not call."""
    x = draw.floats(size.batch, size.length, size.d_ff)
    assert_close(apply_relu(x), expected=functional.relu(x))
