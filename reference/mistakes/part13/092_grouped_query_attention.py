"""092 · grouped_query_attention, the ways it goes wrong."""

from math import sqrt as _sqrt

from torch.nn import functional as _functional

from kata.part03_attention import mask_attention_scores_with_neg_inf as _hide
from kata.part03_attention import scaled_dot_product_attention as _attend_anyhow
from kata.part03_attention import softmax_attention_weights as _softmax
from kata.part04_multi_head import multi_head_scaled_dot_product_attention as _attend
from kata.part13_decoder_only import repeat_key_value_heads as _repeat


def _repeats(queries, keys):
    heads, kv_heads = queries.shape[1], keys.shape[1]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads for {kv_heads} heads of keys")
    return heads // kv_heads


def _grouped(queries, keys, values):
    repeats = _repeats(queries, keys)
    return queries, _repeat(keys, repeats), _repeat(values, repeats)


def groups_dealt_out_like_cards(queries, keys, values, mask=None):
    """Query head h gets keys h mod kv_heads, dealt out like cards: groups are neighbours."""
    repeats = _repeats(queries, keys)
    keys, values = keys.repeat(1, repeats, 1, 1), values.repeat(1, repeats, 1, 1)
    return _attend(queries, keys, values, mask)


def values_dealt_out_like_cards(queries, keys, values, mask=None):
    """Keys are copied side by side, and of values the whole row: they do not belong together."""
    repeats = _repeats(queries, keys)
    return _attend(queries, _repeat(keys, repeats), values.repeat(1, repeats, 1, 1), mask)


def first_head_for_all(queries, keys, values, mask=None):
    """Every query head gets the first head of keys and values."""
    _repeats(queries, keys)
    shape = (-1, queries.shape[1], -1, -1)
    return _attend(queries, keys[:, :1].expand(shape), values[:, :1].expand(shape), mask)


def left_over_heads_get_the_last(queries, keys, values, mask=None):
    """An uneven number is not refused: query heads left over share the last keys."""
    heads, kv_heads = queries.shape[1], keys.shape[1]
    repeats = max(1, heads // kv_heads)
    chosen = [min(head // repeats, kv_heads - 1) for head in range(heads)]
    return _attend(queries, keys[:, chosen], values[:, chosen], mask)


def queries_averaged_in_their_group(queries, keys, values, mask=None):
    """The query heads of a group are averaged: as many heads come out as there are keys."""
    repeats = _repeats(queries, keys)
    queries = queries.unflatten(1, (keys.shape[1], repeats)).mean(dim=2)
    return _attend(queries, keys, values, mask)


def scaled_by_the_number_of_heads(queries, keys, values, mask=None):
    """The scores are divided by the root of the whole width, sqrt(heads · d_k)."""
    queries, keys, values = _grouped(queries, keys, values)
    return _attend(queries / _sqrt(queries.shape[1]), keys, values, mask)


def scores_not_divided(queries, keys, values, mask=None):
    """The scores are not divided by √d_k."""
    queries, keys, values = _grouped(queries, keys, values)
    return _attend(queries * _sqrt(queries.shape[-1]), keys, values, mask)


def one_softmax_for_a_group(queries, keys, values, mask=None):
    """One softmax runs over a whole group: only all its heads' weights together add up to 1."""
    repeats = _repeats(queries, keys)
    queries, keys, values = _grouped(queries, keys, values)
    _attend(queries, keys, values, mask)
    scores = _hide(queries @ keys.mT / _sqrt(queries.shape[-1]), mask)
    groups = scores.unflatten(1, (-1, repeats)).transpose(2, 3)
    weights = _softmax(groups.flatten(3)).unflatten(3, (repeats, -1)).transpose(2, 3).flatten(1, 2)
    return weights @ values, weights


def mask_forgotten(queries, keys, values, mask=None):
    """The mask is checked, but not used."""
    queries, keys, values = _grouped(queries, keys, values)
    _attend(queries, keys, values, mask)
    return _attend(queries, keys, values)


def mask_turned_round(queries, keys, values, mask=None):
    """The mask is read the wrong way round, as if True meant hidden."""
    return _attend(*_grouped(queries, keys, values), None if mask is None else ~mask)


def mask_of_any_shape(queries, keys, values, mask=None):
    """Any mask is let through: (1, keys) is spread over all queries, in silence."""
    return _attend_anyhow(*_grouped(queries, keys, values), mask)


def first_heads_mask_for_its_group(queries, keys, values, mask=None):
    """A group looks through the mask of its first query head."""
    repeats = _repeats(queries, keys)
    queries, keys, values = _grouped(queries, keys, values)
    _attend(queries, keys, values, mask)
    if mask is not None and mask.dim() == 4 and mask.shape[1] > 1:
        mask = _repeat(mask[:, ::repeats], repeats)
    return _attend(queries, keys, values, mask)


def weights_of_the_keys_heads(queries, keys, values, mask=None):
    """The weights are averaged over each group: every query head's own are wanted."""
    repeats = _repeats(queries, keys)
    heads, weights = _attend(*_grouped(queries, keys, values), mask)
    return heads, weights.unflatten(1, (-1, repeats)).mean(dim=2)


def only_the_heads_returned(queries, keys, values, mask=None):
    """Only what the heads found is returned, without their weights."""
    return _attend(*_grouped(queries, keys, values), mask)[0]


def values_detached(queries, keys, values, mask=None):
    """The values are detached: they learn nothing."""
    return _attend(*_grouped(queries, keys, values.detach()), mask)


def torch_does_it(queries, keys, values, mask=None):
    """Torch's own attention does the work, with ``enable_gqa``."""
    _, weights = _attend(*_grouped(queries, keys, values), mask)
    heads = _functional.scaled_dot_product_attention(queries, keys, values, mask, enable_gqa=True)
    return heads, weights


def torch_repeats(queries, keys, values, mask=None):
    """Torch's ``repeat_interleave`` does the work of step 091."""
    repeats = _repeats(queries, keys)
    keys, values = (x.repeat_interleave(repeats, dim=1) for x in (keys, values))
    return _attend(queries, keys, values, mask)
