"""026 · apply_linear_projection. Lesson: 026_apply_linear_projection.md."""

import pytest
import torch
from torch.nn import functional

from kata.part04_multi_head import apply_linear_projection
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("linear",)

VECTOR = torch.tensor([1.0, 2.0])
WEIGHT = torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])  # d_out = 3, d_in = 2
BIAS = torch.tensor([10.0, 20.0, 30.0])


def test_three_questions_by_hand():
    """1·3 + 2·4 = 11, 1·5 + 2·6 = 17, 1·7 + 2·8 = 23; with the bias 21, 37, 53."""
    assert_close(apply_linear_projection(VECTOR, WEIGHT, BIAS), expected=[21.0, 37.0, 53.0])


@pytest.mark.parametrize(
    "no_bias", [(), (None,), (torch.zeros(3),)], ids=["left out", "None", "zeros"]
)
def test_without_a_bias_nothing_is_added(no_bias):
    """The dot products alone: 11, 17, 23."""
    assert_close(apply_linear_projection(VECTOR, WEIGHT, *no_bias), expected=[11.0, 17.0, 23.0])


def test_rows_of_the_weight_are_the_questions():
    """x = [1, 0] reads the first column of a square weight, [1, 3], not its first row [1, 2]."""
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert_close(apply_linear_projection(torch.tensor([1.0, 0.0]), weight), expected=[1.0, 3.0])


def test_bias_comes_after_a_square_weight_too():
    """[1, 3] as above, plus [10, 20]: 11 and 23."""
    weight, bias = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([10.0, 20.0])
    answer = apply_linear_projection(torch.tensor([1.0, 0.0]), weight, bias)
    assert_close(answer, expected=[11.0, 23.0])


def test_any_feature_can_reach_any_output():
    """The weight [[0, 1], [1, 0]] swaps the channels: [1, 2] becomes [2, 1]."""
    swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert_close(apply_linear_projection(VECTOR, swap), expected=[2.0, 1.0])


@pytest.mark.parametrize("leading", [(), (1,), (4,), (2, 5), (3, 1, 2, 5)], ids=str)
def test_every_vector_is_projected_alone(leading):
    """Ones everywhere: each vector gives 3+4+10, 5+6+20, 7+8+30, however many axes stand before."""
    answer = apply_linear_projection(torch.ones(*leading, 2), WEIGHT, BIAS)
    assert_close(answer, expected=torch.tensor([17.0, 31.0, 45.0]).expand(*leading, 3))


@pytest.mark.parametrize(
    ("width", "weight_shape"),
    [(13, (3, 4)), (13, (13, 4)), (17, (4, 1)), (1, (4, 17))],
    ids=["too wide", "weight turned round", "weight of width 1", "vector of width 1"],
)
def test_widths_that_do_not_fit_are_an_error(width, weight_shape):
    """The weight is (d_out, d_in): its second size must be the width of x, nothing is broadcast."""
    with rejects(ValueError, naming=width):
        apply_linear_projection(torch.ones(2, 3, width), torch.ones(weight_shape))


@pytest.mark.parametrize("shape", [(1,), (4,), (2,), (1, 3), (5, 3), (3, 1), ()], ids=str)
def test_a_bias_of_another_shape_is_an_error(shape):
    """For d_out = 3 only a bias of shape (3,) will do, even where torch would broadcast."""
    with rejects(ValueError, naming=shape):
        apply_linear_projection(torch.ones(5, 2), WEIGHT, torch.ones(shape))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_answer_keeps_the_dtype(dtype):
    """Whole numbers up to 53 are exact in every dtype."""
    answer = apply_linear_projection(VECTOR.to(dtype), WEIGHT.to(dtype), BIAS.to(dtype))
    assert_close(answer, expected=torch.tensor([21.0, 37.0, 53.0], dtype=dtype))


@pytest.mark.parametrize("size", draw.sizes("batch length d_in d_out", count=8), ids=str)
def test_it_agrees_with_torch(size):
    """F.linear is the judge, which the learner may not call."""
    x = draw.floats(size.batch, size.length, size.d_in)
    weight, bias = draw.floats(size.d_out, size.d_in, seed=1), draw.floats(size.d_out, seed=2)
    assert_close(
        apply_linear_projection(x, weight, bias), expected=functional.linear(x, weight, bias)
    )
