"""092 · grouped_query_attention. Lesson: 092_grouped_query_attention.md."""

from math import log

import pytest
import torch
from torch.nn import functional

from kata.part13_decoder_only import grouped_query_attention
from specs.harness import draw
from specs.harness.check import assert_close, rejects

A = 2 * log(3)  # d_k = 4 halves a score, so A · 1 becomes ln 3
# Four query heads: 0 and 2 ask for feature 0, 1 and 3 for feature 1. Two heads of two keys each.
QUERIES = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]] * 2])
KEYS = torch.tensor([[[[A, 0.0, 0.0, 0.0], [0.0, A, 0.0, 0.0]], [[A, A, 0.0, 0.0], [0.0] * 4]]])
VALUES = torch.tensor([[[[4.0], [0.0]], [[0.0], [8.0]]]])


def test_two_groups_of_two_by_hand():
    """Group 0 sees 4 and 0, by 3/4 and by 1/4: 3 and 1. Group 1 sees 0 and 8, 3/4 to 1/4: 2, 2."""
    heads, _ = grouped_query_attention(QUERIES, KEYS, VALUES)
    assert_close(heads, expected=[[[[3.0]], [[1.0]], [[2.0]], [[2.0]]]])


def test_every_query_head_has_weights_of_its_own():
    """Four rows for two heads of keys: heads 0 and 1 share keys, and look at different ones."""
    _, weights = grouped_query_attention(QUERIES, KEYS, VALUES)
    left, right = [[0.75, 0.25]], [[0.25, 0.75]]
    assert_close(weights, expected=[[left, right, left, left]])


def test_one_head_of_keys_serves_all():
    """Multi-query attention: all four look at the first head's keys."""
    heads, _ = grouped_query_attention(QUERIES, KEYS[:, :1], VALUES[:, :1])
    assert_close(heads, expected=[[[[3.0]], [[1.0]], [[3.0]], [[1.0]]]])


def test_as_many_keys_as_queries_are_plain_heads():
    """Two heads and two heads: each its own, as in step 029."""
    heads, _ = grouped_query_attention(QUERIES[:, 1:3], KEYS, VALUES)
    assert_close(heads, expected=[[[[1.0]], [[2.0]]]])


def test_mask_for_queries_and_keys_holds_for_all():
    """Only the second key: 0 for group 0 and 8 for group 1."""
    heads, _ = grouped_query_attention(QUERIES, KEYS, VALUES, torch.tensor([[False, True]]))
    assert_close(heads, expected=[[[[0.0]], [[0.0]], [[8.0]], [[8.0]]]])


def test_mask_may_speak_to_each_query_head():
    """Heads 0 and 3 may see the first key alone, heads 1 and 2 the second: 4, 0, 8, 0."""
    first, second = [[True, False]], [[False, True]]
    mask = torch.tensor([[first, second, second, first]])
    heads, _ = grouped_query_attention(QUERIES, KEYS, VALUES, mask)
    assert_close(heads, expected=[[[[4.0]], [[0.0]], [[8.0]], [[0.0]]]])


def test_query_that_sees_nothing_gets_zeros():
    """No key is left in any head: zeros, not NaN."""
    answer = grouped_query_attention(QUERIES, KEYS, VALUES, torch.tensor([[False, False]]))
    assert_close(answer, expected=(torch.zeros(1, 4, 1, 1), torch.zeros(1, 4, 1, 2)))


def test_keys_learn_from_their_whole_group():
    """Of each key, what its two heads give it: 3/4 + 1/4 in group 0; 3/4 + 3/4 in group 1."""
    values = VALUES.clone().requires_grad_()
    grouped_query_attention(QUERIES, KEYS, values)[0].sum().backward()
    assert_close(values.grad, expected=[[[[1.0], [1.0]], [[1.5], [0.5]]]])


@pytest.mark.parametrize(("heads", "kv_heads"), [(6, 4), (2, 4), (3, 2), (5, 4)])
def test_heads_that_cannot_be_shared_evenly_are_an_error(heads, kv_heads):
    """Six query heads for four heads of keys: some would be left over."""
    x = torch.zeros(1, heads, 1, 4), torch.zeros(1, kv_heads, 2, 4)
    with rejects(ValueError, naming=(heads, kv_heads)):
        grouped_query_attention(*x, x[1])


@pytest.mark.parametrize(
    "shape", [(1, 17), (1, 13, 17), (4, 13, 17), (1, 2, 13, 17), (2, 1, 1, 17)], ids=str
)
def test_mask_of_another_shape_is_an_error(shape):
    """One sentence, four heads, 13 queries, 17 keys; a mask for the two heads of keys is none."""
    queries, keys = torch.zeros(1, 4, 13, 4), torch.zeros(1, 2, 17, 4)
    with rejects(ValueError, naming=(13, 17, *shape)):
        grouped_query_attention(queries, keys, keys, torch.ones(shape, dtype=torch.bool))


def test_mask_of_numbers_is_an_error():
    """Is 0 hidden, or is 0 "add nothing"? The message asks for bool."""
    with rejects(TypeError, naming="bool"):
        grouped_query_attention(QUERIES, KEYS, VALUES, torch.tensor([[0, 1]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_answers_keep_the_dtype(dtype):
    """Equal scores over two keys: the mean of 1 and 2, exact in every dtype."""
    queries, keys = torch.zeros(1, 4, 3, 2, dtype=dtype), torch.zeros(1, 2, 2, 2, dtype=dtype)
    values = torch.tensor([[1.0], [2.0]], dtype=dtype).expand(1, 2, 2, 1)
    heads, _ = grouped_query_attention(queries, keys, values)
    assert_close(heads, expected=torch.full((1, 4, 3, 1), 1.5))


MASKS = ["", "queries keys", "batch 1 1 keys", "batch 1 queries keys", "batch heads queries keys"]


@pytest.mark.parametrize("axes", MASKS, ids=lambda axes: axes or "no mask")
@pytest.mark.parametrize(
    "size", draw.sizes("batch kv_heads repeats queries keys d_k d_v", count=3), ids=str
)
def test_agrees_with_torch(size, axes):
    """The built-in with enable_gqa, in float64; its mix of an identity matrix is the weights."""
    sizes = vars(size) | {"heads": size.kv_heads * size.repeats}
    queries = draw.floats(size.batch, sizes["heads"], size.queries, size.d_k)
    keys = draw.floats(size.batch, size.kv_heads, size.keys, size.d_k, seed=1)
    values = draw.floats(size.batch, size.kv_heads, size.keys, size.d_v, seed=2)
    shape = [sizes.get(axis, 1) for axis in axes.split()]
    mask = draw.visible(*shape, seed=3) if shape else None
    one_key_each = torch.eye(size.keys).double().expand(*keys.shape[:2], -1, -1)
    expected = tuple(
        functional.scaled_dot_product_attention(
            queries.double(), keys.double(), mixed, mask, enable_gqa=True
        )
        for mixed in (values.double(), one_key_each)
    )
    assert_close(grouped_query_attention(queries, keys, values, mask), expected)
