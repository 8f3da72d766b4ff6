"""073 · select_greedy_next_tokens. Lesson: 073_select_greedy_next_tokens.md."""

from math import inf

import pytest
import torch

from kata.part11_decoding import select_greedy_next_tokens
from specs.harness import draw
from specs.harness.check import assert_equal

# Two sentences, two positions, three words.
LOG_PROBS = torch.tensor(
    [[[-0.5, -1.0, -4.0], [-3.0, -2.0, -0.25]], [[-0.25, -3.0, -3.0], [-2.0, -0.5, -1.5]]]
)


def test_best_word_at_the_last_position_by_hand():
    """The last rows are (−3, −2, −0.25) and (−2, −0.5, −1.5): words 2 and 1."""
    assert_equal(select_greedy_next_tokens(LOG_PROBS), [2, 1])


def test_earlier_positions_have_no_say():
    """With the positions turned round (−0.5, −1, −4) and (−0.25, −3, −3) come last: 0 and 0."""
    assert_equal(select_greedy_next_tokens(LOG_PROBS.flip(1)), [0, 0])


def test_first_position_may_be_the_last():
    """Nothing but the start token has been said: one position, (−0.5, −1, −4)."""
    assert_equal(select_greedy_next_tokens(LOG_PROBS[:1, :1]), [0])


@pytest.mark.parametrize(
    ("scores", "word"),
    [([-3.0, -1.0, -2.0, -1.0], 1), ([-1.0, -1.0, -1.0, -1.0], 0), ([-9.0, -9.0, -2.0, -2.0], 2)],
    ids=["two", "all", "the last two"],
)
def test_lowest_id_wins_a_tie(scores, word):
    """Words as likely as one another: the first of them in the vocabulary is said."""
    assert_equal(select_greedy_next_tokens(torch.tensor([[scores]])), [word])


def test_certain_word_among_impossible_ones():
    """Log-probabilities of 0 and −∞ are scores like any other."""
    assert_equal(select_greedy_next_tokens(torch.tensor([[[-inf, -inf, 0.0, -inf]]])), [2])


@pytest.mark.parametrize(
    ("dtype", "more"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=str
)
def test_little_more_is_no_tie(dtype, more):
    """−0.7, and one unit more in a late digit: the second is said, though the first is lower."""
    scores = torch.tensor([[[-0.7, -0.7 + more]]], dtype=dtype)
    assert_equal(select_greedy_next_tokens(scores), [1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Ids are whole numbers, however precise the scores are."""
    assert_equal(select_greedy_next_tokens(LOG_PROBS.to(dtype)), [2, 1])


@pytest.mark.parametrize("size", draw.sizes("batch length vocab"), ids=str)
def test_agrees_with_searching_each_row(size):
    """Scores of 0 to −3 tie often: Python's ``index`` finds the first of the best."""
    scores = -draw.token_ids(size.batch, size.length, size.vocab, vocab_size=4)
    expected = [row.index(max(row)) for row in scores[:, -1].tolist()]
    assert_equal(select_greedy_next_tokens(scores.to(torch.get_default_dtype())), expected)
