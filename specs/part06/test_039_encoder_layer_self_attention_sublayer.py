"""039 · encoder_layer_self_attention_sublayer.

Lesson: 039_encoder_layer_self_attention_sublayer.md.
"""

import pytest
import torch

from kata.part06_transformer import encoder_layer_self_attention_sublayer
from kata.weights import AttentionWeights, LayerNormWeights, LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close, rejects
from specs.harness.dropped import assert_dropped, rows_left

# Three words in thousands, so that the norm's ε = 10⁻⁵ does not show; the third is padding.
X = 1e3 * torch.tensor([[[5.5, 0.5, 0.5, -2.5], [-2.5, 0.5, 0.5, 5.5], [-0.5, 6.5, -1.5, -0.5]]])
MASK = torch.tensor([[[[True, True, False]]]])
# All queries are 0, so every word that may be heard is heard alike, and its value is itself.
NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
LAYER = draw_weights.encoder_layer(d_model=4, d_ff=3)._replace(
    self_attention=AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF),
    self_attention_norm=LayerNormWeights(
        gain=torch.tensor([3.0, 3.0, 3.0, 3.0]), bias=torch.tensor([10.0, 20.0, 30.0, 40.0])
    ),
)
BY_HAND = [[[15.0, 19.0, 29.0, 37.0], [7.0, 19.0, 29.0, 45.0], [9.0, 25.0, 27.0, 39.0]]]


def test_three_words_by_hand():
    """Heard: (1.5, .5, .5, 1.5). The first word becomes (7, 1, 1, −1): mean 2, deviation 3.

    Normed (5, −1, −1, −3)/3, times 3, plus the bias: (15, 19, 29, 37).
    """
    output = encoder_layer_self_attention_sublayer(X, LAYER, 2, MASK)
    assert_close(output, expected=BY_HAND)


def test_what_stands_at_a_hidden_place_does_not_matter():
    """Another word in the third place, and the first two still become what they were."""
    x = X.clone()
    x[0, 2] = torch.tensor([900.0, -700.0, 0.0, 100.0])
    output = encoder_layer_self_attention_sublayer(x, LAYER, 2, MASK)
    assert_close(output[:, :2], expected=[BY_HAND[0][:2]])


def test_a_sentence_of_padding_alone_hears_the_output_bias():
    """Nobody to hear: 031 gives the output bias, (1.5, .5, .5, 1.5), and the rest is as above."""
    output = ITSELF._replace(bias=1e3 * torch.tensor([1.5, 0.5, 0.5, 1.5]))
    layer = LAYER._replace(self_attention=LAYER.self_attention._replace(output=output))
    nothing = torch.zeros(1, 1, 1, 3, dtype=torch.bool)
    assert_close(encoder_layer_self_attention_sublayer(X, layer, 2, nothing), expected=BY_HAND)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    layer = draw_weights.cast(LAYER, dtype)
    output = encoder_layer_self_attention_sublayer(X.to(dtype), layer, 2, MASK)
    assert_close(output, expected=BY_HAND)


SIZES = draw.sizes("batch heads length d_k d_ff", count=6)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size):
    """nn.MultiheadAttention and F.layer_norm, with the same weights; padding differs by row."""
    d_model = size.heads * size.d_k
    x, layer = draw.floats(size.batch, size.length, d_model), draw_weights.encoder_layer(d_model, 3)
    mask = draw.visible(size.batch, 1, 1, size.length)
    output = encoder_layer_self_attention_sublayer(x, layer, size.heads, mask)
    heard = torch_layers.attend(x, x, layer.self_attention, size.heads, mask)
    assert_close(output, torch_layers.norm(x + heard, layer.self_attention_norm))


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_nothing_is_heard(learning):
    """All that was heard is dropped, x itself is not: the norm of x, learning or not."""
    x, layer = draw.floats(2, 3, 8), draw_weights.encoder_layer(8, 3)
    mask = draw.visible(2, 1, 1, 3)
    with torch.set_grad_enabled(learning):
        output = encoder_layer_self_attention_sublayer(x, layer, 2, mask, 1.0)
    assert_close(output, torch_layers.norm(x, layer.self_attention_norm))


def test_dropout_falls_on_what_was_heard_and_on_nothing_else():
    """At rate 1/4 each of 4 numbers heard is gone or 4/3 of itself: 16 rows for each word."""
    x, layer = draw.floats(1, 2, 4), draw_weights.encoder_layer(4, 3)
    mask = torch.ones(1, 1, 1, 2, dtype=torch.bool)
    heard = torch_layers.attend(x, x, layer.self_attention, 2, mask)
    output = encoder_layer_self_attention_sublayer(
        x.expand(300, 2, 4), layer, 2, mask, 0.25, torch.Generator().manual_seed(0)
    )
    norm = layer.self_attention_norm
    rows = [rows_left(*words, norm, 0.25) for words in zip(x[0], heard[0], strict=True)]
    assert_dropped(output, torch.cat(rows))


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 800 numbers dropped alike again have no chance."""
    x, layer = draw.floats(100, 1, 8), draw_weights.encoder_layer(8, 3)
    alone, generator = torch.ones(100, 1, 1, 1, dtype=torch.bool), torch.Generator().manual_seed(0)
    first, second = (
        encoder_layer_self_attention_sublayer(x, layer, 2, alone, 0.5, generator) for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"


def test_a_mask_of_numbers_is_an_error():
    """Zeros and ones could mean anything: the message asks for bool."""
    with rejects(TypeError, naming="bool"):
        encoder_layer_self_attention_sublayer(X, LAYER, 2, MASK.long())
