"""029 · multi_head_scaled_dot_product_attention.

Lesson: 029_multi_head_scaled_dot_product_attention.md.
"""

from math import log

import pytest
import torch
from torch.nn import functional

from kata.part04_multi_head import multi_head_scaled_dot_product_attention
from specs.harness import draw
from specs.harness.check import assert_close, rejects

A = 2 * log(3)  # d_k = 4 halves a score, so A · 1 becomes ln 3
QUERIES = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]]])  # two heads, one query
KEYS = torch.tensor([[[[A, 0.0, 0.0, 0.0], [0.0] * 4], [[0.0] * 4, [0.0, A, 0.0, 0.0]]]])
VALUES = torch.tensor([[[[4.0, 0.0], [0.0, 8.0]], [[4.0, 4.0], [8.0, 0.0]]]])


def test_two_heads_by_hand():
    """Head 0 scores ln 3, 0: 3/4 · (4, 0) + 1/4 · (0, 8) = (3, 2); head 1 the other way: (7, 1)."""
    heads, _ = multi_head_scaled_dot_product_attention(QUERIES, KEYS, VALUES)
    assert_close(heads, expected=[[[[3.0, 2.0]], [[7.0, 1.0]]]])


def test_every_head_has_weights_of_its_own():
    """3/4 and 1/4 in head 0, 1/4 and 3/4 in head 1: each head's row adds up to 1."""
    _, weights = multi_head_scaled_dot_product_attention(QUERIES, KEYS, VALUES)
    assert_close(weights, expected=[[[[0.75, 0.25]], [[0.25, 0.75]]]])


def test_heads_never_mix():
    """Whatever head 1 sees, head 0 keeps (3, 2)."""
    other = torch.tensor([[[[0.0]], [[100.0]]]])  # a shift of head 1 alone
    shifted = QUERIES + other, KEYS + other, VALUES + other
    heads, _ = multi_head_scaled_dot_product_attention(*shifted)
    assert_close(heads[:, 0], expected=[[[3.0, 2.0]]])


def test_a_mask_for_queries_and_keys_holds_for_all_sentences_and_heads():
    """Equal scores and a staircase: query 0 sees one key, query 1 two, query 2 three."""
    x = torch.zeros(3, 2, 3, 4)  # three sentences of three tokens: still (queries, keys)
    causal = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    _, weights = multi_head_scaled_dot_product_attention(x, x, x, causal)
    stairs = torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert_close(weights, expected=stairs.expand(3, 2, 3, 3))


def test_a_padding_mask_hides_keys_of_its_own_sentence():
    """Sentence 0 ends on padding: halves and a zero. Sentence 1 is full: thirds. In both heads."""
    queries, keys = torch.zeros(2, 2, 1, 4), torch.zeros(2, 2, 3, 4)
    padding = torch.tensor([[True, True, False], [True, True, True]])[:, None, None, :]
    _, weights = multi_head_scaled_dot_product_attention(queries, keys, keys, padding)
    shares = torch.tensor([[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert_close(weights, expected=shares[:, None, None, :].expand(2, 2, 1, 3))


def test_a_mask_may_speak_to_each_head():
    """Head 0 may see only the first key and gets (4, 0), head 1 only the second: (8, 0)."""
    per_head = torch.tensor([[[[True, False]], [[False, True]]]])
    heads, _ = multi_head_scaled_dot_product_attention(QUERIES, KEYS, VALUES, per_head)
    assert_close(heads, expected=[[[[4.0, 0.0]], [[8.0, 0.0]]]])


def test_a_query_that_sees_nothing_gets_zeros():
    """No key is left, so there is nothing to mix and no weight to give: zeros, not NaN."""
    nothing = torch.tensor([[False, False]])
    answer = multi_head_scaled_dot_product_attention(QUERIES, KEYS, VALUES, nothing)
    assert_close(answer, (torch.zeros(1, 2, 1, 2), torch.zeros(1, 2, 1, 2)))


@pytest.mark.parametrize(
    "shape",
    [
        *[(), (17,), (1, 17), (13, 1), (2, 17), (1, 13, 17), (2, 13, 17), (1, 1, 1, 13, 17)],
        *[(2, 2, 17, 13), (3, 1, 1, 17), (1, 3, 1, 17), (1, 1, 12, 17), (1, 1, 13, 16)],
    ],
    ids=str,
)
def test_a_mask_of_another_shape_is_an_error(shape):
    """Two sentences and heads, 13 queries, 17 keys: the message says that (13, 17) is wanted."""
    queries, keys = torch.zeros(2, 2, 13, 4), torch.zeros(2, 2, 17, 4)
    with rejects(ValueError, naming=(13, 17, *shape)):
        multi_head_scaled_dot_product_attention(
            queries, keys, keys, torch.ones(shape, dtype=torch.bool)
        )


def test_a_mask_never_adds_sentences():
    """A mask for two sentences is not spread over the one there is: ValueError, not two answers."""
    with rejects(ValueError, naming=2):
        multi_head_scaled_dot_product_attention(
            QUERIES, KEYS, VALUES, torch.ones(2, 1, 1, 2, dtype=torch.bool)
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8], ids=str)
def test_a_mask_that_is_not_bool_is_an_error(dtype):
    """A mask of numbers could mean anything: TypeError, which names the dtype."""
    with rejects(TypeError, naming=dtype):
        multi_head_scaled_dot_product_attention(
            QUERIES, KEYS, VALUES, torch.ones(1, 2, dtype=dtype)
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_answers_keep_the_dtype(dtype):
    """Equal scores over two keys: the mean of two values, exact in every dtype."""
    x, values = torch.zeros(1, 2, 2, 3, dtype=dtype), torch.tensor([[1.0], [2.0]], dtype=dtype)
    heads, _ = multi_head_scaled_dot_product_attention(x, x, values.expand(1, 2, 2, 1))
    assert_close(heads, expected=torch.full((1, 2, 2, 1), 1.5))


SIZES = draw.sizes("batch heads queries keys d_k d_v", count=8)
MASKS = ["queries keys", "batch 1 1 keys", "batch 1 queries keys", "batch heads queries keys"]
MASKS += ["1 heads 1 keys", "batch 1 queries 1", "1 1 queries keys"]


def drawn_case(size):
    """Queries, keys and values of the drawn sizes."""
    return (
        draw.floats(size.batch, size.heads, size.queries, size.d_k),
        draw.floats(size.batch, size.heads, size.keys, size.d_k, seed=1),
        draw.floats(size.batch, size.heads, size.keys, size.d_v, seed=2),
    )


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_without_a_mask_it_agrees_with_torch(size):
    """The built-in is the judge; its mix of an identity matrix is the weights."""
    queries, keys, values = drawn_case(size)
    judge = functional.scaled_dot_product_attention
    expected = judge(queries, keys, values), judge(queries, keys, torch.eye(size.keys))
    assert_close(multi_head_scaled_dot_product_attention(queries, keys, values), expected)


@pytest.mark.parametrize("axes", MASKS)
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_with_a_mask_it_agrees_with_torch(size, axes):
    """Every shape of mask that broadcasts to (batch, heads, queries, keys)."""
    queries, keys, values = drawn_case(size)
    mask = draw.visible(*(vars(size).get(axis, 1) for axis in axes.split()), seed=3)
    judge = functional.scaled_dot_product_attention
    expected = (
        judge(queries, keys, values, mask),
        judge(queries, keys, torch.eye(size.keys).expand(*keys.shape[:2], -1, -1), mask),
    )
    assert_close(multi_head_scaled_dot_product_attention(queries, keys, values, mask), expected)
