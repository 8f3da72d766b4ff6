"""044 · decoder_layer_cross_attention_sublayer.

Lesson: 044_decoder_layer_cross_attention_sublayer.md.
"""

import pytest
import torch

from kata.part06_transformer import decoder_layer_cross_attention_sublayer
from kata.weights import AttentionWeights, LayerNormWeights, LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close, rejects
from specs.harness.dropped import assert_dropped, rows_left

# Two words of the target, and of the source two words and a pad: all in thousands, so that the
# norm's ε = 10⁻⁵ does not show.
X = 1e3 * torch.tensor([[[6.0, -1.0, -2.0, -5.0], [-2.0, -1.0, -2.0, 3.0]]])
MEMORY = 1e3 * torch.tensor([[[0.0, 4.0, 2.0, 6.0], [2.0, 0.0, 4.0, 2.0], [9.0, 0.0, 0.0, 0.0]]])
MASK = torch.tensor([[[[True, True, False]]]])
# All queries are 0, so every word that may be seen is seen alike, and its value is itself.
NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
LAYER = draw_weights.decoder_layer(d_model=4, d_ff=3)._replace(
    cross_attention=AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF),
    cross_attention_norm=LayerNormWeights(
        gain=torch.tensor([3.0, 3.0, 3.0, 3.0]), bias=torch.tensor([10.0, 20.0, 30.0, 40.0])
    ),
)
BY_HAND = [[[15.0, 19.0, 29.0, 37.0], [7.0, 19.0, 29.0, 45.0]]]


def test_two_words_by_hand():
    """Both see (1, 2, 3, 4), the mean of two words; x + that is (7, 1, 1, −1) and (−1, 1, 1, 7).

    Normed (5, −1, −1, −3)/3 and (−3, −1, −1, 5)/3, times 3, plus the bias.
    """
    output = decoder_layer_cross_attention_sublayer(X, MEMORY, LAYER, 2, MASK)
    assert_close(output, expected=BY_HAND)


def test_padding_of_the_source_is_not_seen():
    """Other numbers at the third place of the memory: nothing changes."""
    memory = torch.cat([MEMORY[:, :2], torch.full((1, 1, 4), -500.0)], dim=1)
    output = decoder_layer_cross_attention_sublayer(X, memory, LAYER, 2, MASK)
    assert_close(output, expected=BY_HAND)


def test_the_first_word_sees_the_whole_source():
    """No staircase here: the first word alone sees what it saw with the second beside it."""
    output = decoder_layer_cross_attention_sublayer(X[:, :1], MEMORY, LAYER, 2, MASK)
    assert_close(output, expected=[BY_HAND[0][:1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    output = decoder_layer_cross_attention_sublayer(
        X.to(dtype), MEMORY.to(dtype), draw_weights.cast(LAYER, dtype), 2, MASK
    )
    assert_close(output, expected=BY_HAND)


@pytest.mark.parametrize("size", draw.sizes("batch heads target source d_k", count=6), ids=str)
def test_agrees_with_torch(size):
    """nn.MultiheadAttention and F.layer_norm, with the same weights; padding differs by row."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.target, d_model)
    memory = draw.floats(size.batch, size.source, d_model, seed=1)
    layer = draw_weights.decoder_layer(d_model, 3)
    mask = draw.visible(size.batch, 1, 1, size.source)
    output = decoder_layer_cross_attention_sublayer(x, memory, layer, size.heads, mask)
    seen = torch_layers.attend(x, memory, layer.cross_attention, size.heads, mask)
    assert_close(output, torch_layers.norm(x + seen, layer.cross_attention_norm))


def test_source_and_target_of_one_length_agree_with_torch():
    """Three words and three words: nothing is mixed up where no shape tells them apart."""
    x, memory = draw.floats(2, 3, 8), draw.floats(2, 3, 8, seed=1)
    layer, mask = draw_weights.decoder_layer(8, 3), draw.visible(2, 1, 1, 3)
    output = decoder_layer_cross_attention_sublayer(x, memory, layer, 2, mask)
    seen = torch_layers.attend(x, memory, layer.cross_attention, 2, mask)
    assert_close(output, torch_layers.norm(x + seen, layer.cross_attention_norm))


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_nothing_is_seen(learning):
    """All that was seen is dropped, x itself is not: the norm of x, learning or not."""
    x, memory, layer = draw.floats(2, 3, 8), draw.floats(2, 5, 8), draw_weights.decoder_layer(8, 3)
    mask = draw.visible(2, 1, 1, 5)
    with torch.set_grad_enabled(learning):
        output = decoder_layer_cross_attention_sublayer(x, memory, layer, 2, mask, 1.0)
    assert_close(output, torch_layers.norm(x, layer.cross_attention_norm))


def test_dropout_falls_on_what_was_seen_and_on_nothing_else():
    """At rate 1/4 each of 4 numbers seen is gone or 4/3 of itself: 16 rows for each word."""
    x, memory = draw.floats(1, 2, 4), draw.floats(1, 2, 4, seed=1)
    layer, mask = draw_weights.decoder_layer(4, 3), torch.ones(1, 1, 1, 2, dtype=torch.bool)
    seen = torch_layers.attend(x, memory, layer.cross_attention, 2, mask)
    many, generator = memory.expand(300, 2, 4), torch.Generator().manual_seed(0)
    output = decoder_layer_cross_attention_sublayer(
        x.expand(300, 2, 4), many, layer, 2, mask, 0.25, generator
    )
    norm = layer.cross_attention_norm
    rows = [rows_left(*words, norm, 0.25) for words in zip(x[0], seen[0], strict=True)]
    assert_dropped(output, torch.cat(rows))


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 800 numbers dropped alike again have no chance."""
    x, memory = draw.floats(2, 100, 1, 8)
    layer, alone = draw_weights.decoder_layer(8, 3), torch.ones(100, 1, 1, 1, dtype=torch.bool)
    generator = torch.Generator().manual_seed(0)
    first, second = (
        decoder_layer_cross_attention_sublayer(x, memory, layer, 2, alone, 0.5, generator)
        for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"


def test_a_mask_of_numbers_is_an_error():
    """Zeros and ones could mean anything: the message asks for bool."""
    with rejects(TypeError, naming="bool"):
        decoder_layer_cross_attention_sublayer(X, MEMORY, LAYER, 2, MASK.long())
