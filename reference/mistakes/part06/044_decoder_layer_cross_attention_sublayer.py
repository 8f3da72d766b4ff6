"""044 · decoder_layer_cross_attention_sublayer, the ways it goes wrong."""

import torch

from kata.part04_multi_head import assemble_multi_head_attention_forward as _attend
from kata.part04_multi_head import (
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_qkv_into_heads,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, layer_norm


def _seen(x, memory, layer, num_heads, mask):
    return _attend(x, memory, layer.cross_attention, num_heads, mask)[0]


def _sublayer(x, memory, layer, num_heads, mask, dropout_rate, generator):
    """The right answer, to spoil."""
    seen = _seen(x, memory, layer, num_heads, mask)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def x_and_memory_swapped(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """x and memory have changed places: the source asks, and the translation answers."""
    seen, _ = _attend(memory, x, layer.cross_attention, num_heads)
    return add_and_norm(memory, seen, layer.cross_attention_norm, dropout_rate, generator)


def swapped_under_the_mask(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """x and memory have changed places, and the source's mask lies over the translation."""
    seen = _seen(memory, x, layer, num_heads, source_mask)
    return add_and_norm(memory, seen, layer.cross_attention_norm, dropout_rate, generator)


def memory_ignored(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Keys and values come from x as well: the source is never looked at."""
    seen, _ = _attend(x, x, layer.cross_attention, num_heads)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def memory_ignored_under_its_mask(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is never read: x attends to itself, under a mask that is as long as the source."""
    return _sublayer(x, x, layer, num_heads, source_mask, dropout_rate, generator)


def memory_asks(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The queries come from the memory too: it looks itself over, and x is only added."""
    seen = _seen(memory, memory, layer, num_heads, source_mask)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def residual_from_memory(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """What was seen is added to the memory, not to the decoder's x."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    return add_and_norm(memory, seen, layer.cross_attention_norm, dropout_rate, generator)


def no_residual(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was seen is not added to x: it takes the place of x."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    return layer_norm(apply_dropout(seen, dropout_rate, generator), layer.cross_attention_norm)


def norm_on_the_branch(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Only what was seen is normed, and x is added afterwards: x + LN(f(x))."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    return x + layer_norm(apply_dropout(seen, dropout_rate, generator), layer.cross_attention_norm)


def pre_norm(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The norm comes first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    normed = layer_norm(x, layer.cross_attention_norm)
    seen = _seen(normed, memory, layer, num_heads, source_mask)
    return x + apply_dropout(seen, dropout_rate, generator)


def no_norm(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The sum is not normed: x + f(x) is only half of the sub-layer."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    return x + apply_dropout(seen, dropout_rate, generator)


def mask_dropped(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The source's mask is not passed on: padding of the source is seen like a word."""
    return _sublayer(x, memory, layer, num_heads, None, dropout_rate, generator)


def mask_turned_round(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is turned round, as torch's modules want it: here True means may be seen."""
    return _sublayer(x, memory, layer, num_heads, ~source_mask, dropout_rate, generator)


def causal_too(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Cross-attention is made causal: word t sees no more than the first t words of the source."""
    shape = x.shape[1], memory.shape[1]
    staircase = torch.ones(shape, dtype=torch.bool, device=x.device).tril()
    mask = source_mask & staircase if source_mask.dtype == torch.bool else source_mask
    return _sublayer(x, memory, layer, num_heads, mask, dropout_rate, generator)


def numbers_for_a_mask(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """A mask of numbers is turned to bool in silence."""
    return _sublayer(x, memory, layer, num_heads, source_mask.bool(), dropout_rate, generator)


def weights_of_self_attention(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """The weights of self-attention are used, not those of cross-attention."""
    layer = layer._replace(cross_attention=layer.self_attention)
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def norm_of_self_attention(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """The norm of self-attention is used, not the one of cross-attention."""
    layer = layer._replace(cross_attention_norm=layer.self_attention_norm)
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def memory_normed(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The memory is normed before it is looked at: the encoder has normed it already."""
    memory = layer_norm(memory, layer.cross_attention_norm)
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def memory_detached(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The memory is detached: no gradient reaches the encoder, and it never learns."""
    return _sublayer(x, memory.detach(), layer, num_heads, source_mask, dropout_rate, generator)


def rate_dropped(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _sublayer(x, memory, layer, num_heads, source_mask, 0.0, generator)


def rate_by_default(x, memory, layer, num_heads, source_mask, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def generator_dropped(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The generator is not passed on: chance comes from torch's default one."""
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, None)


def generator_copied(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _sublayer(x, memory, layer, num_heads, source_mask, dropout_rate, again)


def dropout_on_the_shares(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """Dropout falls on the attention weights too, as in many libraries: not in the paper."""
    projected = project_to_query_key_value(x, memory, layer.cross_attention)
    queries, keys, values = split_qkv_into_heads(*projected, num_heads)
    _, shares = multi_head_scaled_dot_product_attention(queries, keys, values, source_mask)
    heads = apply_dropout(shares, dropout_rate, generator) @ values
    seen = merge_heads_and_project_output(heads, layer.cross_attention.output)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def dropout_on_the_sum(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the sum, x and all, not on what was seen."""
    total = x + _seen(x, memory, layer, num_heads, source_mask)
    return layer_norm(apply_dropout(total, dropout_rate, generator), layer.cross_attention_norm)


def dropout_on_x(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on x, and what was seen is never dropped."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    total = apply_dropout(x, dropout_rate, generator) + seen
    return layer_norm(total, layer.cross_attention_norm)


def dropout_after_the_norm(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """Dropout comes last, after the norm."""
    normed = _sublayer(x, memory, layer, num_heads, source_mask, 0.0, None)
    return apply_dropout(normed, dropout_rate, generator)


def added_in_place(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was seen is added to x in place: the caller's tensor changes."""
    seen = _seen(x, memory, layer, num_heads, source_mask)
    x += apply_dropout(seen, dropout_rate, generator)
    return layer_norm(x, layer.cross_attention_norm)
