"""050 · apply_log_softmax_over_vocab. Lesson: 050_apply_log_softmax_over_vocab.md."""

from math import inf, log

import pytest
import torch
from torch.nn import functional

from kata.part06_transformer import apply_log_softmax_over_vocab
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("log_softmax", "softmax", "logsumexp", "cross_entropy")

COARSE = 1e-3  # float32 numbers near 10⁴ are 0.001 apart


def test_two_words_by_hand():
    """e⁰ = 1 and e^(ln 3) = 3, shares of 4: the logarithms of 1/4 and 3/4."""
    log_probs = apply_log_softmax_over_vocab(torch.tensor([[[0.0, log(3)]]]))
    assert_close(log_probs, expected=[[[log(1 / 4), log(3 / 4)]]])


def test_every_position_has_its_own_shares():
    """(0, ln 3), (0, 0) and (ln 4, 0): 1 to 3, 1 to 1 and 4 to 1, each row by itself."""
    logits = torch.tensor([[[0.0, log(3)], [0.0, 0.0]], [[log(4), 0.0], [0.0, log(3)]]])
    assert_close(
        apply_log_softmax_over_vocab(logits),
        expected=[
            [[log(1 / 4), log(3 / 4)], [log(1 / 2), log(1 / 2)]],
            [[log(4 / 5), log(1 / 5)], [log(1 / 4), log(3 / 4)]],
        ],
    )


@pytest.mark.parametrize("shift", [1e4, -1e4])
def test_scores_far_from_zero_are_safe(shift):
    """Two equal scores are halves wherever they stand; e^10000 is more than a float can hold."""
    log_probs = apply_log_softmax_over_vocab(torch.full((1, 1, 2), shift))
    assert_close(log_probs, expected=[[[log(1 / 2), log(1 / 2)]]], atol=COARSE)


def test_a_hopeless_word_keeps_its_score():
    """Scores 0 and −5000: e^−5000 is 0 in every float, and its logarithm is −5000 all the same."""
    log_probs = apply_log_softmax_over_vocab(torch.tensor([[[0.0, -5000.0]]]))
    assert_close(log_probs, expected=[[[0.0, -5000.0]]])


def test_one_position_does_not_drown_another():
    """A row of thousands beside a row of (0, ln 3): the quiet row keeps its quarters."""
    log_probs = apply_log_softmax_over_vocab(torch.tensor([[[5000.0, 5000.0], [0.0, log(3)]]]))
    expected = [[[log(1 / 2), log(1 / 2)], [log(1 / 4), log(3 / 4)]]]
    assert_close(log_probs, expected, atol=COARSE)


def test_a_word_that_is_ruled_out():
    """A logit of −∞ is a probability of 0, and takes nothing from the others."""
    log_probs = apply_log_softmax_over_vocab(torch.tensor([[[0.0, -inf, log(3)]]]))
    assert_close(log_probs, expected=[[[log(1 / 4), -inf, log(3 / 4)]]])


def test_a_vocabulary_of_one_word():
    """It is certain: log 1 = 0."""
    assert_close(apply_log_softmax_over_vocab(torch.tensor([[[7.0]]])), expected=[[[0.0]]])


def test_gradient_by_hand():
    """For the first word: 1 − 1/4 for its own score, and −3/4 for the other's."""
    logits = torch.tensor([[[0.0, log(3)]]], requires_grad=True)
    apply_log_softmax_over_vocab(logits)[0, 0, 0].backward()
    assert_close(logits.grad, expected=[[[3 / 4, -3 / 4]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """Four equal scores of 12: quarters, though no float16 can hold e¹² = 162755."""
    log_probs = apply_log_softmax_over_vocab(torch.full((1, 1, 4), 12.0, dtype=dtype))
    assert_close(log_probs, expected=[[[log(1 / 4)] * 4]])


@pytest.mark.parametrize("size", draw.sizes("batch length vocab", count=6), ids=str)
def test_agrees_with_torch(size):
    """F.log_softmax, in float64."""
    logits = 5 * draw.floats(size.batch, size.length, size.vocab)
    expected = functional.log_softmax(logits.double(), dim=-1)
    assert_close(apply_log_softmax_over_vocab(logits), expected)
