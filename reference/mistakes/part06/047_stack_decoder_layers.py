"""047 · stack_decoder_layers, the ways it goes wrong."""

from kata.part05_sublayers import apply_dropout, layer_norm, normalize_last_dim
from kata.part06_transformer import assemble_decoder_layer as _layer


def _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator):
    """The right answer, to spoil."""
    for layer in layers:
        x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
    return x


def every_layer_reads_the_embedding(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Every layer reads what came in at the bottom: the last answer overwrites the others."""
    last = layers[-1:]
    return _stack(x, memory, last, num_heads, target_mask, source_mask, dropout_rate, generator)


def memory_overwritten(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Each layer's answer becomes the next layer's memory: the source is seen once only."""
    for layer in layers:
        x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
        memory, source_mask = x, target_mask
    return x


def memory_normed_again(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is normed before each layer looks at it: the encoder has normed it already."""
    memory = normalize_last_dim(memory)
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def extra_final_norm(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """A norm comes after the stack: in a post-norm stack the last layer has normed already."""
    x = _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)
    return normalize_last_dim(x)


def last_norm_again(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The last layer's norm is applied once more, after the stack: it has normed already."""
    x = _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)
    return layer_norm(x, layers[-1].feed_forward_norm)


def one_layer_for_all(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The first layer's weights are used on every floor."""
    layers = [layers[0]] * len(layers)
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def top_down(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The layers come in the wrong order, the last one first."""
    layers = layers[::-1]
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def first_layer_only(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The answer is returned inside the loop, after the first layer."""
    layers = layers[:1]
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def stairs_for_the_first_layer(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Only the first layer gets the target's mask: from the second on, the future is heard."""
    sizes = num_heads, target_mask, source_mask, dropout_rate, generator
    x = _stack(x, memory, layers[:1], *sizes)
    everyone = target_mask | ~target_mask
    return _stack(x, memory, layers[1:], num_heads, everyone, *sizes[2:])


def source_mask_for_the_first_layer(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Only the first layer gets the source's mask: from the second on, padding is seen."""
    x = _stack(x, memory, layers[:1], num_heads, target_mask, source_mask, dropout_rate, generator)
    everyone = source_mask | ~source_mask
    return _stack(x, memory, layers[1:], num_heads, target_mask, everyone, dropout_rate, generator)


def rate_dropped(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, 0.0, generator)


def rate_by_default(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.1, generator=None
):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def generator_dropped(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The generator is not passed on: chance comes from torch's default one."""
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, None)


def generator_started_again(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Each layer starts from a copy of the generator: all of them drop the same numbers."""
    for layer in layers:
        again = generator and generator.clone_state()
        x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, again)
    return x


def generator_copied(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, again)


def dropout_between_layers(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """What a layer hands on is dropped once more: dropout sits inside the layers only."""
    for layer in layers:
        x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
        x = apply_dropout(x, dropout_rate, generator)
    return x


def memory_dropped(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is dropped anew for each layer: only what was seen is to be dropped."""
    for layer in layers:
        holes = apply_dropout(memory, dropout_rate, generator)
        x = _layer(x, holes, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
    return x


def memory_detached(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is detached: no gradient reaches the encoder, and it never learns."""
    memory = memory.detach()
    return _stack(x, memory, layers, num_heads, target_mask, source_mask, dropout_rate, generator)


def detached_between_layers(
    x, memory, layers, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """What a layer hands on is detached: only the last layer learns."""
    for layer in layers:
        x = x.detach()
        x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
    return x
