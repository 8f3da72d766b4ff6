"""042 · stack_encoder_layers, right all the same."""

from functools import reduce

from kata.part06_transformer import assemble_encoder_layer as _layer
from kata.part06_transformer import (
    encoder_layer_feed_forward_sublayer,
    encoder_layer_self_attention_sublayer,
)


def folded(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """A fold over the layers."""
    return reduce(
        lambda y, layer: _layer(y, layer, num_heads, source_mask, dropout_rate, generator),
        layers,
        x,
    )


def one_layer_and_the_rest(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The first layer, and the stack of the others on top of it."""
    if not layers:
        return x
    first, *rest = layers
    chance = {"dropout_rate": dropout_rate, "generator": generator}
    x = encoder_layer_self_attention_sublayer(x, first, num_heads, source_mask, **chance)
    x = encoder_layer_feed_forward_sublayer(x, first, **chance)
    return one_layer_and_the_rest(x, rest, num_heads, source_mask, **chance)
