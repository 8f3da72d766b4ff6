"""030 · merge_heads_and_project_output. Lesson: 030_merge_heads_and_project_output.md."""

from math import sqrt

import pytest
import torch

from kata.part04_multi_head import merge_heads_and_project_output
from kata.weights import LinearWeights
from specs.harness import draw
from specs.harness.check import assert_close

HEADS = torch.tensor([[[[1.0], [2.0]], [[3.0], [4.0]]]])  # head 0 found 1, 2 and head 1 found 3, 4
WEIGHT = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
BIAS = torch.tensor([10.0, 20.0])


def test_two_heads_by_hand():
    """Token 0 is [1, 3]: 1 + 2·3 + 10 = 17, 3 + 5·3 + 20 = 38. Token 1 is [2, 4]: 20 and 46."""
    output = merge_heads_and_project_output(HEADS, LinearWeights(WEIGHT, BIAS))
    assert_close(output, expected=[[[17.0, 38.0], [20.0, 46.0]]])


def test_without_a_bias_nothing_is_added():
    """The products alone: 7, 18 and 10, 26."""
    output = merge_heads_and_project_output(HEADS, LinearWeights(WEIGHT))
    assert_close(output, expected=[[[7.0, 18.0], [10.0, 26.0]]])


def test_heads_meet_in_the_projection():
    """A weight that swaps the channels hands head 0's number to head 1's place, and back."""
    swap = LinearWeights(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    output = merge_heads_and_project_output(HEADS, swap)
    assert_close(output, expected=[[[3.0, 1.0], [4.0, 2.0]]])


def test_heads_that_found_nothing_leave_the_bias():
    """Zeros project to zero, and the bias comes once, not once per head."""
    output = merge_heads_and_project_output(torch.zeros(2, 2, 3, 1), LinearWeights(WEIGHT, BIAS))
    assert_close(output, expected=BIAS.expand(2, 3, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_answer_keeps_the_dtype(dtype):
    """Whole numbers up to 46 are exact in every dtype."""
    weights = LinearWeights(WEIGHT.to(dtype), BIAS.to(dtype))
    output = merge_heads_and_project_output(HEADS.to(dtype), weights)
    assert_close(output, expected=torch.tensor([[[17.0, 38.0], [20.0, 46.0]]], dtype=dtype))


@pytest.mark.parametrize("size", draw.sizes("batch heads length d_k", count=8), ids=str)
def test_it_is_the_sum_of_what_each_head_gives(size):
    """W^O has a block of columns for each head: their products are added up, then the bias."""
    width = size.heads * size.d_k
    heads = draw.floats(size.batch, size.heads, size.length, size.d_k)
    weight, bias = draw.floats(width, width, seed=1) / sqrt(width), draw.floats(width, seed=2)
    blocks = weight.view(width, size.heads, size.d_k)
    expected = torch.einsum("bhtd,ohd->bto", heads.double(), blocks.double()) + bias.double()
    output = merge_heads_and_project_output(heads, LinearWeights(weight, bias))
    assert_close(output, expected)
