"""041 · assemble_encoder_layer. Lesson: 041_assemble_encoder_layer.md."""

import pytest
import torch

from kata.part06_transformer import assemble_encoder_layer
from kata.weights import (
    AttentionWeights,
    EncoderLayerWeights,
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


# The worked examples of 039 and 040, the second behind the first.
X = thousands([5.5, 0.5, 0.5, -2.5], [-2.5, 0.5, 0.5, 5.5], [9.0, 0.0, 0.0, 0.0])[None]
MASK = torch.tensor([[[[True, True, False]]]])
NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
LAYER = EncoderLayerWeights(
    self_attention=AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF),
    self_attention_norm=LayerNormWeights(
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


def test_two_words_by_hand():
    """In thousands: (5.5, .5, .5, −2.5) becomes (2, 1, 2, −1) by hearing, then (9, 25, 27, 39).

    The second word: (−6, 1, 2, 7), then (7, 19, 29, 45); the third is padding.
    """
    output = assemble_encoder_layer(X, LAYER, 2, MASK)
    assert_close(output[:, :2], expected=[[[9.0, 25.0, 27.0, 39.0], [7.0, 19.0, 29.0, 45.0]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    output = assemble_encoder_layer(X.to(dtype), draw_weights.cast(LAYER, dtype), 2, MASK)
    assert_close(output[:, :2], expected=[[[9.0, 25.0, 27.0, 39.0], [7.0, 19.0, 29.0, 45.0]]])


@pytest.mark.parametrize("size", draw.sizes("batch heads length d_k d_ff", count=6), ids=str)
def test_agrees_with_torch(size):
    """nn.TransformerEncoderLayer(norm_first=False), with the same weights, in float64."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.length, d_model)
    layer = draw_weights.encoder_layer(d_model, size.d_ff)
    mask = draw.visible(size.batch, 1, 1, size.length)
    output = assemble_encoder_layer(x, layer, size.heads, mask)
    assert_close(output, torch_layers.encode(x, [layer], size.heads, mask))


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_only_the_norms_are_left(learning):
    """Both sub-layers are dropped: two norms of x, whether anything is to be learned or not."""
    x, layer = draw.floats(2, 3, 8), draw_weights.encoder_layer(8, 5)
    with torch.set_grad_enabled(learning):
        output = assemble_encoder_layer(x, layer, 2, draw.visible(2, 1, 1, 3), 1.0)
    normed = torch_layers.norm(x, layer.self_attention_norm)
    assert_close(output, torch_layers.norm(normed, layer.feed_forward_norm))


def test_in_the_first_half_only_what_was_heard_is_dropped():
    """The second half thinks of nothing. At rate 1/4 there are 16 rows for each of two words."""
    layer = draw_weights.encoder_layer(4, 4)
    layer = layer._replace(feed_forward=FeedForwardWeights(NOTHING, NOTHING))
    x, mask = draw.floats(1, 2, 4), torch.ones(1, 1, 1, 2, dtype=torch.bool)
    heard = torch_layers.attend(x, x, layer.self_attention, 2, mask)
    generator = torch.Generator().manual_seed(0)
    output = assemble_encoder_layer(x.expand(300, 2, 4), layer, 2, mask, 0.25, generator)
    norm = layer.self_attention_norm
    rows = [rows_left(*words, norm, 0.25) for words in zip(x[0], heard[0], strict=True)]
    assert_dropped(output, torch_layers.norm(torch.cat(rows), layer.feed_forward_norm))


def test_in_the_second_half_only_the_thought_is_dropped():
    """The first half hears nothing, and leaves the norm of x. At rate 1/4 there are 16 rows."""
    layer = draw_weights.encoder_layer(4, 5)
    layer = layer._replace(self_attention=AttentionWeights(NOTHING, NOTHING, NOTHING, NOTHING))
    x, alone = draw.floats(1, 1, 4), torch.ones(1, 1, 1, 1, dtype=torch.bool)
    generator = torch.Generator().manual_seed(0)
    output = assemble_encoder_layer(x.expand(300, 1, 4), layer, 2, alone, 0.25, generator)
    normed = torch_layers.norm(x, layer.self_attention_norm)
    thought = torch_layers.feed_forward(normed, layer.feed_forward)
    assert_dropped(output, rows_left(normed[0, 0], thought[0, 0], layer.feed_forward_norm, 0.25))


def test_each_sub_layer_drops_numbers_of_its_own():
    """One word 300 times, 4 numbers dropped twice: far more than the 16 ways to drop them once."""
    x, layer = draw.floats(1, 1, 4).expand(300, 1, 4), draw_weights.encoder_layer(4, 5)
    alone = torch.ones(300, 1, 1, 1, dtype=torch.bool)
    generator = torch.Generator().manual_seed(0)
    count = distinct_rows(assemble_encoder_layer(x, layer, 2, alone, 0.5, generator))
    assert count > 16, f"{count} ways: two sub-layers that drop 4 numbers each have 256"


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 1600 numbers dropped alike again have no chance."""
    x, layer = draw.floats(100, 1, 8), draw_weights.encoder_layer(8, 5)
    alone, generator = torch.ones(100, 1, 1, 1, dtype=torch.bool), torch.Generator().manual_seed(0)
    first, second = (assemble_encoder_layer(x, layer, 2, alone, 0.5, generator) for _ in range(2))
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"
