"""022 · scaled_dot_product_attention. Lesson: 022_scaled_dot_product_attention.md."""

from math import inf, log

import pytest
import torch
from torch.nn import functional

from kata.part03_attention import scaled_dot_product_attention
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("scaled_dot_product_attention",)

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
LOWER = torch.tensor([[True, False], [True, True]])


def test_two_keys_by_hand():
    """Scores ln 3 and 0 become weights 3/4 and 1/4: (3/4 · 4, 1/4 · 8) = (3, 2)."""
    output, _ = scaled_dot_product_attention(QUERY, KEYS, VALUES)
    assert_close(output, expected=[[3.0, 2.0]])


def test_weights_come_along():
    """The second result says who was heard: 3/4 and 1/4."""
    _, weights = scaled_dot_product_attention(QUERY, KEYS, VALUES)
    assert_close(weights, expected=[[0.75, 0.25]])


def test_hidden_key_has_no_say():
    """With only the second key visible, its value comes back whole."""
    output, _ = scaled_dot_product_attention(QUERY, KEYS, VALUES, torch.tensor([[False, True]]))
    assert_close(output, expected=[[0.0, 8.0]])


def test_visible_keys_share_what_the_hidden_ones_leave():
    """Three equal keys, the last one hidden: weights 1/2, 1/2, 0 and not 1/3, 1/3, 0."""
    mask = torch.tensor([[True, True, False]])
    _, weights = scaled_dot_product_attention(QUERY, torch.zeros(3, 4), torch.ones(3, 2), mask)
    assert_close(weights, expected=[[0.5, 0.5, 0.0]])


def test_rows_of_the_mask_are_queries():
    """Under the staircase query 0 sees key 0 alone: (4, 0). Query 1 sees both: (3, 2)."""
    output, _ = scaled_dot_product_attention(QUERY.expand(2, 4), KEYS, VALUES, LOWER)
    assert_close(output, expected=[[4.0, 0.0], [3.0, 2.0]])


def test_each_sentence_has_its_own_padding():
    """Mask (2, 1, 1, 2) over (2, 1, 2, 4): sentence 0 is one word long, sentence 1 two."""
    mask = torch.tensor([[True, False], [True, True]])[:, None, None, :]
    output, _ = scaled_dot_product_attention(QUERY.expand(2, 1, 2, 4), KEYS, VALUES, mask)
    assert_close(output, expected=[[[[4.0, 0.0], [4.0, 0.0]]], [[[3.0, 2.0], [3.0, 2.0]]]])


def test_query_that_sees_no_key_gets_zeros():
    """Row 0 of the mask is all False: zeros for output and weights, no NaN, no average."""
    mask = torch.tensor([[False, False], [True, True]])
    answer = scaled_dot_product_attention(QUERY.expand(2, 4), KEYS, VALUES, mask)
    assert_close(answer, expected=([[0.0, 0.0], [3.0, 2.0]], [[0.0, 0.0], [0.75, 0.25]]))


def test_query_that_sees_no_key_has_gradient_zero():
    """Zeros that never change: nothing flows back to the query, and nothing is NaN."""
    query = QUERY.clone().requires_grad_()
    output, _ = scaled_dot_product_attention(query, KEYS, VALUES, torch.tensor([[False, False]]))
    output.sum().backward()
    assert_close(query.grad, expected=[[0.0, 0.0, 0.0, 0.0]])


def test_gradient_by_hand():
    """d output₀ / d score₀ = 3/4 · 1/4 · (4 − 0) = 3/4; the score moves by key / 2 = ln 3 / 2."""
    query = QUERY.clone().requires_grad_()
    output, _ = scaled_dot_product_attention(query, KEYS, VALUES)
    output[0, 0].backward()
    assert_close(query.grad, expected=[[0.375 * log(3), 0.0, 0.0, 0.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The worked example, in half and in double precision."""
    keys = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=dtype)
    output, _ = scaled_dot_product_attention(QUERY.to(dtype), keys, VALUES.to(dtype))
    assert_close(output, expected=[[3.0, 2.0]])


SQUARE = {"queries": 3, "keys": 3, "d_k": 5, "d_v": 5}  # where no shape tells one from the other
HEADS = draw.sizes("batch heads queries keys d_k d_v") + draw.sizes("batch heads", 1, **SQUARE)
ALONE = draw.sizes("queries keys d_k d_v") + draw.sizes("", 1, **SQUARE)


@pytest.mark.parametrize("size", HEADS, ids=str)
def test_equals_torch(size):
    """Torch's own function, in float64, over all kinds of sizes; each query has its own mask."""
    queries = draw.floats(size.batch, size.heads, size.queries, size.d_k)
    keys = draw.floats(size.batch, size.heads, size.keys, size.d_k, seed=1)
    values = draw.floats(size.batch, size.heads, size.keys, size.d_v, seed=2)
    mask = draw.visible(size.batch, 1, size.queries, size.keys)
    output, _ = scaled_dot_product_attention(queries, keys, values, mask)
    expected = functional.scaled_dot_product_attention(
        queries.double(), keys.double(), values.double(), mask
    )
    assert_close(output, expected)


@pytest.mark.parametrize("size", ALONE, ids=str)
def test_equals_torch_without_a_mask(size):
    """Two dimensions, nobody hidden: every key has its say."""
    queries, keys = draw.floats(size.queries, size.d_k), draw.floats(size.keys, size.d_k, seed=1)
    values = draw.floats(size.keys, size.d_v, seed=2)
    output, _ = scaled_dot_product_attention(queries, keys, values)
    expected = functional.scaled_dot_product_attention(
        queries.double(), keys.double(), values.double()
    )
    assert_close(output, expected)


@pytest.mark.parametrize(
    "mask",
    [torch.tensor([[-inf, 0.0]]), torch.tensor([[0, 1]])],
    ids=["added to the scores", "int64"],
)
def test_mask_of_numbers_is_an_error(mask):
    """Torch's built-in would add the first one; here the message asks for bool."""
    with rejects(TypeError, naming="bool"):
        scaled_dot_product_attention(QUERY, KEYS, VALUES, mask)


def test_mask_larger_than_the_scores_is_an_error():
    """Three rows for one query would make three of it."""
    with rejects(ValueError, naming=3):
        scaled_dot_product_attention(QUERY, KEYS, VALUES, torch.ones(3, 2, dtype=torch.bool))


def test_widths_that_differ_are_an_error():
    """A query of width 4 cannot meet keys of width 3."""
    with rejects(ValueError, naming=(4, 3)):
        scaled_dot_product_attention(QUERY, KEYS[:, :3], VALUES)
