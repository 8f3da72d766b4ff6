"""046 · assemble_decoder_layer. Lesson: 046_assemble_decoder_layer.md."""

import pytest
import torch

from kata.part06_transformer import assemble_decoder_layer
from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close
from specs.harness.dropped import distinct_rows

NOT_WITH = ("transformer",)


def thousands(*numbers):
    """In thousands, so that the norm's ε = 10⁻⁵ does not show."""
    return 1e3 * torch.tensor(numbers)


# The worked examples of 043, 044 and 045, each behind the one before.
X = thousands([10.5, 1.5, 1.5, -1.5], [-5.5, 1.5, 1.5, 14.5])[None]
MEMORY = thousands([0.0, 4.0, 2.0, 6.0], [2.0, 0.0, 4.0, 2.0], [9.0, 0.0, 0.0, 0.0])[None]
STAIRS = torch.tensor([[True, False], [True, True]])
MASK = torch.tensor([[[[True, True, False]]]])
NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
ALL_ALIKE = AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF)
LAYER = DecoderLayerWeights(
    self_attention=ALL_ALIKE,
    self_attention_norm=LayerNormWeights(
        gain=thousands(3.0, 3.0, 3.0, 3.0), bias=thousands(1.0, 0.0, -1.0, -2.0)
    ),
    cross_attention=ALL_ALIKE,
    cross_attention_norm=LayerNormWeights(
        gain=thousands(3.0, 3.0, 3.0, 3.0), bias=thousands(-3.0, 2.0, 3.0, 2.0)
    ),
    feed_forward=FeedForwardWeights(
        expand=LinearWeights(torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0]])),
        contract=LinearWeights(
            weight=torch.tensor([[-3.0, 0.0], [0.0, 6.0], [-1.0, 0.0], [0.0, 2.0]]),
            bias=thousands(5.0, 0.0, -1.0, 0.0),
        ),
    ),
    feed_forward_norm=LayerNormWeights(
        gain=torch.tensor([3.0, 3.0, 3.0, 3.0]), bias=torch.tensor([10.0, 20.0, 30.0, 40.0])
    ),
)
BY_HAND = [[[9.0, 25.0, 27.0, 39.0], [7.0, 19.0, 29.0, 45.0]]]


def test_two_words_by_hand():
    """In thousands: (6, −1, −2, −5) by hearing, (2, 1, 2, −1) by seeing, then (9, 25, 27, 39).

    The second word: (−2, −1, −2, 3), then (−6, 1, 2, 7), then (7, 19, 29, 45).
    """
    assert_close(assemble_decoder_layer(X, MEMORY, LAYER, 2, STAIRS, MASK), expected=BY_HAND)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    layer = draw_weights.cast(LAYER, dtype)
    output = assemble_decoder_layer(X.to(dtype), MEMORY.to(dtype), layer, 2, STAIRS, MASK)
    assert_close(output, expected=BY_HAND)


def padded_stairs(batch, length):
    """Draw a mask as 016 makes it, (batch, 1, length, length): the first word is real."""
    real = draw.visible(batch, 1, 1, length)
    real[..., 0] = True
    return real & torch.ones(length, length, dtype=torch.bool).tril()


@pytest.mark.parametrize("size", draw.sizes("batch heads target source d_k d_ff", count=6), ids=str)
def test_agrees_with_torch(size):
    """nn.TransformerDecoderLayer(norm_first=False), with the same weights, in float64."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.target, d_model)
    memory = draw.floats(size.batch, size.source, d_model, seed=1)
    layer = draw_weights.decoder_layer(d_model, size.d_ff)
    stairs = padded_stairs(size.batch, size.target)
    mask = draw.visible(size.batch, 1, 1, size.source)
    output = assemble_decoder_layer(x, memory, layer, size.heads, stairs, mask)
    expected = torch_layers.decode(x, memory, [layer], size.heads, stairs, mask)
    assert_close(output, expected, atol=2e-6)  # three sub-layers of float32


def test_source_and_target_of_one_length_agree_with_torch():
    """Three words and three words: nothing is mixed up where no shape tells them apart."""
    x, memory = draw.floats(2, 3, 8), draw.floats(2, 3, 8, seed=1)
    layer, stairs = draw_weights.decoder_layer(8, 5), padded_stairs(2, 3)
    mask = torch.tensor([[True, True, False], [True, True, True]])[:, None, None]
    output = assemble_decoder_layer(x, memory, layer, 2, stairs, mask)
    assert_close(output, torch_layers.decode(x, memory, [layer], 2, stairs, mask))


def test_at_rate_1_only_the_norms_are_left():
    """All three sub-layers are dropped: three norms of x, in their order."""
    x, memory, layer = draw.floats(2, 3, 8), draw.floats(2, 5, 8), draw_weights.decoder_layer(8, 5)
    mask = draw.visible(2, 1, 1, 5)
    output = assemble_decoder_layer(x, memory, layer, 2, padded_stairs(2, 3), mask, 1.0)
    normed = torch_layers.norm(x, layer.self_attention_norm)
    normed = torch_layers.norm(normed, layer.cross_attention_norm)
    assert_close(output, torch_layers.norm(normed, layer.feed_forward_norm))


def test_each_sub_layer_drops_numbers_of_its_own():
    """One word 600 times, 4 numbers dropped three times: more than the 256 ways of two."""
    x, memory = draw.floats(1, 1, 4).expand(600, 1, 4), draw.floats(1, 1, 4, seed=1)
    layer, alone = draw_weights.decoder_layer(4, 5), torch.ones(1, 1, 1, 1, dtype=torch.bool)
    many, generator = memory.expand(600, 1, 4), torch.Generator().manual_seed(0)
    output = assemble_decoder_layer(x, many, layer, 2, alone, alone, 0.5, generator)
    assert distinct_rows(output) > 256, "sub-layers drop the same numbers"
