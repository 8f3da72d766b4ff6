"""016 · combine_padding_and_causal_masks. Lesson: 016_combine_padding_and_causal_masks.md."""

import pytest
import torch

from kata.part03_attention import combine_padding_and_causal_masks
from specs.harness import draw
from specs.harness.check import assert_equal, rejects


def padding(*rows):
    """Build a padding mask from rows of 0 and 1: (B, 1, 1, T)."""
    return torch.tensor(rows, dtype=torch.bool)[:, None, None, :]


def staircase(length):
    """Build a causal mask: (T, T)."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def test_two_words_and_one_pad():
    """The staircase 100 110 111 loses its third column, the padding: 100 110 110."""
    mask = combine_padding_and_causal_masks(padding([1, 1, 0]), staircase(3))
    assert_equal(
        mask, expected=[[[[True, False, False], [True, True, False], [True, True, False]]]]
    )


def test_each_sentence_keeps_its_own_padding():
    """Sentences of 2 and 1 words, 2 positions: (2, 1, 2, 2), and the second never sees its pad."""
    mask = combine_padding_and_causal_masks(padding([1, 1], [1, 0]), staircase(2))
    assert_equal(
        mask,
        expected=[[[[True, False], [True, True]]], [[[True, False], [True, False]]]],
    )


def test_without_padding_the_staircase_is_left():
    """Three real tokens: 100 110 111."""
    mask = combine_padding_and_causal_masks(padding([1, 1, 1]), staircase(3))
    assert_equal(mask, expected=[[[[True, False, False], [True, True, False], [True, True, True]]]])


def test_padding_on_the_left_may_leave_a_query_nothing_to_see():
    """The first position is padding, and all that it could look back at: 000 010 011."""
    mask = combine_padding_and_causal_masks(padding([0, 1, 1]), staircase(3))
    assert_equal(
        mask, expected=[[[[False, False, False], [False, True, False], [False, True, True]]]]
    )


def test_causal_mask_is_the_one_given():
    """Where each position may see itself alone, that is all it sees: 100 010 001."""
    mask = combine_padding_and_causal_masks(padding([1, 1, 1]), torch.eye(3, dtype=torch.bool))
    assert_equal(
        mask, expected=[[[[True, False, False], [False, True, False], [False, False, True]]]]
    )


@pytest.mark.parametrize("real", [True, False], ids=["a word", "a pad"])
def test_single_position(real):
    """One token sees itself if it is real."""
    assert_equal(combine_padding_and_causal_masks(padding([real]), staircase(1)), [[[[real]]]])


@pytest.mark.parametrize("size", draw.sizes("batch length"), ids=str)
def test_agrees_with_looking_at_every_pair(size):
    """Query i may attend to key j of its sentence where j is real and j ≤ i."""
    real = draw.visible(size.batch, size.length)
    mask = combine_padding_and_causal_masks(real[:, None, None, :], staircase(size.length))
    by_hand = [
        [[[row[j] and j <= i for j in range(size.length)] for i in range(size.length)]]
        for row in real.tolist()
    ]
    assert_equal(mask, expected=by_hand)


@pytest.mark.parametrize(("tokens", "positions"), [(4, 3), (3, 4), (1, 3), (3, 1)])
def test_lengths_that_differ_are_an_error(tokens, positions):
    """Length 1 would broadcast without a word: it is refused like any other."""
    with rejects(ValueError, naming=(tokens, positions)):
        combine_padding_and_causal_masks(padding([1] * tokens), staircase(positions))


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32], ids=str)
def test_padding_mask_of_numbers_is_an_error(dtype):
    """0 and 1 are not False and True: the message asks for bool."""
    with rejects(TypeError, naming="bool"):
        combine_padding_and_causal_masks(padding([1, 0]).to(dtype), staircase(2))


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32], ids=str)
def test_causal_mask_of_numbers_is_an_error(dtype):
    """The same for the other mask."""
    with rejects(TypeError, naming="bool"):
        combine_padding_and_causal_masks(padding([1, 0]), staircase(2).to(dtype))
