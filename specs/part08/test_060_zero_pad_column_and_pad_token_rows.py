"""060 · zero_pad_column_and_pad_token_rows. Lesson: 060_zero_pad_column_and_pad_token_rows.md."""

import pytest
import torch

from kata.part08_objective import zero_pad_column_and_pad_token_rows
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal

UNEVEN = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [0.9, 1.0, 1.1, 1.2]])


def test_a_word_and_a_pad_by_hand():
    """Padding is id 0: its column goes from every row, and its own row goes whole."""
    distribution = torch.tensor([[0.1, 0.1, 0.7, 0.2], [0.7, 0.1, 0.1, 0.2]])
    zeroed = zero_pad_column_and_pad_token_rows(distribution, torch.tensor([[2, 0]]), pad_id=0)
    assert_close(zeroed, expected=[[0.0, 0.1, 0.7, 0.2], [0.0, 0.0, 0.0, 0.0]])


def test_row_of_a_real_token_adds_up_to_one():
    """V = 5, ε = 0.3: 0.1 four times and 0.7 make 1.1; without the pad's 0.1 they make 1."""
    distribution = torch.tensor([[0.1, 0.1, 0.7, 0.1, 0.1]])
    zeroed = zero_pad_column_and_pad_token_rows(distribution, torch.tensor([[2]]), pad_id=0)
    assert_close(zeroed.sum(), expected=1.0)


def test_other_entries_stay_as_they_are():
    """Targets 1 3 1 with padding id 3: row 1 and column 3 are zero, and nothing is made up for."""
    zeroed = zero_pad_column_and_pad_token_rows(UNEVEN, torch.tensor([[1, 3, 1]]), pad_id=3)
    assert_close(zeroed, expected=[[0.1, 0.2, 0.3, 0.0], [0.0] * 4, [0.9, 1.0, 1.1, 0.0]])


def test_padding_id_is_the_one_given():
    """With padding id 1, id 0 is a word like any other: its row and its column stay."""
    zeroed = zero_pad_column_and_pad_token_rows(UNEVEN, torch.tensor([[0, 1, 2]]), pad_id=1)
    assert_close(zeroed, expected=[[0.1, 0.0, 0.3, 0.4], [0.0] * 4, [0.9, 0.0, 1.1, 1.2]])


def test_padding_is_no_answer_even_where_no_target_is_padding():
    """Three words and no pad: the column goes all the same."""
    zeroed = zero_pad_column_and_pad_token_rows(UNEVEN, torch.tensor([[1, 2, 3]]), pad_id=0)
    assert_close(zeroed, [[0.0, 0.2, 0.3, 0.4], [0.0, 0.6, 0.7, 0.8], [0.0, 1.0, 1.1, 1.2]])


def test_padding_alone_leaves_nothing():
    """Nobody is asked anything: zeros, and nothing that is almost zero."""
    zeroed = zero_pad_column_and_pad_token_rows(UNEVEN, torch.tensor([[2], [2], [2]]), pad_id=2)
    assert_equal(zeroed, expected=[[0.0] * 4] * 3)


def test_rows_run_through_one_sentence_after_the_other():
    """2 0 and 3 2 with padding id 0: row 1 is the pad, the second place of the first sentence."""
    targets = torch.tensor([[2, 0], [3, 2]])
    zeroed = zero_pad_column_and_pad_token_rows(torch.ones(4, 4), targets, pad_id=0)
    assert_close(zeroed, expected=[[0.0, 1, 1, 1], [0.0] * 4, [0.0, 1, 1, 1], [0.0, 1, 1, 1]])


def test_zeroed_entry_gets_no_gradient():
    """Targets 1 3 1 with padding id 3: slope 0 where a zero was put, 1 where nothing changed."""
    distribution = UNEVEN.clone().requires_grad_()
    targets = torch.tensor([[1, 3, 1]])
    zero_pad_column_and_pad_token_rows(distribution, targets, pad_id=3).sum().backward()
    assert_close(
        distribution.grad, expected=[[1.0, 1.0, 1.0, 0.0], [0.0] * 4, [1.0, 1.0, 1.0, 0.0]]
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """1/8 and 5/8 have few bits: the same numbers in every type."""
    distribution = torch.tensor([[0.125, 0.625, 0.125]], dtype=dtype)
    zeroed = zero_pad_column_and_pad_token_rows(distribution, torch.tensor([[1]]), pad_id=0)
    assert_close(zeroed, expected=[[0.0, 0.625, 0.125]])


@pytest.mark.parametrize("size", draw.sizes("batch length vocab"), ids=str)
def test_agrees_with_choosing_one_by_one(size):
    """Padding id 1: an entry stays where neither its row's target nor its column is 1."""
    targets = draw.token_ids(size.batch, size.length, vocab_size=size.vocab)
    drawn = draw.floats(size.batch * size.length, size.vocab)
    golds = targets.flatten().tolist()
    kept = [[float(gold != 1 and word != 1) for word in range(size.vocab)] for gold in golds]
    zeroed = zero_pad_column_and_pad_token_rows(drawn, targets, pad_id=1)
    assert_close(zeroed, expected=drawn.double() * torch.tensor(kept))
