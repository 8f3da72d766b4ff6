"""045 · decoder_layer_feed_forward_sublayer. Lesson: 045_decoder_layer_feed_forward_sublayer.md."""

import pytest
import torch

from kata.part06_transformer import decoder_layer_feed_forward_sublayer
from kata.weights import FeedForwardWeights, LayerNormWeights, LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close
from specs.harness.dropped import assert_dropped, rows_left

# Two words in thousands, so that the norm's ε = 10⁻⁵ does not show.
X = 1e3 * torch.tensor([[[2.0, 1.0, 2.0, -1.0], [-6.0, 1.0, 2.0, 7.0]]])
# Two hidden numbers: the word's first feature, and its last with the sign turned round.
LAYER = draw_weights.decoder_layer(d_model=4, d_ff=2)._replace(
    feed_forward=FeedForwardWeights(
        expand=LinearWeights(torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0]])),
        contract=LinearWeights(
            weight=torch.tensor([[-3.0, 0.0], [0.0, 6.0], [-1.0, 0.0], [0.0, 2.0]]),
            bias=1e3 * torch.tensor([5.0, 0.0, -1.0, 0.0]),
        ),
    ),
    feed_forward_norm=LayerNormWeights(
        gain=torch.tensor([3.0, 3.0, 3.0, 3.0]), bias=torch.tensor([10.0, 20.0, 30.0, 40.0])
    ),
)
BY_HAND = [[[9.0, 25.0, 27.0, 39.0], [7.0, 19.0, 29.0, 45.0]]]


def test_two_words_by_hand():
    """Hidden (2, 1) makes (−1, 6, −3, 2), and x + that is (1, 7, −1, 1): mean 2, deviation 3.

    Hidden (−6, −7) is cut to (0, 0), so the second word gets the bias (5, 0, −1, 0) alone.
    """
    assert_close(decoder_layer_feed_forward_sublayer(X, LAYER), expected=BY_HAND)


def test_each_word_thinks_alone():
    """Another second word: the first becomes what it was."""
    x = torch.stack([X[:, 0], torch.tensor([[900.0, -700.0, 0.0, 100.0]])], dim=1)
    output = decoder_layer_feed_forward_sublayer(x, LAYER)
    assert_close(output[:, :1], expected=[BY_HAND[0][:1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    output = decoder_layer_feed_forward_sublayer(X.to(dtype), draw_weights.cast(LAYER, dtype))
    assert_close(output, expected=BY_HAND)


@pytest.mark.parametrize("size", draw.sizes("batch length d_model d_ff", count=6), ids=str)
def test_agrees_with_torch(size):
    """F.linear, F.relu and F.layer_norm, in float64."""
    x = draw.floats(size.batch, size.length, size.d_model)
    layer = draw_weights.decoder_layer(size.d_model, size.d_ff)
    thought = torch_layers.feed_forward(x, layer.feed_forward)
    expected = torch_layers.norm(x + thought, layer.feed_forward_norm)
    assert_close(decoder_layer_feed_forward_sublayer(x, layer), expected)


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_no_thought_is_left(learning):
    """All that came of it is dropped, x itself is not: the norm of x, learning or not."""
    x, layer = draw.floats(2, 3, 8), draw_weights.decoder_layer(8, 5)
    with torch.set_grad_enabled(learning):
        output = decoder_layer_feed_forward_sublayer(x, layer, 1.0)
    assert_close(output, torch_layers.norm(x, layer.feed_forward_norm))


def test_dropout_falls_on_the_thought_and_on_nothing_else():
    """At rate 1/4 each of its 4 numbers is gone or 4/3 of itself: 16 rows are possible."""
    x, layer = draw.floats(1, 1, 4), draw_weights.decoder_layer(4, 5)
    thought = torch_layers.feed_forward(x, layer.feed_forward)
    generator = torch.Generator().manual_seed(0)
    output = decoder_layer_feed_forward_sublayer(x.expand(300, 1, 4), layer, 0.25, generator)
    assert_dropped(output, rows_left(x[0, 0], thought[0, 0], layer.feed_forward_norm, 0.25))


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 800 numbers dropped alike again have no chance."""
    x, layer = draw.floats(100, 1, 8), draw_weights.decoder_layer(8, 5)
    generator = torch.Generator().manual_seed(0)
    first, second = (
        decoder_layer_feed_forward_sublayer(x, layer, 0.5, generator) for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"
