"""014 · build_padding_mask. Lesson: 014_build_padding_mask.md."""

import pytest
import torch

from kata.part03_attention import build_padding_mask
from specs.harness import draw
from specs.harness.check import assert_equal


def test_two_words_and_one_pad():
    """With padding id 0 the row 5 6 0 is real, real, padding."""
    mask = build_padding_mask(torch.tensor([[5, 6, 0]]), pad_id=0)
    assert_equal(mask, expected=[[[[True, True, False]]]])


def test_each_sentence_has_its_own_mask():
    """Three sentences of 4, 1 and 2 words make a mask of shape (3, 1, 1, 4)."""
    token_ids = torch.tensor([[5, 6, 7, 8], [5, 0, 0, 0], [6, 6, 0, 0]])
    assert_equal(
        build_padding_mask(token_ids, pad_id=0),
        expected=[
            [[[True, True, True, True]]],
            [[[True, False, False, False]]],
            [[[True, True, False, False]]],
        ],
    )


def test_padding_is_hidden_from_every_head_and_query():
    """Laid over 2 heads and 3 queries, the pad hides its column and no row."""
    mask = build_padding_mask(torch.tensor([[5, 6, 0]]), pad_id=0)
    row = [True, True, False]
    assert_equal(mask.expand(1, 2, 3, 3), expected=[[[row, row, row], [row, row, row]]])


def test_padding_id_is_the_one_given():
    """With padding id 7 the ids 0, 6 and 8 are words like any other."""
    mask = build_padding_mask(torch.tensor([[0, 6, 8, 7]]), pad_id=7)
    assert_equal(mask, expected=[[[[True, True, True, False]]]])


@pytest.mark.parametrize("pad_id", [-1, 1, 2**24])
def test_padding_id_may_be_any_number(pad_id):
    """Only this very number is hidden: not its negative, its neighbour or its last 16 bits."""
    token_ids = torch.tensor([[0, pad_id, -pad_id, pad_id + 1, pad_id + 2**16, -100]])
    mask = build_padding_mask(token_ids, pad_id=pad_id)
    assert_equal(mask, expected=[[[[True, False, True, True, True, True]]]])


def test_padding_may_stand_on_the_left():
    """0 0 5 6 is padding, padding, real, real: what counts is the id, not the place."""
    mask = build_padding_mask(torch.tensor([[0, 0, 5, 6]]), pad_id=0)
    assert_equal(mask, expected=[[[[False, False, True, True]]]])


@pytest.mark.parametrize(("token_id", "seen"), [(5, True), (0, False)], ids=["one word", "one pad"])
def test_single_token(token_id, seen):
    """One sentence of one token: a word is seen, a pad is not."""
    mask = build_padding_mask(torch.tensor([[token_id]]), pad_id=0)
    assert_equal(mask, expected=[[[[seen]]]])


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64], ids=str)
def test_any_whole_numbers_are_ids(dtype):
    """The mask is bool whichever integers the ids are kept in."""
    mask = build_padding_mask(torch.tensor([[0, 3]], dtype=dtype), pad_id=3)
    assert_equal(mask, expected=[[[[True, False]]]])


@pytest.mark.parametrize("size", draw.sizes("batch length"), ids=str)
def test_agrees_with_looking_at_one_token_after_the_other(size):
    """Among ids 0, 1 and 2, with padding id 1, a token is seen where it is not 1."""
    token_ids = draw.token_ids(size.batch, size.length, vocab_size=3)
    by_hand = [[[[token != 1 for token in row]]] for row in token_ids.tolist()]
    assert_equal(build_padding_mask(token_ids, pad_id=1), expected=by_hand)
