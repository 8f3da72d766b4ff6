"""059 · set_confidence_on_gold_tokens. Lesson: 059_set_confidence_on_gold_tokens.md."""

import pytest
import torch

from kata.part08_objective import set_confidence_on_gold_tokens
from specs.harness import draw
from specs.harness.check import assert_close, rejects

EVEN = torch.full((2, 4), 0.1)
UNEVEN = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def test_two_tokens_by_hand():
    """Gold tokens 3 and 1 get 0.8 in their rows; 0.1 stays with the others."""
    distribution = set_confidence_on_gold_tokens(EVEN, torch.tensor([[3, 1]]), confidence=0.8)
    assert_close(distribution, expected=[[0.1, 0.1, 0.1, 0.8], [0.1, 0.8, 0.1, 0.1]])


def test_other_entries_stay_as_they_are():
    """Gold tokens 0 and 2 lose 0.1 and 0.6, whatever those were; no row is made to add up."""
    distribution = set_confidence_on_gold_tokens(UNEVEN, torch.tensor([[0, 2]]), confidence=0.9)
    assert_close(distribution, expected=[[0.9, 0.2, 0.3], [0.4, 0.5, 0.9]])


def test_rows_run_through_one_sentence_after_the_other():
    """0 1 and 2 0 are rows 0 1 2 0: sentence by sentence, not place by place."""
    targets = torch.tensor([[0, 1], [2, 0]])
    distribution = set_confidence_on_gold_tokens(torch.zeros(4, 3), targets, confidence=1.0)
    assert_close(distribution, expected=[[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])


def test_a_token_may_come_twice():
    """Twice the gold token 1, a row each."""
    distribution = set_confidence_on_gold_tokens(EVEN, torch.tensor([[1], [1]]), confidence=0.8)
    assert_close(distribution, expected=[[0.1, 0.8, 0.1, 0.1], [0.1, 0.8, 0.1, 0.1]])


def test_overwritten_entry_gets_no_gradient():
    """The 0.9 does not depend on what stood there: slope 0. The other entries pass theirs on: 1."""
    distribution = UNEVEN.clone().requires_grad_()
    set_confidence_on_gold_tokens(distribution, torch.tensor([[0, 2]]), 0.9).sum().backward()
    assert_close(distribution.grad, expected=[[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """1/8 and 5/8 have few bits: the same numbers in every type."""
    even = torch.full((1, 4), 0.125, dtype=dtype)
    distribution = set_confidence_on_gold_tokens(even, torch.tensor([[2]]), confidence=0.625)
    assert_close(distribution, expected=[[0.125, 0.125, 0.625, 0.125]])


def test_float64_is_float64_all_the_way():
    """0.9 to the last digit, and not only to the seventh."""
    even = torch.full((1, 3), 0.05, dtype=torch.float64)
    distribution = set_confidence_on_gold_tokens(even, torch.tensor([[1]]), confidence=0.9)
    assert_close(distribution, expected=[[0.05, 0.9, 0.05]])


@pytest.mark.parametrize("size", draw.sizes("batch length vocab"), ids=str)
def test_agrees_with_choosing_one_by_one(size):
    """The confidence where the word is the row's gold token, what stood there elsewhere."""
    targets = draw.token_ids(size.batch, size.length, vocab_size=size.vocab)
    drawn = draw.floats(size.batch * size.length, size.vocab)
    is_gold = torch.nn.functional.one_hot(targets.flatten(), size.vocab).bool()
    expected = torch.where(is_gold, 0.8, drawn.double())
    assert_close(set_confidence_on_gold_tokens(drawn, targets, confidence=0.8), expected)


@pytest.mark.parametrize("stray", [-1, 4, 70])
def test_gold_id_outside_the_vocabulary_is_an_error(stray):
    """Four words are 0, 1, 2 and 3: −1 is not the last one, and 4 is none."""
    with rejects(IndexError, naming=stray):
        set_confidence_on_gold_tokens(EVEN, torch.tensor([[3, stray]]), confidence=0.8)
