"""036 · layer_norm. Lesson: 036_layer_norm.md."""

import pytest
import torch
from torch.nn import functional

from kata.part05_sublayers import layer_norm
from kata.weights import LayerNormWeights
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("layer_norm",)

WEIGHTS = LayerNormWeights(gain=torch.tensor([4.0, 8.0]), bias=torch.tensor([10.0, 20.0]))
PLAIN = LayerNormWeights(gain=torch.ones(2), bias=torch.zeros(2))


def test_two_features_by_hand():
    """7 and 1 with ε = 7 are ±3/4 (035); then 4 · 3/4 + 10 = 13 and 8 · (−3/4) + 20 = 14."""
    assert_close(layer_norm(torch.tensor([[7.0, 1.0]]), WEIGHTS, eps=7.0), expected=[[13.0, 14.0]])


def test_gain_and_bias_belong_to_features():
    """As many tokens as features: −3, 3 gives 4 · (−3/4) + 10 = 7 and 8 · 3/4 + 20 = 26."""
    x = torch.tensor([[[7.0, 1.0], [-3.0, 3.0]]])
    assert_close(layer_norm(x, WEIGHTS, eps=7.0), expected=[[[13.0, 14.0], [7.0, 26.0]]])


def test_epsilon_is_a_hundred_thousandth_by_default():
    """±0.0015 are ±3/7, as in 035."""
    answer = layer_norm(torch.tensor([[0.0015, -0.0015]]), PLAIN)
    assert_close(answer, expected=[[3 / 7, -3 / 7]])


def test_constant_row_leaves_the_bias():
    """5 and 5 do not deviate: 0 times the gain, plus 10 and 20."""
    assert_close(layer_norm(torch.tensor([[5.0, 5.0]]), WEIGHTS), expected=[[10.0, 20.0]])


def test_gain_of_zero_switches_a_feature_off():
    """Gain 0 and bias 0 make 0 of ±3/4. The model may unlearn a feature."""
    weights = LayerNormWeights(gain=torch.tensor([0.0, 2.0]), bias=torch.zeros(2))
    answer = layer_norm(torch.tensor([[7.0, 1.0]]), weights, eps=7.0)
    assert_close(answer, expected=[[0.0, -1.5]])


def test_gain_learns_the_normalized_numbers():
    """Tokens 7, 1 and 1, 7 with gradients 1 and 2: 3/4 − 2 · 3/4 and −3/4 + 2 · 3/4."""
    weights = WEIGHTS._replace(gain=WEIGHTS.gain.clone().requires_grad_())
    answer = layer_norm(torch.tensor([[7.0, 1.0], [1.0, 7.0]]), weights, eps=7.0)
    answer.backward(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    assert_close(weights.gain.grad, expected=[-0.75, 0.75])


def test_bias_learns_the_sum_over_tokens():
    """Gradients 1 and 2 at two tokens: 3 for each feature."""
    weights = WEIGHTS._replace(bias=WEIGHTS.bias.clone().requires_grad_())
    answer = layer_norm(torch.tensor([[7.0, 1.0], [1.0, 7.0]]), weights, eps=7.0)
    answer.backward(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    assert_close(weights.bias.grad, expected=[3.0, 3.0])


@pytest.mark.parametrize("shape", [(1,), (2,), (4,), (1, 3), (5, 3), ()], ids=str)
def test_gain_of_another_shape_is_an_error(shape):
    """For width 3 only a gain of shape (3,) will do, even where torch would broadcast."""
    with rejects(ValueError, naming=shape):
        layer_norm(torch.ones(5, 3), LayerNormWeights(torch.ones(shape), torch.zeros(3)))


@pytest.mark.parametrize("shape", [(1,), (2,), (4,), (1, 3), (5, 3), ()], ids=str)
def test_bias_of_another_shape_is_an_error(shape):
    """The same for the bias."""
    with rejects(ValueError, naming=shape):
        layer_norm(torch.ones(5, 3), LayerNormWeights(torch.ones(3), torch.zeros(shape)))


@pytest.mark.parametrize(
    ("dtype", "start"), [(torch.float16, 2048.0), (torch.bfloat16, 256.0)], ids=str
)
def test_half_precision(dtype, start):
    """n and n + 2, whose mean this type does not have, are −1 and 1: −4 + 10 = 6, 8 + 20 = 28."""
    weights = LayerNormWeights(WEIGHTS.gain.to(dtype), WEIGHTS.bias.to(dtype))
    answer = layer_norm(torch.tensor([[start, start + 2]], dtype=dtype), weights)
    assert_close(answer, expected=[[6.0, 28.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_result_has_the_dtype_of_x(dtype):
    """Gain and bias are wider than x: 7 and 1 with ε = 7 make 13 and 14 all the same, as halves."""
    answer = layer_norm(torch.tensor([[7.0, 1.0]], dtype=dtype), WEIGHTS, eps=7.0)
    assert_close(answer, expected=torch.tensor([[13.0, 14.0]], dtype=dtype))


@pytest.mark.parametrize("size", draw.sizes("batch length d_model", count=6), ids=str)
def test_equals_torch(size):
    """F.layer_norm in float64, with gains that are not 1 and biases that are not 0."""
    x = 2 * draw.floats(size.batch, size.length, size.d_model) + 0.5
    gain, bias = draw.floats(size.d_model, seed=1), draw.floats(size.d_model, seed=2)
    expected = functional.layer_norm(x.double(), (size.d_model,), gain.double(), bias.double())
    assert_close(layer_norm(x, LayerNormWeights(gain, bias)), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", draw.sizes("batch length d_model"), ids=str)
def test_equals_torch_in_half_precision(size, dtype):
    """F.layer_norm on the very same halves."""
    x = draw.floats(size.batch, size.length, size.d_model).to(dtype)
    gain, bias = (draw.floats(size.d_model, seed=seed).to(dtype) for seed in (1, 2))
    expected = functional.layer_norm(x, (size.d_model,), gain, bias)
    rounding = 8 * torch.finfo(dtype).eps  # rounded after each operation is fair too
    assert_close(layer_norm(x, LayerNormWeights(gain, bias)), expected, atol=rounding)
