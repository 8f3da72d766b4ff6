"""020 · softmax_attention_weights. Lesson: 020_softmax_attention_weights.md."""

from math import inf, log

import pytest
import torch

from kata.part03_attention import softmax_attention_weights
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("softmax",)

PRECISIONS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def test_three_keys_by_hand():
    """exp(ln 1), exp(ln 2) and exp(ln 5) are 1, 2 and 5: shares of 8."""
    weights = softmax_attention_weights(torch.tensor([[log(1), log(2), log(5)]]))
    assert_close(weights, expected=[[0.125, 0.25, 0.625]])


def test_each_query_shares_out_one_whole():
    """Rows ln 3, 0 and 0, 0 become 3/4, 1/4 and 1/2, 1/2: each row adds up to 1."""
    weights = softmax_attention_weights(torch.tensor([[log(3), 0.0], [0.0, 0.0]]))
    assert_close(weights, expected=[[0.75, 0.25], [0.5, 0.5]])


def test_each_head_shares_out_one_whole():
    """Two heads, one query, two keys: no head takes from the other."""
    weights = softmax_attention_weights(torch.tensor([[[log(3), 0.0]], [[0.0, 0.0]]]))
    assert_close(weights, expected=[[[0.75, 0.25]], [[0.5, 0.5]]])


def test_only_key_gets_everything():
    """One key, whatever its score: weight 1."""
    assert_close(softmax_attention_weights(torch.tensor([[-7.0]])), expected=[[1.0]])


def test_hidden_key_gets_nothing():
    """exp(−∞) = 0: the two keys left are equal and share the whole."""
    assert_close(softmax_attention_weights(torch.tensor([[0.0, 0.0, -inf]])), [[0.5, 0.5, 0.0]])


@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_huge_scores(dtype):
    """exp(10000) is too large for any type; the two loudest still share, the third gets 0."""
    scores = torch.tensor([[1e4, 1e4, -1e4]], dtype=dtype)
    assert_close(softmax_attention_weights(scores), expected=[[0.5, 0.5, 0.0]])


@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_scores_far_below_zero(dtype):
    """exp(−10000) is 0 in every type; but equal scores are equal shares."""
    scores = torch.tensor([[-1e4, -1e4]], dtype=dtype)
    assert_close(softmax_attention_weights(scores), expected=[[0.5, 0.5]])


def test_loud_query_does_not_drown_a_quiet_one():
    """Each row is measured by its own loudest key, not by the loudest of all."""
    weights = softmax_attention_weights(torch.tensor([[1e4, 1e4], [-1e4, -1e4]]))
    assert_close(weights, expected=[[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize("dtype", PRECISIONS, ids=str)
def test_query_that_sees_no_key_gets_zeros(dtype):
    """All −∞: nothing to share, and no NaN. The row beside it is as ever."""
    scores = torch.tensor([[-inf, -inf], [0.0, 0.0]], dtype=dtype)
    assert_close(softmax_attention_weights(scores), expected=[[0.0, 0.0], [0.5, 0.5]])


def test_query_that_sees_no_key_has_gradient_zero():
    """Zeros that never change: gradient 0, not NaN. Beside it w₀(1 − w₀) = 1/4 and −w₀w₁ = −1/4."""
    scores = torch.tensor([[-inf, -inf], [0.0, 0.0]], requires_grad=True)
    softmax_attention_weights(scores)[:, 0].sum().backward()
    assert_close(scores.grad, expected=[[0.0, 0.0], [0.25, -0.25]])


def test_gradient_by_hand():
    """Weights 3/4 and 1/4: the first one's slopes are 3/4 · 1/4 and −3/4 · 1/4."""
    scores = torch.tensor([[log(3), 0.0]], requires_grad=True)
    softmax_attention_weights(scores)[0, 0].backward()
    assert_close(scores.grad, expected=[[0.1875, -0.1875]])


def test_every_digit_of_float64_counts():
    """Ten equal scores: a tenth each, to the last digits."""
    weights = softmax_attention_weights(torch.zeros(1, 10, dtype=torch.float64))
    assert_close(weights, expected=[[0.1] * 10])


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys"), ids=str)
def test_agrees_with_torch(size):
    """``torch.softmax`` over the keys in float64, some keys hidden but never all."""
    mask = draw.visible(size.batch, size.heads, size.queries, size.keys)
    scores = 3 * draw.floats(size.batch, size.heads, size.queries, size.keys)
    scores = scores.masked_fill(~mask, -inf)
    expected = torch.softmax(scores.double(), dim=-1)
    assert_close(softmax_attention_weights(scores), expected)
