"""Wrong versions of step 098, one slip each."""

import torch

from kata.part03_attention import build_causal_mask
from kata.part04_multi_head import multi_head_scaled_dot_product_attention


def own_key_left_out(queries, cache):
    """A query does not hear its own key, only those before it."""
    return _attend(queries, cache, shift=-1)


def one_step_into_the_future(queries, cache):
    """A query hears one key behind its own."""
    return _attend(queries, cache, shift=1)


def no_mask(queries, cache):
    """No causal mask: of several queries the first ones hear the last."""
    return _attend(queries, cache, shift=cache.length)


def mask_only_behind_others(queries, cache):
    """The mask is left out while the cache holds these tokens alone, as if nothing were ahead."""
    empty = queries.shape[2] == cache.length
    return _attend(queries, cache, shift=cache.length if empty else 0)


def mask_aligned_left(queries, cache):
    """The mask starts at key 0: the first query sees one key, however many were there before."""
    _check(queries, cache)
    mask = build_causal_mask(cache.length, queries.device)[: queries.shape[2]]
    return _heads(queries, cache, mask)


def free_places_heard(queries, cache):
    """The whole room is attended to, free places too."""
    _check(queries, cache)
    room = cache.keys.shape[2]
    start = cache.length - queries.shape[2]
    mask = torch.ones(queries.shape[2], room, dtype=torch.bool, device=queries.device)
    mask[:, : cache.length] = mask[:, : cache.length].tril(start)
    return multi_head_scaled_dot_product_attention(queries, cache.keys, cache.values, mask)[0]


def not_checked(queries, cache):
    """More queries than keys are let through: they see nothing and get zeros."""
    mask = torch.ones(queries.shape[2], cache.length, dtype=torch.bool, device=queries.device)
    return _heads(queries, cache, mask.tril(cache.length - queries.shape[2]))


def scores_not_divided(queries, cache):
    """The scores are not divided by √d_k."""
    return _attend(queries * queries.shape[-1] ** 0.5, cache, shift=0)


def mask_on_the_cpu(queries, cache):
    """The mask is made on the CPU, wherever the queries are."""
    _check(queries, cache)
    mask = build_causal_mask(cache.length, "cpu")[cache.length - queries.shape[2] :]
    return _heads(queries, cache, mask)


def keys_for_values(queries, cache):
    """Keys and values change places."""
    _check(queries, cache)
    mask = build_causal_mask(cache.length, queries.device)[cache.length - queries.shape[2] :]
    keys, values = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
    return multi_head_scaled_dot_product_attention(queries, values, keys, mask)[0]


def _check(queries, cache):
    if queries.shape[2] > cache.length:
        raise ValueError(f"{queries.shape[2]} queries, {cache.length} keys")


def _attend(queries, cache, shift):
    _check(queries, cache)
    new, length = queries.shape[2], cache.length
    mask = torch.ones(new, length, dtype=torch.bool, device=queries.device)
    return _heads(queries, cache, mask.tril(length - new + shift))


def _heads(queries, cache, mask):
    keys, values = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
    return multi_head_scaled_dot_product_attention(queries, keys, values, mask)[0]
