"""076 · expand_beam_hypotheses. Lesson: 076_expand_beam_hypotheses.md."""

from math import inf, nan

import pytest
import torch

from kata.part11_decoding import expand_beam_hypotheses
from kata.weights import Hypothesis
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects

# "3" at −0.5 and "4 5" at −2; three words may follow.
HYPOTHESES = [Hypothesis((3,), -0.5), Hypothesis((4, 5), -2.0)]
LOG_PROBS = torch.tensor([[-0.25, -1.0, -4.0], [-3.0, -0.5, -1.5]])


def test_two_beginnings_and_three_words_by_hand():
    """−0.5 less 0.25, 1 and 4; −2 less 3, 0.5 and 1.5: six continuations, row by row."""
    expected = [
        Hypothesis((3, 0), -0.75),
        Hypothesis((3, 1), -1.5),
        Hypothesis((3, 2), -4.5),
        Hypothesis((4, 5, 0), -5.0),
        Hypothesis((4, 5, 1), -2.5),
        Hypothesis((4, 5, 2), -3.5),
    ]
    assert_equal(expand_beam_hypotheses(HYPOTHESES, LOG_PROBS), expected)


def test_search_begins_with_nothing():
    """One empty hypothesis at 0: each word alone, at its own score."""
    expected = [Hypothesis((0,), -0.25), Hypothesis((1,), -1.0), Hypothesis((2,), -4.0)]
    assert_equal(expand_beam_hypotheses([Hypothesis((), 0.0)], LOG_PROBS[:1]), expected)


@pytest.mark.parametrize("impossible", [-inf, nan], ids=str)
def test_impossible_word_cannot_follow(impossible):
    """The words before and behind it keep their ids."""
    log_probs = torch.tensor([[-0.25, impossible, -4.0]])
    expected = [Hypothesis((3, 0), -0.75), Hypothesis((3, 2), -4.5)]
    assert_equal(expand_beam_hypotheses(HYPOTHESES[:1], log_probs), expected)


def test_beginning_that_nothing_follows_is_gone():
    """Its row is all −∞; the other one goes on with its only word."""
    log_probs = torch.tensor([[-inf, -inf], [-inf, -0.5]])
    assert_equal(expand_beam_hypotheses(HYPOTHESES, log_probs), [Hypothesis((4, 5, 1), -2.5)])


def test_word_that_is_certain_costs_nothing():
    """A log-probability of 0 is a score, not a blank."""
    answer = expand_beam_hypotheses(HYPOTHESES[1:], torch.tensor([[-inf, 0.0]]))
    assert_equal(answer, [Hypothesis((4, 5, 1), -2.0)])


@pytest.mark.parametrize(
    ("before", "score", "after"),
    [(-1e8, -0.25, -100000000.25), (-0.5, -1e10, -10000000000.5)],
    ids=["a little", "very much"],
)
def test_every_doubt_counts(before, score, after):
    """A quarter beside 100 million, for which float32 has no room; and no score is too low."""
    answer = expand_beam_hypotheses([Hypothesis((3,), before)], torch.tensor([[score]]))
    assert_equal(answer, [Hypothesis((3, 0), after)])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Scores come back as Python's floats."""
    expected = [Hypothesis((3, 0), -0.75), Hypothesis((3, 1), -1.5), Hypothesis((3, 2), -4.5)]
    assert_equal(expand_beam_hypotheses(HYPOTHESES[:1], LOG_PROBS[:1].to(dtype)), expected)


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_that_do_not_fit_are_an_error(rows):
    """Two beginnings and one row, or three: nobody is left out in silence."""
    with rejects(Exception):
        expand_beam_hypotheses(HYPOTHESES, LOG_PROBS[[0, 1, 0]][:rows])


@pytest.mark.parametrize("size", draw.sizes("hypotheses length vocab"), ids=str)
def test_agrees_with_pairing_each_with_each(size):
    """Two plain loops; drawn beginnings, and eighths for scores, which add up exactly."""
    scores = -draw.token_ids(size.hypotheses, size.vocab, vocab_size=64) / 8
    said = draw.token_ids(size.hypotheses, size.length, vocab_size=size.vocab).tolist()
    beginnings = [Hypothesis(tuple(ids), -0.25 * row) for row, ids in enumerate(said)]
    expected = [
        ((*ids, word), -0.25 * row + scores[row, word].item())
        for row, ids in enumerate(said)
        for word in range(size.vocab)
    ]
    assert_close(expand_beam_hypotheses(beginnings, scores), expected)
