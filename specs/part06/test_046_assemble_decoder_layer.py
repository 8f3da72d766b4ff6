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
from specs.harness.dropped import assert_dropped, distinct_rows, rows_left

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


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_only_the_norms_are_left(learning):
    """All three sub-layers are dropped: three norms of x, in their order, learning or not."""
    x, memory, layer = draw.floats(2, 3, 8), draw.floats(2, 5, 8), draw_weights.decoder_layer(8, 5)
    mask = draw.visible(2, 1, 1, 5)
    with torch.set_grad_enabled(learning):
        output = assemble_decoder_layer(x, memory, layer, 2, padded_stairs(2, 3), mask, 1.0)
    normed = torch_layers.norm(x, layer.self_attention_norm)
    normed = torch_layers.norm(normed, layer.cross_attention_norm)
    assert_close(output, torch_layers.norm(normed, layer.feed_forward_norm))


SILENCE = AttentionWeights(NOTHING, NOTHING, NOTHING, NOTHING)  # hears nothing, sees nothing
NO_THOUGHT = FeedForwardWeights(NOTHING, NOTHING)
DRAWN = draw_weights.decoder_layer(4, 4)
ALONE, BOTH = torch.ones(1, 1, 1, 1, dtype=torch.bool), torch.ones(1, 1, 1, 2, dtype=torch.bool)


def dropped(layer, words):
    """Run drawn words with a memory of two, 300 times over, at rate 1/4."""
    x, memory = draw.floats(1, words, 4), draw.floats(1, 2, 4, seed=1)
    stairs = torch.ones(words, words, dtype=torch.bool).tril()
    many = x.expand(300, words, 4), memory.expand(300, 2, 4)
    generator = torch.Generator().manual_seed(0)
    return x, memory, assemble_decoder_layer(*many, layer, 2, stairs, BOTH, 0.25, generator)


def test_in_self_attention_only_what_was_heard_is_dropped():
    """Nothing is seen or thought. 16 rows for each of two words, and two norms of them."""
    layer = DRAWN._replace(cross_attention=SILENCE, feed_forward=NO_THOUGHT)
    x, _, output = dropped(layer, words=2)
    stairs = torch.ones(2, 2, dtype=torch.bool).tril()
    heard = torch_layers.attend(x, x, layer.self_attention, 2, stairs)
    norm = layer.self_attention_norm
    rows = [rows_left(*words, norm, 0.25) for words in zip(x[0], heard[0], strict=True)]
    normed = torch_layers.norm(torch.cat(rows), layer.cross_attention_norm)
    assert_dropped(output, torch_layers.norm(normed, layer.feed_forward_norm))


def test_in_cross_attention_only_what_was_seen_is_dropped():
    """Nothing is heard or thought. 16 rows, of the norm of x: the memory is read undropped."""
    layer = DRAWN._replace(self_attention=SILENCE, feed_forward=NO_THOUGHT)
    x, memory, output = dropped(layer, words=1)
    x = torch_layers.norm(x, layer.self_attention_norm)
    seen = torch_layers.attend(x, memory, layer.cross_attention, 2, BOTH)
    rows = rows_left(x[0, 0], seen[0, 0], layer.cross_attention_norm, 0.25)
    assert_dropped(output, torch_layers.norm(rows, layer.feed_forward_norm))


def test_in_the_network_only_the_thought_is_dropped():
    """Nothing is heard or seen. 16 rows, of two norms of x."""
    layer = DRAWN._replace(self_attention=SILENCE, cross_attention=SILENCE)
    x, _, output = dropped(layer, words=1)
    x = torch_layers.norm(x, layer.self_attention_norm)
    x = torch_layers.norm(x, layer.cross_attention_norm)
    thought = torch_layers.feed_forward(x, layer.feed_forward)
    assert_dropped(output, rows_left(x[0, 0], thought[0, 0], layer.feed_forward_norm, 0.25))


def test_each_sub_layer_drops_numbers_of_its_own():
    """One word 600 times, 4 numbers dropped three times: more than the 256 ways of two."""
    x, memory = draw.floats(1, 1, 4).expand(600, 1, 4), draw.floats(1, 1, 4, seed=1)
    many, generator = memory.expand(600, 1, 4), torch.Generator().manual_seed(0)
    output = assemble_decoder_layer(x, many, DRAWN, 2, ALONE, ALONE, 0.5, generator)
    count = distinct_rows(output)
    assert count > 256, f"{count} ways: three sub-layers that drop 4 numbers each have 4096"


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 1200 numbers dropped alike again have no chance."""
    x, memory = draw.floats(2, 100, 1, 4)
    generator = torch.Generator().manual_seed(0)
    first, second = (
        assemble_decoder_layer(x, memory, DRAWN, 2, ALONE, ALONE, 0.5, generator) for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"
