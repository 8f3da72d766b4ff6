"""093 · decoder_only_layer. Lesson: 093_decoder_only_layer.md."""

import pytest
import torch

from kata.part13_decoder_only import decoder_only_layer
from kata.weights import (
    AttentionWeights,
    DecoderOnlyLayerWeights,
    GatedFeedForwardWeights,
    LinearWeights,
)
from specs.harness import draw, draw_decoder_only, draw_weights, torch_decoder_only
from specs.harness.check import assert_close, rejects

NOTHING, ITSELF = LinearWeights(torch.zeros(2, 2)), LinearWeights(torch.eye(2))
STAIRS = torch.tensor([[True, False], [True, True]])

# Attention looks at all visible words alike, and the gate lets 100 · x / 100 through. Norms: gain 5
# for a loudness of 5 gives a word back as it is.
X = torch.tensor([[[7.0, 1.0], [1.0, 7.0]]])
LAYER = DecoderOnlyLayerWeights(
    attention_norm=torch.tensor([5.0, 5.0]),
    attention=AttentionWeights(
        query=NOTHING,
        key=NOTHING,
        value=ITSELF,
        output=LinearWeights(torch.tensor([[1.0, 0.0], [0.0, -3.0]])),
    ),
    feed_forward_norm=torch.tensor([10.0, 20.0]),
    feed_forward=GatedFeedForwardWeights(
        gate=LinearWeights(torch.zeros(2, 2), torch.tensor([100.0, 100.0])),
        up=LinearWeights(torch.eye(2) / 100),
        down=ITSELF,
    ),
)
QUIET = LAYER._replace(feed_forward=GatedFeedForwardWeights(NOTHING, NOTHING, NOTHING))
DEAF = LAYER._replace(attention=AttentionWeights(NOTHING, NOTHING, NOTHING, NOTHING))
COS, SIN = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [1.0]])  # place 1: a right angle


def test_two_words_by_hand():
    """(7, 1) hears itself: + (7, −3) = (14, −2), loudness 10: + (10 · 1.4, 20 · −0.2) = (28, −6).

    (1, 7) hears the mean (4, 4): + (4, −12) = (5, −5), loudness 5: + (10, −20) = (15, −25).
    """
    output = decoder_only_layer(X, LAYER, 1, 1, COS, SIN, STAIRS, eps=0.0)
    assert_close(output, expected=[[[28.0, -6.0], [15.0, -25.0]]])


def test_without_a_mask_every_word_is_heard():
    """Both hear the mean (4, 4): (7, 1) + (4, −12) = (11, −11) and (1, 7) + (4, −12) = (5, −5)."""
    output = decoder_only_layer(X, QUIET, 1, 1, COS, SIN, eps=0.0)
    assert_close(output, expected=[[[11.0, -11.0], [5.0, -5.0]]])


def test_word_itself_goes_past_both_norms():
    """Sub-layers that find nothing: 700 and 100 come out as they went in."""
    still = DEAF._replace(feed_forward=QUIET.feed_forward)
    output = decoder_only_layer(100 * X, still, 1, 1, COS, SIN)
    assert_close(output, expected=100 * X)


def test_epsilon_is_a_millionth_by_default_in_the_first_norm():
    """(0.004, 0) alone: √(8e−6 + 1e−6) = 0.003, so it hears 5 · 4/3 on top of itself."""
    output = decoder_only_layer(torch.tensor([[[0.004, 0.0]]]), QUIET, 1, 1, COS, SIN)
    assert_close(output, expected=[[[0.004 + 20 / 3, 0.0]]])


def test_epsilon_is_a_millionth_by_default_in_the_second_norm():
    """(0.004, 0), nothing heard: it thinks 10 · 4/3 on top of itself."""
    output = decoder_only_layer(torch.tensor([[[0.004, 0.0]]]), DEAF, 1, 1, COS, SIN)
    assert_close(output, expected=[[[0.004 + 40 / 3, 0.0]]])


def test_queries_and_keys_are_turned_and_values_are_not():
    """Loud queries look at the key that fits best. A right angle turns (a, b) to (−b, a).

    (0, 8), (8, 0): turned, all four are (0, 8), so each hears the mean (4, 4). (8, 0), (0, 8):
    turned, the second is (−8, 0), so each hears itself.
    """
    looking = AttentionWeights(LinearWeights(10 * torch.eye(2)), ITSELF, ITSELF, ITSELF)
    loudness = torch.tensor([32.0, 32.0]).sqrt()
    layer = QUIET._replace(attention=looking, attention_norm=loudness)
    x = torch.tensor([[[0.0, 8.0], [8.0, 0.0]], [[8.0, 0.0], [0.0, 8.0]]])
    output = decoder_only_layer(x, layer, 1, 1, COS, SIN, eps=0.0)
    assert_close(output, expected=[[[4.0, 12.0], [12.0, 4.0]], [[16.0, 0.0], [0.0, 16.0]]])


SIZES = draw.sizes("batch kv_heads length d_ff", count=3, repeats=2, pairs=3)
AGREED = {torch.float32: 1e-5, torch.float64: 1e-10}


def drawn_case(size, *, bias=True):
    """Words, a layer, its two numbers of heads, and angles for nine places."""
    heads, d_k = size.kv_heads * size.repeats, 2 * size.pairs
    x = draw.floats(size.batch, size.length, heads * d_k)
    layer = draw_decoder_only.layer(heads, size.kv_heads, d_k, size.d_ff, bias=bias)
    return x, layer, heads, size.kv_heads, torch_decoder_only.angles(torch.arange(9), d_k)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size, bias):
    """F.rms_norm, complex turns, the built-in attention and F.silu, in float64."""
    x, layer, heads, kv_heads, angles = drawn_case(size, bias=bias)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    mask = draw.visible(size.batch, 1, size.length, size.length)
    output = decoder_only_layer(x, layer, heads, kv_heads, cos, sin, mask)
    expected = torch_decoder_only.layer(x, layer, heads, kv_heads, angles[: size.length], mask)
    assert_close(output, expected, atol=AGREED[x.dtype])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch_at_places_of_its_own(size):
    """Each sentence has its own places, in any order; ε is a half."""
    x, layer, heads, kv_heads, angles = drawn_case(size)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    positions = draw.token_ids(size.batch, size.length, vocab_size=9)
    output = decoder_only_layer(x, layer, heads, kv_heads, cos, sin, positions=positions, eps=0.5)
    angles = angles[positions][:, None]
    expected = torch_decoder_only.layer(x, layer, heads, kv_heads, angles, None, 0.5)
    assert_close(output, expected, atol=AGREED[x.dtype])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The two words again; the table stays float32."""
    layer = draw_weights.cast(LAYER, dtype)
    output = decoder_only_layer(X.to(dtype), layer, 1, 1, COS.float(), SIN.float(), STAIRS)
    assert_close(output, expected=[[[28.0, -6.0], [15.0, -25.0]]])


def test_place_outside_the_table_is_an_error():
    """Two rows, and a word that claims to stand at place 2."""
    with rejects(IndexError, naming=2):
        decoder_only_layer(X, LAYER, 1, 1, COS, SIN, positions=torch.tensor([0, 2]))


def test_mask_of_numbers_is_an_error():
    """The message asks for bool."""
    with rejects(TypeError, naming="bool"):
        decoder_only_layer(X, LAYER, 1, 1, COS, SIN, STAIRS.long())
