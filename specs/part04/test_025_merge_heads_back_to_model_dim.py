"""025 · merge_heads_back_to_model_dim. Lesson: 025_merge_heads_back_to_model_dim.md."""

import pytest
import torch

from kata.part04_multi_head import merge_heads_back_to_model_dim
from specs.harness import draw
from specs.harness.check import assert_close


def test_two_heads_by_hand():
    """Head 0 holds 0 and 2, head 1 holds 1 and 3: token 0 gets [0, 1] back, token 1 [2, 3]."""
    heads = torch.tensor([[[[0.0], [2.0]], [[1.0], [3.0]]]])
    assert_close(merge_heads_back_to_model_dim(heads), expected=[[[0.0, 1.0], [2.0, 3.0]]])


def test_heads_lie_side_by_side():
    """One token: head 0's [1, 2, 3], then head 1's [4, 5, 6], whole and in order."""
    heads = torch.tensor([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]])
    assert_close(merge_heads_back_to_model_dim(heads), expected=[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]])


def test_sentences_stay_in_their_rows():
    """Two sentences of one token and two heads: nothing crosses from one to the other."""
    heads = torch.tensor([[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]])
    assert_close(merge_heads_back_to_model_dim(heads), expected=[[[1.0, 2.0]], [[3.0, 4.0]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_every_number_comes_through_in_its_own_dtype(dtype):
    """Nothing is computed, so even half precision is exact."""
    heads = torch.tensor([[[[0.1], [0.3]], [[0.2], [0.4]]]], dtype=dtype)
    expected = torch.tensor([[[0.1, 0.2], [0.3, 0.4]]], dtype=dtype)
    assert_close(merge_heads_back_to_model_dim(heads), expected, rtol=0, atol=0)


@pytest.mark.parametrize("size", draw.sizes("batch length heads d_k", count=8), ids=str)
def test_splitting_and_merging_gives_the_input_back(size):
    """Steps 023 and 024 undone, bit for bit; the heads come in as the view those steps leave."""
    x = draw.floats(size.batch, size.length, size.heads * size.d_k)
    heads = x.view(size.batch, size.length, size.heads, size.d_k).transpose(1, 2)
    assert_close(merge_heads_back_to_model_dim(heads), expected=x, rtol=0, atol=0)


@pytest.mark.parametrize("size", draw.sizes("batch length heads d_k", count=8), ids=str)
def test_it_is_the_concat_of_the_paper(size):
    """Concat(head_1, …, head_h), for heads that lie in memory as a matrix product leaves them."""
    heads = draw.floats(size.batch, size.heads, size.length, size.d_k)
    assert_close(merge_heads_back_to_model_dim(heads), expected=torch.cat(heads.unbind(1), dim=-1))
