"""077 · select_top_hypotheses. Lesson: 077_select_top_hypotheses.md."""

import itertools

import pytest

from kata.part11_decoding import select_top_hypotheses
from kata.weights import Hypothesis
from specs.harness.check import assert_equal, rejects

BEST = Hypothesis((4, 5), -0.5)
SECOND = Hypothesis((3, 9), -1.0)
THIRD = Hypothesis((7, 1, 2), -2.0)
WORST = Hypothesis((3, 3), -4.0)
MIXED = [THIRD, BEST, WORST, SECOND]


@pytest.mark.parametrize(
    ("beam_size", "top"), [(1, [BEST]), (2, [BEST, SECOND]), (3, [BEST, SECOND, THIRD])]
)
def test_best_come_first_by_hand(beam_size, top):
    """Of −2, −0.5, −4 and −1: −0.5, then −1, then −2. Near zero is likely."""
    assert_equal(select_top_hypotheses(MIXED, beam_size), top)


@pytest.mark.parametrize("beam_size", [4, 5, 100])
def test_all_of_them_when_there_are_no_more(beam_size):
    """Four candidates fill no larger beam."""
    assert_equal(select_top_hypotheses(MIXED, beam_size), [BEST, SECOND, THIRD, WORST])


def test_nobody_to_choose_from():
    """No candidates, nobody chosen."""
    assert_equal(select_top_hypotheses([], 3), [])


@pytest.mark.parametrize("order", list(itertools.permutations([0, 1, 2])), ids=str)
def test_ties_stand_in_the_order_of_their_ids(order):
    """(3, 9) before (4,) before (4, 1): compared word by word, whatever order they came in."""
    tied = [Hypothesis((3, 9), -1.0), Hypothesis((4,), -1.0), Hypothesis((4, 1), -1.0)]
    assert_equal(select_top_hypotheses([tied[place] for place in order], 2), tied[:2])


def test_ids_are_numbers():
    """9 comes before 10; as text "10" would come first."""
    nine, ten = Hypothesis((9,), -1.0), Hypothesis((10,), -1.0)
    assert_equal(select_top_hypotheses([ten, nine], 2), [nine, ten])


def test_twins_take_two_places():
    """Two that are the same are still two."""
    assert_equal(select_top_hypotheses([BEST, SECOND, BEST], 2), [BEST, BEST])


@pytest.mark.parametrize("less", [1.0, 1e-9])
def test_ids_count_only_where_scores_tie(less):
    """(9,) at −1 before (0,) at −2, or at a billionth less than −1."""
    likely, unlikely = Hypothesis((9,), -1.0), Hypothesis((0,), -1.0 - less)
    assert_equal(select_top_hypotheses([unlikely, likely], 2), [likely, unlikely])


def test_length_is_no_excuse_here():
    """Five words at −2.5 against one at −2: the bare log-probability decides."""
    long, short = Hypothesis((3, 3, 3, 3, 3), -2.5), Hypothesis((4,), -2.0)
    assert_equal(select_top_hypotheses([long, short], 1), [short])


@pytest.mark.parametrize("beam_size", [0, -7])
def test_beam_below_one_is_an_error(beam_size):
    """A beam that keeps nobody finds nothing; [:-7] would keep a few."""
    with rejects(ValueError, naming=beam_size):
        select_top_hypotheses(MIXED, beam_size)


@pytest.mark.parametrize("beam_size", [1, 3, 7, 20])
def test_agrees_with_taking_the_best_again_and_again(beam_size):
    """Twelve candidates at −0, −1 and −2: take the best, then the best of the rest."""
    rest = [Hypothesis((place * 5 % 12, 3), -float(place % 3)) for place in range(12)]
    candidates, expected = list(rest), []
    while rest and len(expected) < beam_size:
        level = max(each.log_prob for each in rest)
        expected.append(min(each for each in rest if each.log_prob == level))
        rest.remove(expected[-1])
    assert_equal(select_top_hypotheses(candidates, beam_size), expected)
