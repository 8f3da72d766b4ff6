"""056 · shift_targets_right_with_start_token.

Lesson: 056_shift_targets_right_with_start_token.md.
"""

import pytest
import torch

from kata.part08_objective import shift_targets_right_with_start_token
from specs.harness import draw
from specs.harness.check import assert_equal


def test_three_tokens_by_hand():
    """The start token 1 in front, the last token off the end: 5 6 7 becomes 1 5 6."""
    shifted = shift_targets_right_with_start_token(torch.tensor([[5, 6, 7]]), start_id=1)
    assert_equal(shifted, expected=[[1, 5, 6]])


def test_each_sentence_moves_by_itself():
    """No token crosses from one sentence to the next."""
    targets = torch.tensor([[5, 6, 7], [8, 9, 4]])
    shifted = shift_targets_right_with_start_token(targets, start_id=1)
    assert_equal(shifted, expected=[[1, 5, 6], [1, 8, 9]])


def test_end_token_and_padding_move_along():
    """5 2 0 0 is a word, the end token and two pads: what falls off is the last pad."""
    shifted = shift_targets_right_with_start_token(torch.tensor([[5, 2, 0, 0]]), start_id=1)
    assert_equal(shifted, expected=[[1, 5, 2, 0]])


def test_end_token_of_a_full_row_falls_off():
    """5 6 2: nothing comes after the end token, so nobody has to read it."""
    shifted = shift_targets_right_with_start_token(torch.tensor([[5, 6, 2]]), start_id=1)
    assert_equal(shifted, expected=[[1, 5, 6]])


@pytest.mark.parametrize("start_id", [0, 5, 40_000])
def test_start_id_is_the_one_given(start_id):
    """It may be 0, and it may be a number that other tokens have."""
    shifted = shift_targets_right_with_start_token(torch.tensor([[5, 6, 2]]), start_id=start_id)
    assert_equal(shifted, expected=[[start_id, 5, 6]])


def test_single_token_makes_room_for_the_start():
    """Sentences of one token: the start token is all there is to read."""
    shifted = shift_targets_right_with_start_token(torch.tensor([[2], [5]]), start_id=1)
    assert_equal(shifted, expected=[[1], [1]])


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64], ids=str)
def test_ids_stay_in_their_type(dtype):
    """5 6 becomes 1 5, in integers of the same width."""
    targets = torch.tensor([[5, 6]], dtype=dtype)
    assert_equal(shift_targets_right_with_start_token(targets, start_id=1), expected=[[1, 5]])


@pytest.mark.parametrize("size", draw.sizes("batch length"), ids=str)
def test_agrees_with_shifting_lists(size):
    """Row by row: the start token, then all but the last."""
    targets = draw.token_ids(size.batch, size.length, vocab_size=20)
    by_hand = [[3, *row[:-1]] for row in targets.tolist()]
    assert_equal(shift_targets_right_with_start_token(targets, start_id=3), expected=by_hand)
