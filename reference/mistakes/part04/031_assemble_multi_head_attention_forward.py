"""Wrong versions of assemble_multi_head_attention_forward, one slip each."""

from math import sqrt

import torch

from kata.part04_multi_head import apply_linear_projection as _project
from kata.part04_multi_head import merge_heads_and_project_output as _finish
from kata.part04_multi_head import merge_heads_back_to_model_dim as _merge
from kata.part04_multi_head import multi_head_scaled_dot_product_attention as _attend
from kata.part04_multi_head import project_to_query_key_value as _project_all
from kata.part04_multi_head import split_qkv_into_heads as _split


def _multi_head(x, memory, weights, num_heads, mask):
    """The right answer, to spoil."""
    split = _split(*_project_all(x, memory, weights), num_heads)
    heads, shares = _attend(*split, mask)
    return _finish(heads, weights.output), shares


def x_and_memory_swapped(x, memory, weights, num_heads, mask=None):
    """x and memory are swapped: the memory asks, and x answers."""
    return _multi_head(memory, x, weights, num_heads, mask)


def all_from_memory(x, memory, weights, num_heads, mask=None):
    """Queries, keys and values all come from the memory."""
    return _multi_head(memory, memory, weights, num_heads, mask)


def memory_ignored(x, memory, weights, num_heads, mask=None):
    """Queries, keys and values all come from x: the memory is never read."""
    return _multi_head(x, x, weights, num_heads, mask)


def values_by_the_key_matrix(x, memory, weights, num_heads, mask=None):
    """The values go through the key's projection."""
    return _multi_head(x, memory, weights._replace(value=weights.key), num_heads, mask)


def mask_dropped(x, memory, weights, num_heads, mask=None):
    """The mask is not passed on."""
    return _multi_head(x, memory, weights, num_heads, None)


def mask_turned_round(x, memory, weights, num_heads, mask=None):
    """The mask is read the wrong way round, as if True meant hidden."""
    return _multi_head(x, memory, weights, num_heads, None if mask is None else ~mask)


def mask_of_any_shape(x, memory, weights, num_heads, mask=None):
    """Any mask is let through: the batch axis of (batch, queries, keys) lines up with the heads."""
    if mask is not None and mask.dim() < 4:
        mask = mask.expand(num_heads, x.shape[1], memory.shape[1]).unsqueeze(0)
    return _multi_head(x, memory, weights, num_heads, mask)


def three_axes_for_all_heads(x, memory, weights, num_heads, mask=None):
    """A mask with three axes is let through: the first could be sentences, or heads."""
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    return _multi_head(x, memory, weights, num_heads, mask)


def two_axes_broadcast(x, memory, weights, num_heads, mask=None):
    """A mask (1, keys) is let through, and spread over all queries in silence."""
    if mask is not None and mask.dim() == 2:
        mask = mask[None, None]
    return _multi_head(x, memory, weights, num_heads, mask)


def two_axes_may_be_padding(x, memory, weights, num_heads, mask=None):
    """A mask (batch, keys) is let through: where batch = queries, it is read as (queries, keys)."""
    table = x.shape[1], memory.shape[1]
    if mask is not None and mask.shape != table and mask.shape == (x.shape[0], memory.shape[1]):
        mask = mask[:, None, None, :]
    return _multi_head(x, memory, weights, num_heads, mask)


def numbers_for_a_mask(x, memory, weights, num_heads, mask=None):
    """A mask of numbers is turned to bool in silence."""
    return _multi_head(x, memory, weights, num_heads, None if mask is None else mask.bool())


def output_projection_skipped(x, memory, weights, num_heads, mask=None):
    """The merged heads are returned, not what the output projection makes of them."""
    split = _split(*_project_all(x, memory, weights), num_heads)
    heads, shares = _attend(*split, mask)
    return _merge(heads), shares


def weights_averaged(x, memory, weights, num_heads, mask=None):
    """The weights are averaged over the heads, as torch's module does unless told otherwise."""
    output, shares = _multi_head(x, memory, weights, num_heads, mask)
    return output, shares.mean(dim=1)


