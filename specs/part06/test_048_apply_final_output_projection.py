"""048 · apply_final_output_projection. Lesson: 048_apply_final_output_projection.md."""

import pytest
import torch

from kata.part06_transformer import apply_final_output_projection
from kata.weights import LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close, rejects

# A vocabulary of three: the first likes feature 0, the second dislikes it, the third likes both.
WORDS = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [2.0, 1.0]])
X = torch.tensor([[[3.0, 4.0], [0.0, -2.0]]])


def test_two_positions_by_hand():
    """(3, 4) scores 3, −3 and 2 · 3 + 4 = 10; (0, −2) scores 0, 0 and −2."""
    logits = apply_final_output_projection(X, LinearWeights(WORDS))
    assert_close(logits, expected=[[[3.0, -3.0, 10.0], [0.0, 0.0, -2.0]]])


def test_each_word_may_have_a_bias():
    """Words that are frequent anyway: 10, 20 and 30 more, at every position."""
    projection = LinearWeights(WORDS, torch.tensor([10.0, 20.0, 30.0]))
    logits = apply_final_output_projection(X, projection)
    assert_close(logits, expected=[[[13.0, 17.0, 40.0], [10.0, 20.0, 28.0]]])


def test_as_many_words_as_features():
    """A square table is not turned on its side: (1, 10) scores 1 + 20 and 3 + 40."""
    square = LinearWeights(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    logits = apply_final_output_projection(torch.tensor([[[1.0, 10.0]]]), square)
    assert_close(logits, expected=[[[21.0, 43.0]]])


def test_a_score_may_be_of_any_size():
    """1000 · 1 and 1000 · −1: nothing is cut off."""
    words = LinearWeights(torch.tensor([[1.0], [-1.0]]))
    logits = apply_final_output_projection(torch.tensor([[[1000.0]]]), words)
    assert_close(logits, expected=[[[1000.0, -1000.0]]])


def test_a_bias_that_is_not_one_number_for_each_word_is_an_error():
    """Three rows of three would make three sentences of one."""
    with rejects(ValueError, naming=(3, 1, 3)):
        apply_final_output_projection(X, LinearWeights(WORDS, torch.zeros(3, 1, 3)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    logits = apply_final_output_projection(X.to(dtype), LinearWeights(WORDS.to(dtype)))
    assert_close(logits, expected=[[[3.0, -3.0, 10.0], [0.0, 0.0, -2.0]]])


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("size", draw.sizes("batch length d_model vocab", count=4), ids=str)
def test_agrees_with_torch(size, bias):
    """F.linear, in float64."""
    x = draw.floats(size.batch, size.length, size.d_model)
    projection = draw_weights.output_projection(size.vocab, size.d_model, bias=bias)
    logits = apply_final_output_projection(x, projection)
    assert_close(logits, torch_layers.linear(x, projection))
