"""063 · compute_token_accuracy_ignoring_pad. Lesson: 063_compute_token_accuracy_ignoring_pad.md."""

from math import inf, log

import pytest
import torch
from torch.nn import functional

from kata.part08_objective import compute_token_accuracy_ignoring_pad
from specs.harness import draw
from specs.harness.check import assert_close


def guessing(*rows):
    """Log-probabilities over ten words of a model whose best guesses are these."""
    return (functional.one_hot(torch.tensor(rows), 10) * 2.0).log_softmax(dim=-1)


def test_one_of_two_words_by_hand():
    """5 is guessed and 6 is not. The two pads were not asked: 1/2, not 3/4."""
    targets = torch.tensor([[5, 6, 0, 0]])
    accuracy = compute_token_accuracy_ignoring_pad(guessing([5, 9, 0, 0]), targets, pad_id=0)
    assert_close(accuracy, expected=0.5)


def test_highest_log_probability_is_the_guess():
    """0.2, 0.5 and 0.3: the guess is word 1, then word 2. The targets are 1 and 0."""
    log_probs = torch.tensor([[[log(0.2), log(0.5), log(0.3)], [log(0.2), log(0.3), log(0.5)]]])
    accuracy = compute_token_accuracy_ignoring_pad(log_probs, torch.tensor([[1, 0]]), pad_id=9)
    assert_close(accuracy, expected=0.5)


def test_guess_under_a_pad_does_not_matter():
    """One word, guessed; what the model says about the three pads is never looked at."""
    targets = torch.tensor([[5, 0, 0, 0]])
    accuracy = compute_token_accuracy_ignoring_pad(guessing([5, 7, 0, 3]), targets, pad_id=0)
    assert_close(accuracy, expected=1.0)


def test_guessing_padding_for_a_word_is_a_miss():
    """Two words, one called a pad: 1/2. To say "padding" is no way out."""
    targets = torch.tensor([[5, 6]])
    accuracy = compute_token_accuracy_ignoring_pad(guessing([5, 0]), targets, pad_id=0)
    assert_close(accuracy, expected=0.5)


def test_padding_id_is_the_one_given():
    """With padding id 6 the word 0 counts, and is missed: one of three."""
    targets = torch.tensor([[5, 0, 2, 6]])
    accuracy = compute_token_accuracy_ignoring_pad(guessing([5, 1, 1, 6]), targets, pad_id=6)
    assert_close(accuracy, expected=1 / 3, rtol=1e-6)  # a share kept in float32 is fair


def test_every_word_counts_the_same():
    """Three words, guessed, and one, missed: 3/4. The mean of the sentences would be 1/2."""
    targets = torch.tensor([[5, 6, 7], [8, 0, 0]])
    log_probs = guessing([5, 6, 7], [9, 0, 0])
    assert_close(compute_token_accuracy_ignoring_pad(log_probs, targets, pad_id=0), expected=0.75)


@pytest.mark.parametrize(("guess", "accuracy"), [(5, 1.0), (6, 0.0)], ids=["hit", "miss"])
def test_single_word(guess, accuracy):
    """All or nothing."""
    answer = compute_token_accuracy_ignoring_pad(guessing([guess]), torch.tensor([[5]]), pad_id=0)
    assert_close(answer, expected=accuracy)


def test_padding_alone_scores_zero():
    """Nobody was asked: 0, not 0 / 0, and not 1 because the pads were guessed."""
    targets = torch.tensor([[0, 0], [0, 0]])
    log_probs = guessing([0, 0], [0, 3])
    assert_close(compute_token_accuracy_ignoring_pad(log_probs, targets, pad_id=0), expected=0.0)


def test_impossible_words_are_no_trouble():
    """A model may be certain: 0 for its guess, −∞ for the rest."""
    log_probs = torch.tensor([[[-inf, 0.0], [0.0, -inf]]])
    accuracy = compute_token_accuracy_ignoring_pad(log_probs, torch.tensor([[1, 1]]), pad_id=0)
    assert_close(accuracy, expected=0.5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Guesses are the same in every type; the answer is a plain float."""
    targets = torch.tensor([[5, 6, 0, 0]])
    log_probs = guessing([5, 9, 0, 0]).to(dtype)
    assert_close(compute_token_accuracy_ignoring_pad(log_probs, targets, pad_id=0), expected=0.5)


@pytest.mark.parametrize("size", draw.sizes("batch length vocab", vocab=3), ids=str)
def test_agrees_with_counting_one_by_one(size):
    """Three words, one of them padding, so that about a third of the guesses hit."""
    log_probs = draw.floats(size.batch, size.length, size.vocab)
    targets = draw.token_ids(size.batch, size.length, vocab_size=size.vocab)
    pairs = zip(log_probs.flatten(0, 1).tolist(), targets.flatten().tolist(), strict=True)
    hits = [row.index(max(row)) == gold for row, gold in pairs if gold != 1]
    accuracy = compute_token_accuracy_ignoring_pad(log_probs, targets, pad_id=1)
    assert_close(accuracy, expected=sum(hits) / max(len(hits), 1), rtol=1e-6)
