"""095 · compute_next_token_cross_entropy. Lesson: 095_compute_next_token_cross_entropy.md."""

from math import inf, log

import pytest
import torch
from torch.nn import functional

from kata.part13_decoder_only import compute_next_token_cross_entropy
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("cross_entropy", "nll_loss", "log_softmax")

PAD = 2
# The words' chances are 1 : 2 : 1 after the first word of a text, and 1 : 4 : 3 after the second.
# After the third nobody asks.
LOGITS = torch.tensor([[[0.0, log(2), 0.0], [0.0, log(4), log(3)], [9.0, 0.0, 0.0]]])


def test_three_words_by_hand():
    """0 is followed by 1, chance 1/2, and 1 by 0, chance 1/8: (ln 2 + 3 ln 2) / 2 = 2 ln 2."""
    loss = compute_next_token_cross_entropy(LOGITS, torch.tensor([[0, 1, 0]]), PAD)
    assert_close(loss, expected=2 * log(2))


def test_first_word_is_not_asked_for_and_last_logits_are_not_used():
    """Other first word, other last logits: still 2 ln 2."""
    logits = torch.cat([LOGITS[:, :2], -LOGITS[:, 2:]], dim=1)
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[1, 1, 0]]), PAD)
    assert_close(loss, expected=2 * log(2))


def test_copying_the_input_is_no_way_out():
    """20 for the very word that stands there: 0, 1, 2 in a row cost 20 a word, not 0."""
    logits = 20 * torch.eye(4)[None, :3]
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[0, 1, 2]]), pad_id=3)
    assert_close(loss, expected=20.0, atol=1e-6)


def test_padding_is_not_asked_for():
    """0, 1, padding: only the 1 counts, and the mean is over one word: ln 2."""
    loss = compute_next_token_cross_entropy(LOGITS, torch.tensor([[0, 1, PAD]]), PAD)
    assert_close(loss, expected=log(2))


def test_first_word_after_padding_is_asked_for():
    """Padding on the left: the word behind it is a target like any other, here 1, then 0."""
    loss = compute_next_token_cross_entropy(LOGITS, torch.tensor([[PAD, 1, 0]]), PAD)
    assert_close(loss, expected=2 * log(2))


def test_every_word_counts_the_same():
    """Two words cost ln 2 and 3 ln 2, one word ln 2: 5/3 ln 2 in one mean, not in two."""
    logits, ids = LOGITS.expand(2, 3, 3), torch.tensor([[0, 1, 0], [0, 1, PAD]])
    loss = compute_next_token_cross_entropy(logits, ids, PAD)
    assert_close(loss, expected=5 / 3 * log(2))


def test_loud_place_leaves_the_next_alone():
    """A word that is 1000 ahead costs 0, one of two equal words ln 2: (0 + ln 2) / 2."""
    logits = torch.tensor([[[1000.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[1, 0, 1]]), PAD)
    assert_close(loss, expected=log(2) / 2)


@pytest.mark.parametrize("ids", [[[0, PAD, PAD]], [[PAD, PAD, PAD]], [[0, PAD, PAD]] * 2], ids=str)
def test_nothing_to_predict_costs_nothing(ids):
    """0 for no word at all, not 0/0; and the gradient is 0."""
    logits = LOGITS.repeat(len(ids), 1, 1).requires_grad_()
    loss = compute_next_token_cross_entropy(logits, torch.tensor(ids), PAD)
    loss.backward()
    assert_close((loss, logits.grad), expected=(0.0, torch.zeros(len(ids), 3, 3)))


def test_one_word_alone_predicts_nothing():
    """Length 1: nothing comes next."""
    loss = compute_next_token_cross_entropy(LOGITS[:, :1], torch.tensor([[1]]), PAD)
    assert_close(loss, expected=0.0)


@pytest.mark.parametrize("pad_id", [-100, 0, 7])
def test_padding_may_be_any_id(pad_id):
    """−100 and 7 are no words of this vocabulary, and 0 is one: only what is after 1 counts."""
    logits = torch.tensor([[[0.0, log(3)], [0.0, log(4)], [1.0, 2.0]]])
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[1, 1, pad_id]]), pad_id)
    assert_close(loss, expected=log(4 / 3))


def test_word_that_is_ruled_out_at_padding_does_no_harm():
    """A model that never says padding: −∞ where padding is the target. Still ln 2."""
    logits = LOGITS.clone()
    logits[0, 1, PAD] = -inf
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[0, 1, PAD]]), PAD)
    assert_close(loss, expected=log(2))


def test_word_that_is_ruled_out_at_padding_has_gradient_zero():
    """Chances 1/4, 1/2, 1/4: the word asked for lacks 1/2. At padding there is nothing to learn."""
    logits = LOGITS.clone()
    logits[0, 1, PAD] = -inf
    logits.requires_grad_()
    compute_next_token_cross_entropy(logits, torch.tensor([[0, 1, PAD]]), PAD).backward()
    assert_close(logits.grad, expected=[[[1 / 4, -1 / 2, 1 / 4], [0.0] * 3, [0.0] * 3]])


def test_gradient_is_shared_among_the_words():
    """Two words: half of (1/4, −1/2, 1/4), and half of (−7/8, 4/8, 3/8)."""
    logits = LOGITS.clone().requires_grad_()
    compute_next_token_cross_entropy(logits, torch.tensor([[0, 1, 0]]), PAD).backward()
    expected = [[[1 / 8, -1 / 4, 1 / 8], [-7 / 16, 1 / 4, 3 / 16], [0.0, 0.0, 0.0]]]
    assert_close(logits.grad, expected)


@pytest.mark.parametrize("shift", [0.0, 5000.0, -5000.0])
def test_hopeless_word_keeps_its_price(shift):
    """1000 behind the best: e^−1000 is 0 in every float, and costs 1000 all the same."""
    logits = torch.tensor([[[0.0, -1000.0], [0.0, 0.0]]]) + shift
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[0, 1]]), PAD)
    assert_close(loss, expected=1000.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_halves_are_computed_and_returned_in_float32(dtype):
    """3000 equal chances cost ln 3000 = 8.006; above 8 a bfloat16 knows only sixteenths."""
    logits = torch.zeros(1, 2, 3000, dtype=dtype)
    loss = compute_next_token_cross_entropy(logits, torch.tensor([[5, 7]]), PAD)
    assert loss.dtype == torch.float32, f"half logits give a float32 loss, not {loss.dtype}"
    assert_close(loss, expected=log(3000))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_many_halves_are_not_lost_in_the_sum(dtype):
    """400 words at ln 2 each: the mean is ln 2, to six digits."""
    logits, ids = torch.zeros(1, 401, 2, dtype=dtype), torch.ones(1, 401, dtype=torch.int64)
    loss = compute_next_token_cross_entropy(logits, ids, PAD)
    assert_close(loss, expected=log(2))


@pytest.mark.parametrize("size", draw.sizes("batch length vocab", count=6), ids=str)
def test_agrees_with_torch(size):
    """F.cross_entropy in float64, the shift done outside; about half of the places are padding."""
    logits = 3 * draw.floats(size.batch, size.length + 1, size.vocab)
    ids = draw.token_ids(size.batch, size.length + 1, vocab_size=size.vocab)
    ids[:, 1:] = ids[:, 1:].where(draw.visible(size.batch, size.length), -1)
    loss = compute_next_token_cross_entropy(logits, ids, pad_id=-1)
    rows, targets = logits[:, :-1].double().flatten(0, 1), ids[:, 1:].flatten()
    assert_close(loss, functional.cross_entropy(rows, targets, ignore_index=-1))
