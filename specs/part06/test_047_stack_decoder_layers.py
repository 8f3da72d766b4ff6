"""047 · stack_decoder_layers. Lesson: 047_stack_decoder_layers.md."""

from functools import reduce

import pytest
import torch

from kata.part06_transformer import stack_decoder_layers
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

NOTHING, ITSELF = LinearWeights(torch.zeros(4, 4)), LinearWeights(torch.eye(4))
LOUD = LayerNormWeights(torch.full((4,), 3000.0), torch.zeros(4))


def looking_layer(gain, bias):
    """Build a layer that adds the mean of the memory's words, and nothing else."""
    return DecoderLayerWeights(
        self_attention=AttentionWeights(NOTHING, NOTHING, NOTHING, NOTHING),
        self_attention_norm=LOUD,
        cross_attention=AttentionWeights(query=NOTHING, key=ITSELF, value=ITSELF, output=ITSELF),
        cross_attention_norm=LOUD,
        feed_forward=FeedForwardWeights(NOTHING, NOTHING),
        feed_forward_norm=LayerNormWeights(torch.full((4,), gain), torch.tensor(bias)),
    )


def only_looking(x, layers):
    """Look at the memory's mean and norm, once in each layer."""

    def look(x, layer):
        x = torch_layers.norm(torch_layers.norm(x, LOUD) + MEMORY.mean(dim=1), LOUD)
        return torch_layers.norm(x, layer.feed_forward_norm)

    return reduce(look, layers, x)


# In thousands, so that the norm's ε = 10⁻⁵ does not show. The memory's mean is (−8, 0, 0, 8).
X = torch.tensor([[[7000.0, 1000.0, 1000.0, -1000.0]]])
MEMORY = torch.tensor([[[-10000.0, 0.0, -2000.0, 2000.0], [-6000.0, 0.0, 2000.0, 14000.0]]])
FIRST = looking_layer(gain=3000.0, bias=[6000.0, 2000.0, 2000.0, -10000.0])
SECOND = looking_layer(gain=3.0, bias=[10.0, 20.0, 30.0, 40.0])
ALONE = torch.ones(1, 1, 1, 1, dtype=torch.bool)
BOTH = torch.ones(1, 1, 1, 2, dtype=torch.bool)


def test_two_layers_by_hand():
    """(7, 1, 1, −1) is normed to (5, −1, −1, −3), looks at the memory and becomes (−3, −1, −1, 5).

    The first bias makes (3, 1, 1, −5) of it; looking again, at the same memory, (−5, 1, 1, 3).
    """
    output = stack_decoder_layers(X, MEMORY, (FIRST, SECOND), 2, ALONE, BOTH)
    assert_close(output, expected=[[[5.0, 21.0, 31.0, 43.0]]])


def test_one_layer_alone():
    """(−3, −1, −1, 5) + (10, 20, 30, 40)."""
    output = stack_decoder_layers(X, MEMORY, (SECOND,), 2, ALONE, BOTH)
    assert_close(output, expected=[[[7.0, 19.0, 29.0, 45.0]]])


def test_seven_floors_are_seven():
    """The first layer six times, and the second: one that stands there again works again."""
    layers = (FIRST,) * 6 + (SECOND,)
    assert_close(stack_decoder_layers(X, MEMORY, layers, 2, ALONE, BOTH), only_looking(X, layers))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The worked example again."""
    layers = draw_weights.cast((FIRST, SECOND), dtype)
    output = stack_decoder_layers(X.to(dtype), MEMORY.to(dtype), layers, 2, ALONE, BOTH)
    assert_close(output, expected=[[[5.0, 21.0, 31.0, 43.0]]])


def padded_stairs(batch, length):
    """Draw a mask as 016 makes it, (batch, 1, length, length): the first word is real."""
    real = draw.visible(batch, 1, 1, length)
    real[..., 0] = True
    return real & stairs(length)


def stairs(length):
    """Build a mask as 015 makes it."""
    return torch.ones(length, length, dtype=torch.bool).tril()


AGREED = {torch.float32: 1e-5, torch.float64: 1e-10}
SIZES = draw.sizes("layers batch heads target source d_k d_ff", count=4, layers=3)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size):
    """nn.TransformerDecoder with norm=None, post-norm, every layer with weights of its own."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.target, d_model)
    memory = draw.floats(size.batch, size.source, d_model, seed=1)
    layers = draw_weights.decoder_layers(size.layers, d_model, size.d_ff)
    target = padded_stairs(size.batch, size.target)
    source = draw.visible(size.batch, 1, 1, size.source)
    output = stack_decoder_layers(x, memory, layers, size.heads, target, source)
    expected = torch_layers.decode(x, memory, layers, size.heads, target, source)
    assert_close(output, expected, atol=AGREED[output.dtype])


