"""106 · batch_by_token_count. Lesson: 106_batch_by_token_count.md."""

import random

import pytest

from kata.part15_scaling_up import batch_by_token_count
from specs.harness.check import assert_equal, rejects


def test_five_sentences_by_hand():
    """2, 2, 3, 4, 5 of at most 8: 3 · 3 is too many, 2 · 4 just fits, and 3 · 5 does not."""
    batches = batch_by_token_count([5, 2, 4, 2, 3], max_tokens=8)
    assert_equal(batches, expected=[[1, 3], [4, 2], [0]])


def test_padding_takes_its_place_too():
    """1 + 1 + 1 + 10 is 13; but four rows of 10 are 40, and so the long one travels alone."""
    assert_equal(batch_by_token_count([1, 1, 1, 10], max_tokens=13), expected=[[0, 1, 2], [3]])


def test_batch_may_be_exactly_full():
    """3 · 4 = 12, and not one row more."""
    assert_equal(batch_by_token_count([4, 4, 4, 4], max_tokens=12), expected=[[0, 1, 2], [3]])


def test_sentence_may_fill_a_batch_alone():
    """1 · 7 = 7."""
    assert_equal(batch_by_token_count([7, 1], max_tokens=7), expected=[[1], [0]])


def test_sentences_of_one_length_stay_in_order():
    """Three of 2 and three of 3, as they stand in the file."""
    batches = batch_by_token_count([3, 2, 3, 2, 2, 3], max_tokens=6)
    assert_equal(batches, expected=[[1, 3, 4], [0, 2], [5]])


def test_short_sentence_ends_no_batch_early():
    """A later sentence is never shorter: 1, 1, 2, 2 are four rows of 2."""
    assert_equal(batch_by_token_count([2, 1, 2, 1], max_tokens=8), expected=[[1, 3, 0, 2]])


def test_no_sentences_make_no_batches():
    """Not one empty batch."""
    assert_equal(batch_by_token_count([], max_tokens=8), expected=[])


@pytest.mark.parametrize("length", [9, 800, 0, -3])
def test_sentence_that_fits_no_batch_is_rejected(length):
    """A batch takes sentences of 1 to 8 tokens. The one that stands at index 5 is none of them."""
    with rejects(ValueError, naming=5):
        batch_by_token_count([1, 2, 4, 2, 6, length, 1], max_tokens=8)


def filled_one_by_one(lengths, max_tokens):
    """Take as many as fit of those that are left, and begin again."""
    left = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    batches = []
    while left:
        fits = [n for n in range(1, len(left) + 1) if n * lengths[left[n - 1]] <= max_tokens]
        batches.append(left[: max(fits)])
        left = left[max(fits) :]
    return batches


@pytest.mark.parametrize("max_tokens", [9, 20, 60, 1000], ids=str)
def test_drawn_lengths_agree_with_plain_loops(max_tokens):
    """Forty sentences of one to nine tokens."""
    dice = random.Random(max_tokens)
    lengths = [dice.randint(1, 9) for _ in range(40)]
    batches = batch_by_token_count(lengths, max_tokens)
    assert_equal(batches, expected=filled_one_by_one(lengths, max_tokens))
