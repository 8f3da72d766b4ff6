"""078 · choose_best_hypothesis. Lesson: 078_choose_best_hypothesis.md."""

import pytest

from kata.part11_decoding import choose_best_hypothesis
from kata.weights import Hypothesis
from specs.harness.check import assert_equal


def said(length, log_prob, word=3):
    """A hypothesis of that many tokens."""
    return Hypothesis((word,) * length, log_prob)


SHORT, LONG = said(1, -4.0), said(7, -7.0)


def test_long_sentence_is_excused_by_hand():
    """At α = 1 the penalties are 6/6 and 12/6: −4/1 against −7/2 = −3.5."""
    assert_equal(choose_best_hypothesis([SHORT, LONG], [], 1.0), LONG)


@pytest.mark.parametrize(
    ("log_prob", "best"),
    [(-3.9, said(7, -3.9)), (-7.9, said(7, -7.9)), (-8.1, SHORT), (-40.0, SHORT)],
)
def test_seven_tokens_are_excused_for_twice_the_doubts(log_prob, best):
    """−4 against half of it: the longer one wins down to −8."""
    assert_equal(choose_best_hypothesis([SHORT, said(7, log_prob)], [], 1.0), best)


@pytest.mark.parametrize("long", [LONG, said(7, -5.0)], ids=["-7", "-5"])
def test_without_a_penalty_the_likelier_wins(long):
    """At α = 0 it is −4 against −7, or against −5, which at α = 0.6 would be −3.30."""
    assert_equal(choose_best_hypothesis([SHORT, long], [], 0.0), SHORT)


def test_alpha_is_a_power():
    """At α = 1/2 length 19 weighs √(24/6) = 2: −9/2 = −4.5 loses to −4. At α = 1 −9/4 would win."""
    assert_equal(choose_best_hypothesis([said(19, -9.0), SHORT], [], 0.5), SHORT)


def test_start_token_is_not_counted():
    """−7.6/2 = −3.8 beats −4/1. With 13/6 and 7/6 it would be −3.51 against −3.43."""
    assert_equal(choose_best_hypothesis([SHORT, said(7, -7.6)], [], 1.0), said(7, -7.6))


def test_end_token_is_counted():
    """Lengths 2 and 8, ends included: −4 · 6/7 = −3.43 beats −7.6 · 6/13 = −3.51."""
    assert_equal(choose_best_hypothesis([said(8, -7.6), said(2, -4.0)], [], 1.0), said(2, -4.0))


def test_finished_ones_come_before_any_live_one():
    """−1 is likelier than −4, but broken off in mid-sentence."""
    assert_equal(choose_best_hypothesis([SHORT], [said(1, -1.0, word=5)], 1.0), SHORT)


@pytest.mark.parametrize("alive", [[SHORT, LONG], [LONG, SHORT]], ids=["last", "first"])
def test_live_ones_are_chosen_from_when_none_has_finished(alive):
    """No end was ever said: the best of what there is, by the same measure."""
    assert_equal(choose_best_hypothesis([], alive, 1.0), LONG)


LOW, HIGH, TWICE = SHORT, said(1, -4.0, word=5), said(7, -8.0)


@pytest.mark.parametrize(
    "tied",
    [[LOW, TWICE], [TWICE, LOW], [LOW, HIGH], [HIGH, LOW], [TWICE, LOW, HIGH]],
    ids=["short first", "long first", "low first", "high first", "three"],
)
def test_earliest_of_those_that_tie_is_chosen(tied):
    """−4/1, −8/2, and −4/1 of another word: all −4."""
    assert_equal(choose_best_hypothesis(tied, [], 1.0), tied[0])


def test_little_worse_is_no_tie():
    """A billionth below −4 loses to −4, though it stands in front."""
    assert_equal(choose_best_hypothesis([said(1, -4.0 - 1e-9), SHORT], [], 1.0), SHORT)


def test_best_may_stand_in_the_middle():
    """−4, −3.5 and −6."""
    assert_equal(choose_best_hypothesis([SHORT, LONG, said(1, -6.0)], [], 1.0), LONG)


def test_sentence_that_is_certain():
    """A score of 0 is the highest there is, at any length."""
    assert_equal(choose_best_hypothesis([SHORT, said(2, 0.0)], [], 0.6), said(2, 0.0))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.6, 1.0, 2.0])
def test_agrees_with_measuring_each(alpha):
    """Lengths 1 to 12 at about −2, −3, … −13, a little off a straight line."""
    finished = [said(n, -1.0 - n - 0.37 * (n * 5 % 4)) for n in range(1, 13)]
    scores = [each.log_prob * (6 / (5 + n)) ** alpha for n, each in enumerate(finished, 1)]
    expected = finished[scores.index(max(scores))]
    assert_equal(choose_best_hypothesis(finished, [], alpha), expected)
