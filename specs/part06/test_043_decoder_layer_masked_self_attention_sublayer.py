"""043 · decoder_layer_masked_self_attention_sublayer.

Lesson: 043_decoder_layer_masked_self_attention_sublayer.md.
"""

import pytest
import torch

from kata.part06_transformer import decoder_layer_masked_self_attention_sublayer
from kata.weights import AttentionWeights, LayerNormWeights, LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close, rejects
from specs.harness.dropped import assert_dropped, rows_left

# Two words and a pad, in thousands, so that the norm's ε = 10⁻⁵ does not show.
X = 1e3 * torch.tensor([[[10.5, 1.5, 1.5, -1.5], [-5.5, 1.5, 1.5, 14.5], [9.0, 0.0, 0.0, 0.0]]])
MASK = torch.tensor([[[[True, False, False], [True, True, False], [True, True, False]]]])
# All queries are 0, so every word that may be heard is heard alike, and its value is itself.
NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
LAYER = draw_weights.decoder_layer(d_model=4, d_ff=3)._replace(
    self_attention=AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF),
    self_attention_norm=LayerNormWeights(
        gain=torch.tensor([3.0, 3.0, 3.0, 3.0]), bias=torch.tensor([10.0, 20.0, 30.0, 40.0])
    ),
)
BY_HAND = [[15.0, 19.0, 29.0, 37.0], [7.0, 19.0, 29.0, 45.0]]


def test_two_words_by_hand():
    """The first hears itself alone: (21, 3, 3, −3), normed (5, −1, −1, −3)/3.

    The second hears both, (2.5, 1.5, 1.5, 6.5), and becomes (−3, 3, 3, 21): (−3, −1, −1, 5)/3.
    """
    output = decoder_layer_masked_self_attention_sublayer(X, LAYER, 2, MASK)
    assert_close(output[:, :2], expected=[BY_HAND])


def test_a_later_word_changes_no_earlier_one():
    """Another second word: the first becomes what it was."""
    x = X.clone()
    x[0, 1] = torch.tensor([900.0, -700.0, 0.0, 100.0])
    output = decoder_layer_masked_self_attention_sublayer(x, LAYER, 2, MASK)
    assert_close(output[:, :1], expected=[BY_HAND[:1]])


def test_a_word_that_sees_nothing_hears_the_output_bias():
    """031 gives the output bias, here (10.5, 1.5, 1.5, −1.5): the word becomes what it was."""
    output = ITSELF._replace(bias=X[0, 0])
    layer = LAYER._replace(self_attention=LAYER.self_attention._replace(output=output))
    nothing = torch.zeros(1, 1, 1, 1, dtype=torch.bool)
    answer = decoder_layer_masked_self_attention_sublayer(X[:, :1], layer, 2, nothing)
    assert_close(answer, expected=[BY_HAND[:1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    layer = draw_weights.cast(LAYER, dtype)
    output = decoder_layer_masked_self_attention_sublayer(X.to(dtype), layer, 2, MASK)
    assert_close(output[:, :2], expected=[BY_HAND])


SIZES = draw.sizes("batch heads length d_k", count=6)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size):
    """nn.MultiheadAttention and F.layer_norm; each row its own padding, and the first word real."""
    d_model = size.heads * size.d_k
    x, layer = draw.floats(size.batch, size.length, d_model), draw_weights.decoder_layer(d_model, 3)
    real = draw.visible(size.batch, 1, 1, size.length)
    real[..., 0] = True
    mask = real & torch.ones(size.length, size.length, dtype=torch.bool).tril()
    output = decoder_layer_masked_self_attention_sublayer(x, layer, size.heads, mask)
    heard = torch_layers.attend(x, x, layer.self_attention, size.heads, mask)
    assert_close(output, torch_layers.norm(x + heard, layer.self_attention_norm))


@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_one_staircase_for_all_sentences_will_do(size):
    """A mask (length, length), as 015 makes it: decoding has no padding."""
    d_model = size.heads * size.d_k
    x, layer = draw.floats(size.batch, size.length, d_model), draw_weights.decoder_layer(d_model, 3)
    mask = torch.ones(size.length, size.length, dtype=torch.bool).tril()
    output = decoder_layer_masked_self_attention_sublayer(x, layer, size.heads, mask)
    heard = torch_layers.attend(x, x, layer.self_attention, size.heads, mask)
    assert_close(output, torch_layers.norm(x + heard, layer.self_attention_norm))


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_nothing_is_heard(learning):
    """All that was heard is dropped, x itself is not: the norm of x, learning or not."""
    x, layer = draw.floats(2, 3, 8), draw_weights.decoder_layer(8, 3)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    with torch.set_grad_enabled(learning):
        output = decoder_layer_masked_self_attention_sublayer(x, layer, 2, mask, 1.0)
    assert_close(output, torch_layers.norm(x, layer.self_attention_norm))


def test_dropout_falls_on_what_was_heard_and_on_nothing_else():
    """At rate 1/4 each of 4 numbers heard is gone or 4/3 of itself: 16 rows for each word."""
    x, layer = draw.floats(1, 2, 4), draw_weights.decoder_layer(4, 3)
    mask = torch.ones(2, 2, dtype=torch.bool).tril()
    heard = torch_layers.attend(x, x, layer.self_attention, 2, mask)
    output = decoder_layer_masked_self_attention_sublayer(
        x.expand(300, 2, 4), layer, 2, mask, 0.25, torch.Generator().manual_seed(0)
    )
    norm = layer.self_attention_norm
    rows = [rows_left(*words, norm, 0.25) for words in zip(x[0], heard[0], strict=True)]
    assert_dropped(output, torch.cat(rows))


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 800 numbers dropped alike again have no chance."""
    x, layer = draw.floats(100, 1, 8), draw_weights.decoder_layer(8, 3)
    alone, generator = torch.ones(100, 1, 1, 1, dtype=torch.bool), torch.Generator().manual_seed(0)
    first, second = (
        decoder_layer_masked_self_attention_sublayer(x, layer, 2, alone, 0.5, generator)
        for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"


def test_a_mask_of_numbers_is_an_error():
    """Zeros and ones could mean anything: the message asks for bool."""
    with rejects(TypeError, naming="bool"):
        decoder_layer_masked_self_attention_sublayer(X, LAYER, 2, MASK.long())