def scaled_by_the_model_width(x, memory, weights, num_heads, mask=None):
    """The scores are divided by the root of the whole width, sqrt(d_model)."""
    queries, keys, values = _split(*_project_all(x, memory, weights), num_heads)
    heads, shares = _attend(queries / sqrt(num_heads), keys, values, mask)
    return _finish(heads, weights.output), shares


def split_before_projecting(x, memory, weights, num_heads, mask=None):
    """The width is split first: each head projects its own slice, and never sees the others."""
    d_model = x.shape[-1]
    head_of = torch.arange(d_model, device=x.device) // (d_model // num_heads)
    own = head_of[:, None] == head_of
    cut = [each._replace(weight=each.weight * own) for each in weights[:3]]
    return _multi_head(
        x, memory, weights._replace(query=cut[0], key=cut[1], value=cut[2]), num_heads, mask
    )


def one_wide_head(x, memory, weights, num_heads, mask=None):
    """The width is never split: one wide head attends, whatever num_heads says."""
    return _multi_head(x, memory, weights, 1, mask)


def folded_by_a_bare_view(x, memory, weights, num_heads, mask=None):
    """Heads are cut and merged by reshape alone: each head attends over pieces of torn tokens."""

    def fold(projected):
        batch, length, d_model = projected.shape
        return projected.reshape(batch, num_heads, length, d_model // num_heads)

    queries, keys, values = _project_all(x, memory, weights)
    heads, shares = _attend(fold(queries), fold(keys), fold(values), mask)
    return _project(heads.reshape(x.shape), *weights.output), shares


def merged_by_a_bare_reshape(x, memory, weights, num_heads, mask=None):
    """The heads are merged by a reshape alone: the tokens are torn up."""
    split = _split(*_project_all(x, memory, weights), num_heads)
    heads, shares = _attend(*split, mask)
    return _project(heads.reshape(x.shape), *weights.output), shares


def dealt_like_cards(x, memory, weights, num_heads, mask=None):
    """Features are dealt out like cards, one to each head in turn: a head gets no neighbours."""
    dealt = (
        projected.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)
        for projected in _project_all(x, memory, weights)
    )
    heads, shares = _attend(*dealt, mask)
    return _project(heads.permute(0, 2, 3, 1).flatten(-2), *weights.output), shares


def keys_and_values_swapped(x, memory, weights, num_heads, mask=None):
    """Keys and values have changed places: values are compared, and keys are mixed."""
    swapped = weights._replace(key=weights.value, value=weights.key)
    return _multi_head(x, memory, swapped, num_heads, mask)


def residual_added(x, memory, weights, num_heads, mask=None):
    """x is added to the output already: that is step 038's business."""
    output, shares = _multi_head(x, memory, weights, num_heads, mask)
    return x + output, shares


def output_bias_forgotten(x, memory, weights, num_heads, mask=None):
    """The output bias is forgotten."""
    no_bias = weights._replace(output=weights.output._replace(bias=None))
    return _multi_head(x, memory, no_bias, num_heads, mask)


def nan_where_nothing_is_seen(x, memory, weights, num_heads, mask=None):
    """A query that sees nothing gives NaN, as a softmax of nothing but −inf does."""
    output, shares = _multi_head(x, memory, weights, num_heads, mask)
    blind = shares.detach().sum(dim=-1, keepdim=True) == 0
    nan = float("nan")
    return output.masked_fill(blind.any(dim=1), nan), shares.masked_fill(blind, nan)


def zeros_where_nothing_is_seen(x, memory, weights, num_heads, mask=None):
    """A query that sees nothing gets zeros at the very end, and loses the output bias."""
    output, shares = _multi_head(x, memory, weights, num_heads, mask)
    blind = shares.detach().sum(dim=-1, keepdim=True) == 0
    return output.masked_fill(blind.any(dim=1), 0), shares


def memory_detached(x, memory, weights, num_heads, mask=None):
    """The memory is detached, so that no gradient reaches the encoder that wrote it."""
    return _multi_head(x, memory.detach(), weights, num_heads, mask)
