"""042 · stack_encoder_layers, the ways it goes wrong."""

from kata.part05_sublayers import apply_dropout, layer_norm, normalize_last_dim
from kata.part06_transformer import assemble_encoder_layer as _layer


def _stack(x, layers, num_heads, mask, dropout_rate, generator):
    """The right answer, to spoil."""
    for layer in layers:
        x = _layer(x, layer, num_heads, mask, dropout_rate, generator)
    return x


def every_layer_reads_the_embedding(
    x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """Every layer reads what came in at the bottom: the last answer overwrites the others."""
    for layer in layers:
        output = _layer(x, layer, num_heads, source_mask, dropout_rate, generator)
    return output


def extra_final_norm(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """A norm comes after the stack: in a post-norm stack the last layer has normed already."""
    x = _stack(x, layers, num_heads, source_mask, dropout_rate, generator)
    return normalize_last_dim(x)


def last_norm_again(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The last layer's norm is applied once more, after the stack: it has normed already."""
    x = _stack(x, layers, num_heads, source_mask, dropout_rate, generator)
    return layer_norm(x, layers[-1].feed_forward_norm)


def one_layer_for_all(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The first layer's weights are used on every floor."""
    layers = [layers[0]] * len(layers)
    return _stack(x, layers, num_heads, source_mask, dropout_rate, generator)


def top_down(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The layers come in the wrong order, the last one first."""
    return _stack(x, layers[::-1], num_heads, source_mask, dropout_rate, generator)


def first_layer_only(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The answer is returned inside the loop, after the first layer."""
    return _stack(x, layers[:1], num_heads, source_mask, dropout_rate, generator)


def residual_around_the_stack(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What came in is added to what the stack makes of it: residuals go round sub-layers only."""
    return x + _stack(x, layers, num_heads, source_mask, dropout_rate, generator)


def mask_for_the_first_layer(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Only the first layer gets the mask: from the second on, padding is heard like a word."""
    x = _stack(x, layers[:1], num_heads, source_mask, dropout_rate, generator)
    everyone = source_mask | ~source_mask
    return _stack(x, layers[1:], num_heads, everyone, dropout_rate, generator)


def mask_dropped(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is not passed on: padding is heard like a word."""
    everyone = source_mask | ~source_mask
    return _stack(x, layers, num_heads, everyone, dropout_rate, generator)


def rate_dropped(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _stack(x, layers, num_heads, source_mask, 0.0, generator)


def rate_by_default(x, layers, num_heads, source_mask, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    return _stack(x, layers, num_heads, source_mask, dropout_rate, generator)


def generator_dropped(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The generator is not passed on: chance comes from torch's default one."""
    return _stack(x, layers, num_heads, source_mask, dropout_rate, None)


def generator_started_again(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each layer starts from a copy of the generator: all of them drop the same numbers."""
    for layer in layers:
        again = generator and generator.clone_state()
        x = _layer(x, layer, num_heads, source_mask, dropout_rate, again)
    return x


def generator_copied(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _stack(x, layers, num_heads, source_mask, dropout_rate, again)


def dropout_between_layers(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What a layer hands on is dropped once more: dropout sits inside the layers only."""
    for layer in layers:
        x = _layer(x, layer, num_heads, source_mask, dropout_rate, generator)
        x = apply_dropout(x, dropout_rate, generator)
    return x


def detached_between_layers(x, layers, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What a layer hands on is detached: only the last layer learns."""
    for layer in layers:
        x = _layer(x.detach(), layer, num_heads, source_mask, dropout_rate, generator)
    return x
