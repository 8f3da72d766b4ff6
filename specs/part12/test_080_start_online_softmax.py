"""080 · start_online_softmax. Lesson: 080_start_online_softmax.md."""

from math import inf

import pytest
import torch

from kata.part12_flash_attention import start_online_softmax
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("softmax", "logsumexp", "scaled_dot_product_attention")  # for the whole part

HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


def test_two_queries_by_hand():
    """Two queries of width 3, values of width 4: nobody heard, and two sums over nothing."""
    state = start_online_softmax(torch.ones(2, 3), d_v=4)
    assert_close(state, expected=([-inf, -inf], [0.0, 0.0], [[0.0] * 4, [0.0] * 4]))


def test_loudest_so_far_is_below_any_score():
    """Not 0, not −1e9: even −3.4e38, the least of all float32 numbers, is louder than −∞."""
    state = start_online_softmax(torch.ones(1, 3), d_v=1)
    assert_close(state.row_max, expected=[-inf])


def test_no_key_has_added_anything():
    """A sum over nothing is 0, and so is a mixture of nothing."""
    state = start_online_softmax(torch.ones(1, 2), d_v=2)
    assert_close((state.row_sum, state.accumulator), expected=([0.0], [[0.0, 0.0]]))


def test_accumulator_is_as_wide_as_the_values():
    """Queries of width 5, values of width 1: one number is mixed for each of the three queries."""
    state = start_online_softmax(torch.ones(3, 5), d_v=1)
    assert_close(state.accumulator, expected=[[0.0], [0.0], [0.0]])


def test_what_a_query_asks_plays_no_part():
    """NaN and ∞ are for the scores to deal with: the empty account is the same for all."""
    state = start_online_softmax(torch.tensor([[float("nan"), inf]]), d_v=1)
    assert_close(state, expected=([-inf], [0.0], [[0.0]]))


@HALVES
def test_halves_are_summed_in_float32(dtype):
    """In bfloat16 256 + 1 is 256: a sum that has come so far grows no more."""
    state = start_online_softmax(torch.ones(2, 3, dtype=dtype), d_v=4)
    assert {part.dtype for part in state} == {torch.float32}, "the sums must be float32"


def test_float64_stays_float64():
    """Nobody who asks for 16 digits is given 7."""
    state = start_online_softmax(torch.ones(2, 3, dtype=torch.float64), d_v=4)
    assert {part.dtype for part in state} == {torch.float64}, "the sums must be float64"


@pytest.mark.parametrize("size", draw.sizes("batch heads queries d_k d_v"), ids=str)
def test_each_query_of_each_head_has_its_own(size):
    """One maximum and one sum for each query, and one row of the values' width."""
    queries = draw.floats(size.batch, size.heads, size.queries, size.d_k)
    rows = (size.batch, size.heads, size.queries)
    expected = (torch.full(rows, -inf), torch.zeros(rows), torch.zeros(*rows, size.d_v))
    assert_close(start_online_softmax(queries, size.d_v), expected)
