"""042 · stack_encoder_layers. Lesson: 042_stack_encoder_layers.md."""

from functools import reduce

import pytest
import torch

from kata.part06_transformer import stack_encoder_layers
from kata.weights import (
    AttentionWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close
from specs.harness.dropped import distinct_rows


def quiet_layer(gain, bias):
    """Build a layer whose sub-layers have nothing to add, so that its two norms speak alone."""
    nothing = LinearWeights(torch.zeros(4, 4))
    return EncoderLayerWeights(
        self_attention=AttentionWeights(nothing, nothing, nothing, nothing),
        self_attention_norm=LayerNormWeights(torch.full((4,), 1000.0), torch.zeros(4)),
        feed_forward=FeedForwardWeights(nothing, nothing),
        feed_forward_norm=LayerNormWeights(torch.full((4,), gain), torch.tensor(bias)),
    )


def only_the_norms(x, layers):
    """Apply the two norms of each layer, one after the other."""
    norms = [(layer.self_attention_norm, layer.feed_forward_norm) for layer in layers]
    return reduce(torch_layers.norm, sum(norms, ()), x)


# In thousands, so that the norm's ε = 10⁻⁵ does not show.
X = torch.tensor([[[7000.0, 1000.0, 1000.0, -1000.0]]])
FIRST = quiet_layer(gain=3000.0, bias=[-6000.0, 6000.0, -2000.0, 2000.0])
SECOND = quiet_layer(gain=3.0, bias=[10.0, 20.0, 30.0, 40.0])
ALONE = torch.ones(1, 1, 1, 1, dtype=torch.bool)


def test_two_layers_by_hand():
    """(7, 1, 1, −1) has mean 2, deviation 3: the first layer makes (5, −1, −1, −3) of it.

    Its bias (−6, 6, −2, 2) makes (−1, 5, −3, −1), normed already; the second adds (10, 20, 30, 40).
    """
    output = stack_encoder_layers(X, (FIRST, SECOND), 2, ALONE)
    assert_close(output, expected=[[[9.0, 25.0, 27.0, 39.0]]])


def test_the_order_of_the_layers_counts():
    """The other way round: (5, −1, −1, −3) + (10, 20, 30, 40), then the first layer's norms."""
    output = stack_encoder_layers(X, (SECOND, FIRST), 2, ALONE)
    between = torch.tensor([[[15.0, 19.0, 29.0, 37.0]]])
    assert_close(output, only_the_norms(between, [FIRST]))


def test_one_layer_alone():
    """(5, −1, −1, −3) + (10, 20, 30, 40)."""
    output = stack_encoder_layers(X, (SECOND,), 2, ALONE)
    assert_close(output, expected=[[[15.0, 19.0, 29.0, 37.0]]])


def test_seven_floors_are_seven():
    """The first layer six times, and the second: one that stands there again works again."""
    layers = (FIRST,) * 6 + (SECOND,)
    assert_close(stack_encoder_layers(X, layers, 2, ALONE), only_the_norms(X, layers))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    layers = draw_weights.cast((FIRST, SECOND), dtype)
    output = stack_encoder_layers(X.to(dtype), layers, 2, ALONE)
    assert_close(output, expected=[[[9.0, 25.0, 27.0, 39.0]]])


AGREED = {torch.float32: 1e-5, torch.float64: 1e-10}
SIZES = draw.sizes("layers batch heads length d_k d_ff", count=4, layers=3)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size):
    """nn.TransformerEncoder with norm=None, post-norm, every layer with weights of its own."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.length, d_model)
    layers = draw_weights.encoder_layers(size.layers, d_model, size.d_ff)
    mask = draw.visible(size.batch, 1, 1, size.length)
    output = stack_encoder_layers(x, layers, size.heads, mask)
    expected = torch_layers.encode(x, layers, size.heads, mask)
    assert_close(output, expected, atol=AGREED[output.dtype])


def test_a_padded_place_never_changes_a_real_one():
    """Other numbers in the third place of three: after three layers the first two are the same."""
    layers, mask = draw_weights.encoder_layers(3, 8, 12), torch.tensor([[[[True, True, False]]]])
    x, other = draw.floats(2, 1, 3, 8)
    other[:, :2] = x[:, :2]
    output = stack_encoder_layers(x, layers, 2, mask)
    assert_close(stack_encoder_layers(other, layers, 2, mask)[:, :2], output[:, :2])


def test_a_padded_sentence_gives_what_it_gives_alone():
    """Two words and a pad, against the two words: the same through three layers."""
    x, layers = draw.floats(1, 3, 8), draw_weights.encoder_layers(3, 8, 12)
    alone = stack_encoder_layers(x[:, :2], layers, 2, torch.ones(1, 1, 1, 2, dtype=torch.bool))
    padded = stack_encoder_layers(x, layers, 2, torch.tensor([[[[True, True, False]]]]))
    assert_close(padded[:, :2], alone)


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_only_the_norms_are_left(learning):
    """Every sub-layer of every layer is dropped, whether anything is to be learned or not."""
    x, layers = draw.floats(2, 3, 8), draw_weights.encoder_layers(3, 8, 12)
    with torch.set_grad_enabled(learning):
        output = stack_encoder_layers(x, layers, 2, draw.visible(2, 1, 1, 3), 1.0)
    assert_close(output, only_the_norms(x, layers))


def test_each_layer_drops_numbers_of_its_own():
    """One word 600 times, 4 numbers dropped four times: more than the 256 ways of one layer."""
    x, layers = draw.floats(1, 1, 4).expand(600, 1, 4), draw_weights.encoder_layers(2, 4, 5)
    generator = torch.Generator().manual_seed(0)
    output = stack_encoder_layers(x, layers, 2, ALONE.expand(600, 1, 1, 1), 0.5, generator)
    count = distinct_rows(output)
    assert count > 256, f"{count} ways: two layers that drop 4 numbers twice have 65536"


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 3200 numbers dropped alike again have no chance."""
    x, layers = draw.floats(100, 1, 8), draw_weights.encoder_layers(2, 8, 5)
    alone, generator = ALONE.expand(100, 1, 1, 1), torch.Generator().manual_seed(0)
    first, second = (stack_encoder_layers(x, layers, 2, alone, 0.5, generator) for _ in range(2))
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"
