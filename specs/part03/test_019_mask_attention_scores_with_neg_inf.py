"""019 · mask_attention_scores_with_neg_inf. Lesson: 019_mask_attention_scores_with_neg_inf.md."""

from math import inf, nan

import pytest
import torch

from kata.part03_attention import mask_attention_scores_with_neg_inf
from specs.harness import draw
from specs.harness.check import assert_close, rejects

SCORES = torch.tensor([[1.0, 2.0, 3.0]])
MASK = torch.tensor([[True, True, False]])


def test_hidden_score_becomes_minus_infinity():
    """1 and 2 may be heard and stay; 3 is hidden."""
    assert_close(mask_attention_scores_with_neg_inf(SCORES, MASK), expected=[[1.0, 2.0, -inf]])


def test_without_a_mask_nothing_is_hidden():
    """``None`` gives the scores back."""
    assert_close(mask_attention_scores_with_neg_inf(SCORES, None), expected=[[1.0, 2.0, 3.0]])


def test_visible_score_stays_however_low():
    """−20000 may be heard: a hidden key must not be louder than it."""
    scores = torch.tensor([[-20000.0, 0.0]])
    masked = mask_attention_scores_with_neg_inf(scores, torch.tensor([[True, False]]))
    assert_close(masked, expected=[[-20000.0, -inf]])


@pytest.mark.parametrize(
    ("score", "dtype"), [(1e38, torch.bfloat16), (1e300, torch.float64)], ids=str
)
def test_visible_score_stays_however_high(score, dtype):
    """float16 ends at 65504 and float32 at 3.4e38: these two fit neither, but their own type."""
    scores = torch.tensor([[score, 0.0]], dtype=dtype)
    masked = mask_attention_scores_with_neg_inf(scores, torch.tensor([[True, False]]))
    assert_close(masked, expected=[[score, -inf]])


def test_visible_nan_stays():
    """A NaN that may be heard is a mistake somewhere before: silence would hide it."""
    masked = mask_attention_scores_with_neg_inf(torch.tensor([[nan, 1.0, 2.0]]), MASK)
    assert_close(masked, expected=[[nan, 1.0, -inf]])


@pytest.mark.parametrize("score", [nan, inf, -inf, 30000.0], ids=str)
def test_what_stood_under_the_mask_is_gone(score):
    """Whatever the score, NaN too: hidden is −∞."""
    scores = torch.tensor([[score, 1.0]])
    masked = mask_attention_scores_with_neg_inf(scores, torch.tensor([[False, True]]))
    assert_close(masked, expected=[[-inf, 1.0]])


def test_each_query_hides_its_own_keys():
    """Query 0 sees the first key only, query 1 both."""
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    masked = mask_attention_scores_with_neg_inf(scores, torch.tensor([[True, False], [True, True]]))
    assert_close(masked, expected=[[1.0, -inf], [3.0, 4.0]])


def test_query_may_see_no_key():
    """All hidden: a row of −∞."""
    masked = mask_attention_scores_with_neg_inf(SCORES, torch.tensor([[False, False, False]]))
    assert_close(masked, expected=[[-inf, -inf, -inf]])


def test_one_row_serves_every_head_and_query():
    """A padding mask (2, 1, 1, 2) over scores (2, 1, 2, 2): each sentence loses its own column."""
    padding_mask = torch.tensor([[True, False], [True, True]])[:, None, None, :]
    masked = mask_attention_scores_with_neg_inf(torch.zeros(2, 1, 2, 2), padding_mask)
    assert_close(masked, expected=[[[[0.0, -inf], [0.0, -inf]]], [[[0.0, 0.0], [0.0, 0.0]]]])


def test_one_table_serves_every_sentence_and_head():
    """A mask (2, 2) over scores (2, 3, 2, 2): query 0 loses the second key, six times over."""
    masked = mask_attention_scores_with_neg_inf(
        torch.zeros(2, 3, 2, 2), torch.tensor([[True, False], [True, True]])
    )
    assert_close(masked, expected=torch.tensor([[0.0, -inf], [0.0, 0.0]]).expand(2, 3, 2, 2))


def test_axes_line_up_from_the_last():
    """Mask (2, 1, 2) over (1, 2, 1, 2): its first axis is the heads, and each hides one key."""
    mask = torch.tensor([[[True, False]], [[False, True]]])
    masked = mask_attention_scores_with_neg_inf(torch.zeros(1, 2, 1, 2), mask)
    assert_close(masked, expected=[[[[0.0, -inf]], [[-inf, 0.0]]]])


@pytest.mark.parametrize("hidden", [3.0, nan], ids=str)
def test_hidden_score_gets_no_gradient(hidden):
    """The −∞ does not depend on what stood there: gradient 0. A visible score is passed on: 1."""
    scores = torch.tensor([[1.0, 2.0, hidden]], requires_grad=True)
    masked = mask_attention_scores_with_neg_inf(scores, MASK)
    masked.backward(torch.ones(1, 3))
    assert_close(scores.grad, expected=[[1.0, 1.0, 0.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """float16 ends at 65504, but it has a −∞ of its own."""
    masked = mask_attention_scores_with_neg_inf(SCORES.to(dtype), MASK)
    assert_close(masked, expected=[[1.0, 2.0, -inf]])


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys"), ids=str)
def test_agrees_with_choosing_one_by_one(size):
    """The score where the mask is True, −∞ elsewhere."""
    scores = draw.floats(size.batch, size.heads, size.queries, size.keys)
    mask = draw.visible(size.batch, 1, size.queries, size.keys)
    expected = torch.where(mask, scores.double(), -inf)
    assert_close(mask_attention_scores_with_neg_inf(scores, mask), expected)


@pytest.mark.parametrize(
    "mask",
    [torch.tensor([[0.0, 0.0, -inf]]), torch.tensor([[1, 1, 0]]), MASK.to(torch.uint8)],
    ids=["added to the scores", "int64", "uint8"],
)
def test_mask_of_numbers_is_an_error(mask):
    """Is 0 hidden, or is 0 "add nothing"? The message asks for bool."""
    with rejects(TypeError, naming="bool"):
        mask_attention_scores_with_neg_inf(SCORES, mask)


@pytest.mark.parametrize("shape", [(4, 3), (5, 1, 3)], ids=str)
def test_mask_larger_than_the_scores_is_an_error(shape):
    """One query stays one query: a mask of four rows would make four of it."""
    with rejects(ValueError, naming=shape[0]):
        mask_attention_scores_with_neg_inf(SCORES, torch.ones(shape, dtype=torch.bool))