def test_a_later_word_changes_no_earlier_one():
    """Other numbers from the fourth place of five on: the first three are the same."""
    layers, memory = draw_weights.decoder_layers(3, 8, 12), draw.floats(1, 4, 8, seed=1)
    x, other = draw.floats(2, 1, 5, 8)
    other[:, :3] = x[:, :3]
    source = torch.ones(1, 1, 1, 4, dtype=torch.bool)
    output = stack_decoder_layers(x, memory, layers, 2, stairs(5), source)
    moved = stack_decoder_layers(other, memory, layers, 2, stairs(5), source)
    assert_close(moved[:, :3], output[:, :3])


def test_padding_of_the_source_changes_nothing():
    """Two words and a pad as memory, against the two words: the same through three layers."""
    layers, memory = draw_weights.decoder_layers(3, 8, 12), draw.floats(1, 3, 8, seed=1)
    x = draw.floats(1, 5, 8)
    alone = stack_decoder_layers(x, memory[:, :2], layers, 2, stairs(5), BOTH)
    source = torch.tensor([[[[True, True, False]]]])
    assert_close(stack_decoder_layers(x, memory, layers, 2, stairs(5), source), alone)


def only_the_norms(x, layers):
    """Apply the three norms of each layer, one after the other."""
    norms = [layer[1::2] for layer in layers]
    return reduce(torch_layers.norm, sum(norms, ()), x)


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_only_the_norms_are_left(learning):
    """Every sub-layer of every layer is dropped, whether anything is to be learned or not."""
    x, memory = draw.floats(2, 3, 8), draw.floats(2, 5, 8, seed=1)
    layers, source = draw_weights.decoder_layers(3, 8, 12), draw.visible(2, 1, 1, 5)
    with torch.set_grad_enabled(learning):
        output = stack_decoder_layers(x, memory, layers, 2, stairs(3), source, 1.0)
    assert_close(output, only_the_norms(x, layers))


def test_each_layer_drops_numbers_of_its_own():
    """A layer that only looks can drop its 4 numbers in 16 ways; two of them in more."""
    x, memory = X.expand(300, 1, 4), (1e3 * draw.floats(1, 1, 4)).expand(300, 1, 4)
    generator = torch.Generator().manual_seed(0)
    output = stack_decoder_layers(x, memory, (FIRST, SECOND), 2, ALONE, ALONE, 0.5, generator)
    count = distinct_rows(output)
    assert count > 16, f"{count} ways: two layers that drop the 4 numbers seen have 256"


def test_the_memory_itself_is_never_dropped():
    """A layer that looks sees (−8, 0, 0, 8): at rate 1/4 each number is gone or 4/3 of itself."""
    x, memory = X.expand(300, 1, 4), MEMORY.expand(300, 2, 4)
    generator = torch.Generator().manual_seed(0)
    output = stack_decoder_layers(x, memory, (SECOND,), 2, ALONE, BOTH, 0.25, generator)
    normed, seen = torch_layers.norm(X, LOUD), torch.tensor([-8000.0, 0.0, 0.0, 8000.0])
    rows = rows_left(normed[0, 0], seen, LOUD, 0.25)
    assert_dropped(output, torch_layers.norm(rows, SECOND.feed_forward_norm))


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: 2400 numbers dropped alike again have no chance."""
    x, memory = 1e3 * draw.floats(2, 300, 1, 4)
    generator, layers = torch.Generator().manual_seed(0), (FIRST, SECOND)
    first, second = (
        stack_decoder_layers(x, memory, layers, 2, ALONE, ALONE, 0.5, generator) for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"
