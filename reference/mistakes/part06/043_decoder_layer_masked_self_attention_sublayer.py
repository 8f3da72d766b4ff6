"""043 · decoder_layer_masked_self_attention_sublayer, the ways it goes wrong."""

import torch

from kata.part04_multi_head import assemble_multi_head_attention_forward as _attend
from kata.part04_multi_head import (
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_qkv_into_heads,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, layer_norm


def _heard(x, layer, num_heads, target_mask):
    return _attend(x, x, layer.self_attention, num_heads, target_mask)[0]


def _sublayer(x, layer, num_heads, mask, dropout_rate, generator):
    """The right answer, to spoil."""
    heard = _heard(x, layer, num_heads, mask)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def _staircase(x):
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()


def mask_dropped(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The mask is not passed on: every word hears the words that are still to come."""
    return _sublayer(x, layer, num_heads, None, dropout_rate, generator)


def causal_part_only(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """A staircase of its own takes the place of the mask: what it said of padding is lost."""
    if target_mask.dtype != torch.bool:
        raise TypeError(f"a bool mask is wanted, got {target_mask.dtype}")
    return _sublayer(x, layer, num_heads, _staircase(x), dropout_rate, generator)


def padding_part_only(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Every word hears what the last one hears: padding is hidden, the future is not."""
    last_row = target_mask[..., -1:, :].expand_as(target_mask)
    return _sublayer(x, layer, num_heads, last_row, dropout_rate, generator)


def mask_turned_round(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The mask is turned round, as torch's modules want it: here True means may be heard."""
    return _sublayer(x, layer, num_heads, ~target_mask, dropout_rate, generator)


def mask_transposed(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Rows and columns of the mask have changed places: each word hears the future alone."""
    return _sublayer(x, layer, num_heads, target_mask.mT, dropout_rate, generator)


def not_itself(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The diagonal is taken out of the mask: no word hears itself."""
    before = _staircase(x).tril(-1)
    mask = target_mask & before if target_mask.dtype == torch.bool else target_mask
    return _sublayer(x, layer, num_heads, mask, dropout_rate, generator)


def numbers_for_a_mask(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """A mask of numbers is turned to bool in silence."""
    return _sublayer(x, layer, num_heads, target_mask.bool(), dropout_rate, generator)


def weights_of_cross_attention(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The weights of cross-attention are used, not those of self-attention."""
    layer = layer._replace(self_attention=layer.cross_attention)
    return _sublayer(x, layer, num_heads, target_mask, dropout_rate, generator)


def norm_of_cross_attention(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The norm of cross-attention is used, not the one of self-attention."""
    layer = layer._replace(self_attention_norm=layer.cross_attention_norm)
    return _sublayer(x, layer, num_heads, target_mask, dropout_rate, generator)


def no_residual(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """What was heard is not added to x: it takes the place of x."""
    heard = _heard(x, layer, num_heads, target_mask)
    return layer_norm(apply_dropout(heard, dropout_rate, generator), layer.self_attention_norm)


def norm_on_the_branch(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Only what was heard is normed, and x is added afterwards: x + LN(f(x))."""
    heard = _heard(x, layer, num_heads, target_mask)
    normed = layer_norm(apply_dropout(heard, dropout_rate, generator), layer.self_attention_norm)
    return x + normed


def pre_norm(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The norm comes first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    normed = layer_norm(x, layer.self_attention_norm)
    return x + apply_dropout(_heard(normed, layer, num_heads, target_mask), dropout_rate, generator)


def no_norm(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The sum is not normed: x + f(x) is only half of the sub-layer."""
    return x + apply_dropout(_heard(x, layer, num_heads, target_mask), dropout_rate, generator)


def rate_dropped(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _sublayer(x, layer, num_heads, target_mask, 0.0, generator)


def rate_by_default(x, layer, num_heads, target_mask, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    return _sublayer(x, layer, num_heads, target_mask, dropout_rate, generator)


def generator_dropped(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The generator is not passed on: chance comes from torch's default one."""
    return _sublayer(x, layer, num_heads, target_mask, dropout_rate, None)


def generator_copied(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _sublayer(x, layer, num_heads, target_mask, dropout_rate, again)


def dropout_on_the_shares(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the attention weights too, as in many libraries: not in the paper."""
    projected = project_to_query_key_value(x, x, layer.self_attention)
    queries, keys, values = split_qkv_into_heads(*projected, num_heads)
    _, shares = multi_head_scaled_dot_product_attention(queries, keys, values, target_mask)
    heads = apply_dropout(shares, dropout_rate, generator) @ values
    heard = merge_heads_and_project_output(heads, layer.self_attention.output)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def dropout_on_the_sum(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the sum, x and all, not on what was heard."""
    total = x + _heard(x, layer, num_heads, target_mask)
    return layer_norm(apply_dropout(total, dropout_rate, generator), layer.self_attention_norm)


def dropout_on_x(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on x, and what was heard is never dropped."""
    heard = _heard(x, layer, num_heads, target_mask)
    total = apply_dropout(x, dropout_rate, generator) + heard
    return layer_norm(total, layer.self_attention_norm)


def dropout_after_the_norm(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Dropout comes last, after the norm."""
    normed = _sublayer(x, layer, num_heads, target_mask, 0.0, None)
    return apply_dropout(normed, dropout_rate, generator)


def heard_detached(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """What was heard is detached: the attention's weights get no gradient and never learn."""
    heard = _heard(x, layer, num_heads, target_mask).detach()
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def added_in_place(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """What was heard is added to x in place: the caller's tensor changes."""
    heard = _heard(x, layer, num_heads, target_mask)
    x += apply_dropout(heard, dropout_rate, generator)
    return layer_norm(x, layer.self_attention_norm)
