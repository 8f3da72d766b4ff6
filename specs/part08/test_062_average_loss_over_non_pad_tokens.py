"""062 · average_loss_over_non_pad_tokens. Lesson: 062_average_loss_over_non_pad_tokens.md."""

from math import isfinite

import pytest
import torch

from kata.part08_objective import average_loss_over_non_pad_tokens
from specs.harness import draw
from specs.harness.check import assert_close

FREE_GRADIENTS = ("total_loss",)  # over padding alone it may be 0 or 1; tests ask for the rest

SIX = torch.tensor(6.0)


def test_three_words_by_hand():
    """5 6 0 and 7 0 0 hold three words and three pads: 6 / 3 = 2."""
    targets = torch.tensor([[5, 6, 0], [7, 0, 0]])
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=0), expected=2.0)


def test_without_padding_every_token_counts():
    """Six tokens: 6 / 6 = 1."""
    targets = torch.tensor([[5, 6, 2], [7, 8, 2]])
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=0), expected=1.0)


def test_end_token_counts():
    """5 2 0 0 with end token 2: knowing when to stop is asked for too, 6 / 2 = 3."""
    targets = torch.tensor([[5, 2, 0, 0]])
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=0), expected=3.0)


@pytest.mark.parametrize(("pad_id", "mean"), [(0, 1.2), (3, 1.5), (9, 2.0), (-100, 1.0)])
def test_padding_id_is_the_one_given(pad_id, mean):
    """Six tokens, of which one, two, three or none are padding: 6 / 5, 6 / 4, 6 / 3 and 6 / 6."""
    targets = torch.tensor([[0, 3, 3, 9, 9, 9]])
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id), expected=mean)


def test_single_word():
    """One word among pads: it bears the whole loss."""
    targets = torch.tensor([[0, 0], [5, 0]])
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=0), expected=6.0)


def test_mean_need_not_be_whole():
    """7 / 2 = 3.5."""
    targets = torch.tensor([[5, 2]])
    mean = average_loss_over_non_pad_tokens(torch.tensor(7.0), targets, pad_id=0)
    assert_close(mean, expected=3.5)


def test_every_token_of_a_large_batch_counts():
    """301 tokens: no byte counts so far, and bfloat16 counts on from 300 to 302."""
    targets = torch.full((1, 301), 5)
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=0), expected=6 / 301)


def test_padding_alone_loses_nothing():
    """Nobody was asked, so the total is 0: 0 and not 0 / 0."""
    targets = torch.tensor([[0, 0], [0, 0]])
    mean = average_loss_over_non_pad_tokens(torch.tensor(0.0), targets, pad_id=0)
    assert_close(mean, expected=0.0)


def test_padding_alone_breaks_no_gradient():
    """What is sent back is a number: NaN or infinity would be in every weight at once."""
    total = torch.tensor(0.0, requires_grad=True)
    average_loss_over_non_pad_tokens(total, torch.tensor([[0, 0]]), pad_id=0).backward()
    assert isfinite(total.grad), "over padding alone the gradient is not finite"


def test_gradient_is_shared_out_as_the_loss_is():
    """Three words: the total's slope is 1/3."""
    total = torch.tensor(6.0, requires_grad=True)
    targets = torch.tensor([[5, 6, 0], [7, 0, 0]])
    average_loss_over_non_pad_tokens(total, targets, pad_id=0).backward()
    assert_close(total.grad, expected=1 / 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """7 / 4 = 1.75 in every type, and the type stays."""
    total = torch.tensor(7.0, dtype=dtype)
    mean = average_loss_over_non_pad_tokens(total, torch.tensor([[5, 6, 7, 2, 0]]), pad_id=0)
    assert_close(mean, expected=1.75)


@pytest.mark.parametrize("size", draw.sizes("batch length"), ids=str)
def test_agrees_with_counting_one_by_one(size):
    """Ids 0, 1 and 2 with padding id 1, and one word more, so that somebody is there."""
    drawn = draw.token_ids(size.batch, size.length, vocab_size=3)
    targets = torch.cat((drawn, torch.full((size.batch, 1), 2)), dim=1)
    words = sum(token != 1 for row in targets.tolist() for token in row)
    assert_close(average_loss_over_non_pad_tokens(SIX, targets, pad_id=1), expected=6 / words)
