"""005 · pad_sequences_to_length. Lesson: 005_pad_sequences_to_length.md."""

import random
from itertools import zip_longest

import pytest

from kata.part01_tokens import pad_sequences_to_length
from specs.harness.check import assert_equal, rejects


def drawn_sequences(seed: int, batch: int) -> list[list[int]]:
    """Draw ids from 0 to 9 for sequences of 0 to 7 ids."""
    rng = random.Random(seed)
    return [rng.choices(range(10), k=rng.randint(0, 7)) for _ in range(batch)]


def test_rows_by_hand():
    """The longest has three ids: one 0 is missing in the first row, two in the last."""
    rows = pad_sequences_to_length([[5, 6], [7, 8, 9], [4]], pad_id=0)
    assert_equal(rows, expected=[[5, 6, 0], [7, 8, 9], [4, 0, 0]])


def test_padding_is_the_id_given():
    """Here 1 is padding and 0 is a word."""
    rows = pad_sequences_to_length([[0], [5, 0, 6]], pad_id=1)
    assert_equal(rows, expected=[[0, 1, 1], [5, 0, 6]])


def test_length_asked_for_is_the_length_of_every_row():
    """Five columns for two ids and one."""
    rows = pad_sequences_to_length([[5, 6], [7]], pad_id=0, length=5)
    assert_equal(rows, expected=[[5, 6, 0, 0, 0], [7, 0, 0, 0, 0]])


def test_sequence_of_just_this_length_fits():
    """Three ids in three columns."""
    rows = pad_sequences_to_length([[5, 6, 7], [8]], pad_id=0, length=3)
    assert_equal(rows, expected=[[5, 6, 7], [8, 0, 0]])


def test_ids_that_equal_the_padding_stay():
    """2 ends a sentence and is padding too: the first row is full, the second needs one more."""
    rows = pad_sequences_to_length([[2, 5, 2], [6, 2]], pad_id=2)
    assert_equal(rows, expected=[[2, 5, 2], [6, 2, 2]])


def test_tuples_give_lists():
    """Any sequence of ids will do."""
    rows = pad_sequences_to_length(((5, 6), (7,)), pad_id=0)
    assert_equal(rows, expected=[[5, 6], [7, 0]])


@pytest.mark.parametrize(
    ("length", "expected"), [(None, [[], []]), (0, [[], []]), (2, [[0, 0], [0, 0]])], ids=str
)
def test_empty_sequences_are_padding_only(length, expected):
    """No ids, so as much padding as there are columns."""
    assert_equal(pad_sequences_to_length([[], []], pad_id=0, length=length), expected=expected)


@pytest.mark.parametrize("length", [4, 0])
def test_sequence_too_long_is_rejected(length):
    """Six ids do not fit, and cutting them would lose the end token, 1."""
    with rejects(ValueError, naming=(6, length)):
        pad_sequences_to_length([[], [0, 5, 6, 7, 8, 1]], pad_id=9, length=length)


@pytest.mark.parametrize("length", [None, 3])
def test_empty_batch_is_rejected(length):
    """No sequence, no row."""
    with rejects(ValueError):
        pad_sequences_to_length([], pad_id=0, length=length)


@pytest.mark.parametrize(("seed", "batch"), [(1, 1), (2, 2), (3, 5), (4, 9)])
def test_drawn_columns_are_those_of_a_zip(seed, batch):
    """Read by columns, with padding where a sequence is over: what zip_longest gives."""
    sequences = drawn_sequences(seed, batch)
    columns = zip_longest(*sequences, fillvalue=3)
    rows = pad_sequences_to_length(sequences, pad_id=3)
    assert_equal(list(zip(*rows, strict=True)), expected=list(columns))
