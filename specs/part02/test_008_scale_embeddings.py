"""008 · scale_embeddings. Lesson: 008_scale_embeddings.md."""

import pytest
import torch

from kata.part02_embeddings import scale_embeddings
from specs.harness import draw
from specs.harness.check import assert_close


def test_width_nine_is_tripled():
    """√9 = 3."""
    row = [1.0, -2.0, 0.5, 0.0, 4.0, -1.0, 10.0, 3.0, -0.25]
    output = scale_embeddings(torch.tensor([[row]]))
    assert_close(output, expected=[[[3.0, -6.0, 1.5, 0.0, 12.0, -3.0, 30.0, 9.0, -0.75]]])


def test_only_the_last_dimension_counts():
    """9 sentences of 25 tokens of width 16: times 4, neither 3 nor 5."""
    output = scale_embeddings(torch.ones(9, 25, 16))
    assert_close(output, expected=torch.full((9, 25, 16), 4.0))


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (1, 5, 3, 4)], ids=str)
def test_any_number_of_dimensions_before_the_width(shape):
    """Width 4 doubles, whatever stands before it."""
    embeddings = draw.floats(*shape)
    assert_close(scale_embeddings(embeddings), expected=embeddings + embeddings)


def test_width_one_stays():
    """√1 = 1."""
    assert_close(scale_embeddings(torch.tensor([[[7.0], [-3.0]]])), expected=[[[7.0], [-3.0]]])


def test_width_need_not_be_a_square():
    """√2 = 1.4142135623730951: the root is not cut to a whole number."""
    output = scale_embeddings(torch.tensor([[[1.0, -10.0]]], dtype=torch.float64))
    # a root held in a float32 tensor is fair, and 2e-8 off
    assert_close(output, expected=[[[1.4142135623730951, -14.142135623730951]]], rtol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_type_stays(dtype):
    """√9 = 3 in every type, and the answer keeps the type of what came in."""
    output = scale_embeddings(torch.ones(2, 9, dtype=dtype))
    assert_close(output, expected=torch.full((2, 9), 3.0))


def test_float64_is_float64_all_the_way():
    """√4 = 2; float32 ends at 3.4 · 10³⁸, and would make 10³⁰⁰ infinite."""
    output = scale_embeddings(torch.full((1, 2, 4), 1e300, dtype=torch.float64))
    assert_close(output, expected=torch.full((1, 2, 4), 2e300, dtype=torch.float64))


@pytest.mark.parametrize("size", draw.sizes("batch length d_model"), ids=str)
def test_every_number_grows_by_the_root_of_the_width(size):
    """Two scalings make a multiplication by D, signs kept."""
    embeddings = draw.floats(size.batch, size.length, size.d_model)
    twice = scale_embeddings(scale_embeddings(embeddings))
    assert_close(twice, expected=embeddings * size.d_model)
