"""023 · split_last_dim_into_heads. Lesson: 023_split_last_dim_into_heads.md."""

import pytest
import torch

from kata.part04_multi_head import split_last_dim_into_heads
from specs.harness import draw
from specs.harness.check import assert_close, rejects


def test_six_features_for_two_heads_by_hand():
    """6 features for 2 heads are 3 each: the first three to head 0, the last three to head 1."""
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]])
    assert_close(split_last_dim_into_heads(x, 2), expected=[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])


def test_every_token_is_cut_by_itself():
    """Three tokens [t, 10 + t]: each gives its own first number to head 0, its second to head 1."""
    x = torch.tensor([[[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]]])
    split = split_last_dim_into_heads(x, 2)
    assert_close(split, expected=[[[[0.0], [10.0]], [[1.0], [11.0]], [[2.0], [12.0]]]])


@pytest.mark.parametrize(
    ("num_heads", "heads"),
    [(1, [[1.0, 2.0, 3.0, 4.0]]), (4, [[1.0], [2.0], [3.0], [4.0]])],
    ids=["one head", "as many heads as features"],
)
def test_heads_may_be_as_wide_or_as_narrow_as_they_can(num_heads, heads):
    """Width 4: one head takes all four features, four heads take one each."""
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    assert_close(split_last_dim_into_heads(x, num_heads), expected=[[heads]])


@pytest.mark.parametrize(("d_model", "num_heads"), [(7, 2), (10, 4), (13, 26)])
def test_heads_that_do_not_divide_the_width_are_an_error(d_model, num_heads):
    """7 features cannot be shared by 2 heads: ValueError, and nothing is cut off."""
    with rejects(ValueError, naming=d_model):
        split_last_dim_into_heads(torch.zeros(1, 3, d_model), num_heads)


def test_a_transposed_input_is_split_as_it_reads():
    """Tokens first, then transposed: sentence 0 reads [1, 2], [5, 6], wherever that is stored."""
    tokens_first = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
    split = split_last_dim_into_heads(tokens_first.transpose(0, 1), 2)
    expected = [[[[1.0], [2.0]], [[5.0], [6.0]]], [[[3.0], [4.0]], [[7.0], [8.0]]]]
    assert_close(split, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_every_number_comes_through_in_its_own_dtype(dtype):
    """Nothing is computed, so even half precision is exact."""
    x = torch.tensor([[[0.1, 0.2, 0.3, 0.4]]], dtype=dtype)
    split = split_last_dim_into_heads(x, 2)
    assert_close(split, expected=x.view(1, 1, 2, 2), rtol=0, atol=0)


@pytest.mark.parametrize("size", draw.sizes("batch length heads d_k", count=8), ids=str)
def test_heads_are_runs_of_neighbouring_features(size):
    """Head h is the slice from h · d_k to (h + 1) · d_k, for any sizes."""
    x = draw.floats(size.batch, size.length, size.heads * size.d_k)
    slices = [x[..., h * size.d_k : (h + 1) * size.d_k] for h in range(size.heads)]
    assert_close(split_last_dim_into_heads(x, size.heads), expected=torch.stack(slices, dim=2))
