"""Right but unusual versions of step 047."""

from functools import partial, reduce
from itertools import accumulate

from kata.part06_transformer import (
    assemble_decoder_layer,
    decoder_layer_cross_attention_sublayer,
    decoder_layer_feed_forward_sublayer,
    decoder_layer_masked_self_attention_sublayer,
)


def last_layer_on_the_stack_below(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The last layer, on what the stack of the others hands it."""
    if not layers:
        return x
    *below, top = layers
    rest = (num_heads, target_mask, source_mask, dropout_rate, generator)
    x = last_layer_on_the_stack_below(x, memory, below, *rest)
    return assemble_decoder_layer(x, memory, top, *rest)


def folded(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """A fold over the layers."""
    rest = (num_heads, target_mask, source_mask, dropout_rate, generator)

    def climb(words, layer):
        return assemble_decoder_layer(words, memory, layer, *rest)

    return reduce(climb, layers, x)


def every_floor_on_the_way(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """``accumulate`` lists what every floor hands out, and the last one is taken."""
    floor = partial(
        assemble_decoder_layer,
        memory=memory,
        num_heads=num_heads,
        target_mask=target_mask,
        source_mask=source_mask,
        dropout_rate=dropout_rate,
        generator=generator,
    )
    *_, top = accumulate(layers, lambda words, layer: floor(words, layer=layer), initial=x)
    return top


def sublayers_called_here(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Three sub-layers a floor, and no layer is assembled."""
    chance = {"dropout_rate": dropout_rate, "generator": generator}
    for floor in range(len(layers)):
        layer = layers[floor]
        x = decoder_layer_masked_self_attention_sublayer(x, layer, num_heads, target_mask, **chance)
        x = decoder_layer_cross_attention_sublayer(
            x, memory, layer, num_heads, source_mask, **chance
        )
        x = decoder_layer_feed_forward_sublayer(x, layer, **chance)
    return x


def memory_laid_out_anew(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The layers read a copy of the memory, features first; gradients find their way back."""
    copied = memory.mT.contiguous().mT
    rest = (num_heads, target_mask, source_mask, dropout_rate, generator)
    stack = iter(layers)
    while (layer := next(stack, None)) is not None:
        x = assemble_decoder_layer(x, copied, layer, *rest)
    return x
