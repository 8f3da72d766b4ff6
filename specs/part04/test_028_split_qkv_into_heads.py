"""028 · split_qkv_into_heads. Lesson: 028_split_qkv_into_heads.md."""

import pytest
import torch

from kata.part04_multi_head import split_qkv_into_heads
from specs.harness import draw
from specs.harness.check import assert_close, rejects

QUERIES = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])  # one token, width 4
KEYS = torch.tensor([[[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]]])  # two tokens
VALUES = -KEYS


def test_queries_are_dealt_to_two_heads():
    """Head 0 takes [1, 2], head 1 takes [3, 4]."""
    queries, _, _ = split_qkv_into_heads(QUERIES, KEYS, VALUES, 2)
    assert_close(queries, expected=[[[[1.0, 2.0]], [[3.0, 4.0]]]])


def test_keys_are_dealt_to_the_same_heads():
    """Head 0 takes the first half of both tokens, head 1 the second half: one sentence per head."""
    _, keys, _ = split_qkv_into_heads(QUERIES, KEYS, VALUES, 2)
    expected = [[[[10.0, 20.0], [50.0, 60.0]], [[30.0, 40.0], [70.0, 80.0]]]]
    assert_close(keys, expected)


def test_values_are_dealt_as_the_keys_are():
    """The values are the keys with a minus sign, before and after."""
    _, _, values = split_qkv_into_heads(QUERIES, KEYS, VALUES, 2)
    expected = [[[[-10.0, -20.0], [-50.0, -60.0]], [[-30.0, -40.0], [-70.0, -80.0]]]]
    assert_close(values, expected)


def test_a_head_per_feature():
    """Four heads of width 1: each collects its feature of both tokens."""
    _, keys, _ = split_qkv_into_heads(QUERIES, KEYS, VALUES, 4)
    heads = [[[10.0], [50.0]], [[20.0], [60.0]], [[30.0], [70.0]], [[40.0], [80.0]]]
    assert_close(keys, expected=[heads])


def test_heads_that_do_not_divide_the_width_are_an_error():
    """7 features cannot be shared by 2 heads: an error, whichever, and nothing is cut off."""
    x = torch.zeros(1, 3, 7)
    with rejects(Exception):
        split_qkv_into_heads(x, x, x, 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_every_number_comes_through_in_its_own_dtype(dtype):
    """Nothing is computed, so even half precision is exact."""
    x = torch.tensor([[[0.1, 0.2], [0.3, 0.4]]], dtype=dtype)
    expected = torch.tensor([[[[0.1], [0.3]], [[0.2], [0.4]]]], dtype=dtype)
    assert_close(split_qkv_into_heads(x, x, x, 2), (expected,) * 3, rtol=0, atol=0)


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_k", count=10), ids=str)
def test_head_h_of_all_three_is_their_slice_number_h(size):
    """The width cut into runs of d_k features, the runs stacked on a new axis 1, for any sizes."""
    width = size.heads * size.d_k
    queries = draw.floats(size.batch, size.queries, width)
    keys = draw.floats(size.batch, size.keys, width, seed=1)
    values = draw.floats(size.batch, size.keys, width, seed=2)
    split = split_qkv_into_heads(queries, keys, values, size.heads)
    runs = [x.chunk(size.heads, dim=-1) for x in (queries, keys, values)]
    assert_close(split, tuple(torch.stack(run, dim=1) for run in runs))
