"""039 · encoder_layer_self_attention_sublayer, the ways it goes wrong."""

from kata.part04_multi_head import assemble_multi_head_attention_forward as _attend
from kata.part04_multi_head import (
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_qkv_into_heads,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, layer_norm


def _heard(x, layer, num_heads, source_mask):
    return _attend(x, x, layer.self_attention, num_heads, source_mask)[0]


def no_residual(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was heard is not added to x: it takes the place of x."""
    heard = _heard(x, layer, num_heads, source_mask)
    return layer_norm(apply_dropout(heard, dropout_rate, generator), layer.self_attention_norm)


def norm_on_the_branch(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Only what was heard is normed, and x is added afterwards: x + LN(f(x))."""
    heard = _heard(x, layer, num_heads, source_mask)
    normed = layer_norm(apply_dropout(heard, dropout_rate, generator), layer.self_attention_norm)
    return x + normed


def pre_norm(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The norm comes first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    normed = layer_norm(x, layer.self_attention_norm)
    return x + apply_dropout(_heard(normed, layer, num_heads, source_mask), dropout_rate, generator)


def no_norm(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The sum is not normed: x + f(x) is only half of the sub-layer."""
    return x + apply_dropout(_heard(x, layer, num_heads, source_mask), dropout_rate, generator)


def norm_of_the_other_half(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The feed-forward network's norm is used, not the one of self-attention."""
    heard = _heard(x, layer, num_heads, source_mask)
    return add_and_norm(x, heard, layer.feed_forward_norm, dropout_rate, generator)


def mask_dropped(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is not passed on: padding is heard like a word."""
    heard = _heard(x, layer, num_heads, None)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def mask_turned_round(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is turned round, as torch's modules want it: here True means may be heard."""
    heard = _heard(x, layer, num_heads, ~source_mask)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def numbers_for_a_mask(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """A mask of numbers is turned to bool in silence."""
    heard = _heard(x, layer, num_heads, source_mask.bool())
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def rate_dropped(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    heard = _heard(x, layer, num_heads, source_mask)
    return add_and_norm(x, heard, layer.self_attention_norm)


def rate_by_default(x, layer, num_heads, source_mask, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    heard = _heard(x, layer, num_heads, source_mask)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def generator_dropped(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The generator is not passed on: chance comes from torch's default one."""
    heard = _heard(x, layer, num_heads, source_mask)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate)


def generator_copied(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    heard = _heard(x, layer, num_heads, source_mask)
    again = generator and generator.clone_state()
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, again)


def dropout_on_the_sum(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the sum, x and all, not on what was heard."""
    total = x + _heard(x, layer, num_heads, source_mask)
    return layer_norm(apply_dropout(total, dropout_rate, generator), layer.self_attention_norm)


def dropout_on_x(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on x, and what was heard is never dropped."""
    heard = _heard(x, layer, num_heads, source_mask)
    total = apply_dropout(x, dropout_rate, generator) + heard
    return layer_norm(total, layer.self_attention_norm)


def dropout_after_the_norm(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout comes last, after the norm."""
    normed = add_and_norm(x, _heard(x, layer, num_heads, source_mask), layer.self_attention_norm)
    return apply_dropout(normed, dropout_rate, generator)


def dropout_on_the_shares(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the attention weights too, as in many libraries: not in the paper."""
    projected = project_to_query_key_value(x, x, layer.self_attention)
    queries, keys, values = split_qkv_into_heads(*projected, num_heads)
    _, shares = multi_head_scaled_dot_product_attention(queries, keys, values, source_mask)
    heads = apply_dropout(shares, dropout_rate, generator) @ values
    heard = merge_heads_and_project_output(heads, layer.self_attention.output)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def added_in_place(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was heard is added to x in place: the caller's tensor changes."""
    heard = _heard(x, layer, num_heads, source_mask)
    x += apply_dropout(heard, dropout_rate, generator)
    return layer_norm(x, layer.self_attention_norm)


def weights_returned_too(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The attention weights come along: only the words are asked for here."""
    heard, shares = _attend(x, x, layer.self_attention, num_heads, source_mask)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator), shares
