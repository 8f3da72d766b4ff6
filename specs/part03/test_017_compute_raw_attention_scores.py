"""017 · compute_raw_attention_scores. Lesson: 017_compute_raw_attention_scores.md."""

import pytest
import torch

from kata.part03_attention import compute_raw_attention_scores
from specs.harness import draw
from specs.harness.check import assert_close, rejects

QUERIES = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
KEYS = torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


def test_two_queries_and_three_keys_by_hand():
    """Query (1, 2): 3 + 8 = 11, 5 + 12 = 17, 7 + 16 = 23. Query (0, 1): 4, 6, 8."""
    scores = compute_raw_attention_scores(QUERIES, KEYS)
    assert_close(scores, expected=[[11.0, 17.0, 23.0], [4.0, 6.0, 8.0]])


def test_one_query_has_one_row():
    """Rows are queries, columns are keys: one query and three keys make 1 × 3."""
    assert_close(compute_raw_attention_scores(QUERIES[:1], KEYS), expected=[[11.0, 17.0, 23.0]])


def test_one_key_has_one_column():
    """Two queries and one key make 2 × 1."""
    assert_close(compute_raw_attention_scores(QUERIES, KEYS[:1]), expected=[[11.0], [4.0]])


def test_as_many_queries_as_keys():
    """A square is where a swapped axis hides: (1, 2) scores 11 and 17, (0, 1) scores 4 and 6."""
    scores = compute_raw_attention_scores(QUERIES, KEYS[:2])
    assert_close(scores, expected=[[11.0, 17.0], [4.0, 6.0]])


def test_scores_grow_with_the_width():
    """Four ones against four ones score 4: nothing is scaled yet."""
    assert_close(compute_raw_attention_scores(torch.ones(1, 4), torch.ones(1, 4)), expected=[[4.0]])


def test_opposite_vectors_score_below_zero():
    """(1, 2) · (−1, −2) = −5: disagreement counts as well."""
    assert_close(compute_raw_attention_scores(QUERIES[:1], -QUERIES[:1]), expected=[[-5.0]])


def test_each_head_meets_its_own_keys():
    """Head 0 asks with (1, 2) and head 1 with (0, 1); their keys are (3, 4) and (5, 6)."""
    scores = compute_raw_attention_scores(QUERIES[:, None, :], KEYS[:2, None, :])
    assert_close(scores, expected=[[[11.0]], [[6.0]]])


def test_heads_may_share_their_keys():
    """Keys without the leading dimension are everybody's: it broadcasts."""
    scores = compute_raw_attention_scores(QUERIES[:, None, :], KEYS)
    assert_close(scores, expected=[[[11.0, 17.0, 23.0]], [[4.0, 6.0, 8.0]]])


def test_sentence_may_score_itself():
    """Three tokens are queries and keys at once: (1, 2) · (1, 2) = 5, (1, 2) · (3, 0) = 3."""
    tokens = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    scores = compute_raw_attention_scores(tokens, tokens)
    assert_close(scores, expected=[[5.0, 2.0, 3.0], [2.0, 1.0, 0.0], [3.0, 0.0, 9.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Small whole numbers are exact in every type."""
    scores = compute_raw_attention_scores(QUERIES.to(dtype), KEYS.to(dtype))
    assert_close(scores, expected=[[11.0, 17.0, 23.0], [4.0, 6.0, 8.0]])


SIZES = draw.sizes("batch heads queries keys d_k", count=6)
SIZES += draw.sizes("batch heads d_k", count=1, queries=3, keys=3)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_products_added_up(size):
    """Σ_d query[d] · key[d] for every pair, in float64."""
    queries = draw.floats(size.batch, size.heads, size.queries, size.d_k)
    keys = draw.floats(size.batch, size.heads, size.keys, size.d_k, seed=1)
    pairs = queries.double()[..., :, None, :] * keys.double()[..., None, :, :]
    assert_close(compute_raw_attention_scores(queries, keys), expected=pairs.sum(-1))


@pytest.mark.parametrize(("query_width", "key_width"), [(4, 3), (1, 3), (3, 1)])
def test_widths_that_differ_are_an_error(query_width, key_width):
    """A dot product needs two vectors of one width: both widths are in the message."""
    queries, keys = torch.ones(2, 5, 7, query_width), torch.ones(2, 5, 6, key_width)
    with rejects(ValueError, naming=(query_width, key_width)):
        compute_raw_attention_scores(queries, keys)
