"""004 · add_start_and_end_ids. Lesson: 004_add_start_and_end_ids.md."""

import pytest

from kata.part01_tokens import add_start_and_end_ids
from specs.harness.check import assert_equal


def test_sentence_by_hand():
    """1 opens the sentence 7 8 9, and 2 closes it."""
    assert_equal(add_start_and_end_ids([7, 8, 9], start_id=1, end_id=2), expected=[1, 7, 8, 9, 2])


def test_empty_sentence_becomes_start_and_end():
    """Nothing stands between the two."""
    assert_equal(add_start_and_end_ids([], start_id=1, end_id=2), expected=[1, 2])


def test_tuple_gives_a_list():
    """Any sequence of ids will do."""
    assert_equal(add_start_and_end_ids((7, 8), start_id=1, end_id=2), expected=[1, 7, 8, 2])


@pytest.mark.parametrize("ids", [[1, 7, 2], [1], [2], [2, 1], [5, 0, 6]], ids=str)
def test_both_are_added_whatever_the_sentence_holds(ids):
    """A 1, a 2 or a 0 inside the sentence stays and replaces neither: it grows by two."""
    answer = add_start_and_end_ids(ids, start_id=1, end_id=2)
    assert_equal([answer[:1], answer[1:-1], answer[-1:]], expected=[[1], ids, [2]])


def test_start_and_end_may_be_one_id():
    """0 on both sides, as in models that mark only where one sentence meets the next."""
    assert_equal(add_start_and_end_ids([7], start_id=0, end_id=0), expected=[0, 7, 0])


def test_every_call_makes_a_list_of_its_own():
    """The second sentence leaves the first as it was."""
    first = add_start_and_end_ids([7], start_id=1, end_id=2)
    add_start_and_end_ids([8, 9], start_id=1, end_id=2)
    assert_equal(first, expected=[1, 7, 2])


@pytest.mark.parametrize("count", [1, 2, 5, 11])
def test_drawn_length_grows_by_two(count):
    """The sentence lies whole between start 500 and end 400."""
    ids = list(range(count, 0, -1))
    answer = add_start_and_end_ids(ids, start_id=500, end_id=400)
    assert_equal([answer[:1], answer[1:-1], answer[-1:]], expected=[[500], ids, [400]])
