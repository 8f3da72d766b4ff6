"""058 · build_uniform_smoothing_distribution.

Lesson: 058_build_uniform_smoothing_distribution.md.
"""

import pytest
import torch

from kata.part08_objective import build_uniform_smoothing_distribution
from specs.harness import draw
from specs.harness.check import assert_close, rejects

TARGETS = torch.tensor([[3, 4]])


def test_two_tokens_by_hand():
    """Five words, ε = 0.3: gold and padding get no part of it, so 0.3 / 3 = 0.1 each."""
    distribution = build_uniform_smoothing_distribution(TARGETS, vocab_size=5, smoothing=0.3)
    assert_close(distribution, expected=[[0.1] * 5, [0.1] * 5])


def test_three_words_leave_one_to_share():
    """V = 3: besides gold and padding there is one word, and it gets all of 0.25."""
    distribution = build_uniform_smoothing_distribution(TARGETS, vocab_size=3, smoothing=0.25)
    assert_close(distribution, expected=[[0.25] * 3, [0.25] * 3])


def test_without_smoothing_there_is_nothing_to_share():
    """ε = 0: all belief will go to the gold token."""
    distribution = build_uniform_smoothing_distribution(TARGETS, vocab_size=4, smoothing=0.0)
    assert_close(distribution, expected=[[0.0] * 4, [0.0] * 4])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_type_is_the_one_asked_for(dtype):
    """0.5 / 4 = 1/8 has few bits, so it is the same number in every type."""
    distribution = build_uniform_smoothing_distribution(TARGETS, 6, smoothing=0.5, dtype=dtype)
    assert_close(distribution, expected=[[0.125] * 6, [0.125] * 6])


def test_float64_is_float64_all_the_way():
    """0.1 / 3, to the last digit and not only to the seventh."""
    distribution = build_uniform_smoothing_distribution(TARGETS, 5, 0.1, dtype=torch.float64)
    assert_close(distribution, expected=[[0.1 / 3] * 5, [0.1 / 3] * 5])


@pytest.mark.parametrize("size", draw.sizes("batch length vocab", vocab=7), ids=str)
def test_every_token_has_its_row(size):
    """B sentences of T tokens are B · T rows, padding included: 0.4 / 5 = 0.08 everywhere."""
    targets = draw.token_ids(size.batch, size.length, vocab_size=size.vocab)
    distribution = build_uniform_smoothing_distribution(targets, size.vocab, smoothing=0.4)
    assert_close(distribution, expected=[[0.08] * 7] * (size.batch * size.length))


@pytest.mark.parametrize("vocab_size", [2, 1, 0])
def test_too_few_words_are_an_error(vocab_size):
    """Gold and padding are two: with two words, 0.1 would be divided by 0."""
    with rejects(ValueError, naming=vocab_size):
        build_uniform_smoothing_distribution(TARGETS, vocab_size, smoothing=0.1)


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, 1.5])
def test_smoothing_outside_its_range_is_an_error(smoothing):
    """1 would leave nothing for the gold token, −0.1 would owe something to all the others."""
    with rejects(ValueError, naming=smoothing):
        build_uniform_smoothing_distribution(TARGETS, vocab_size=5, smoothing=smoothing)
