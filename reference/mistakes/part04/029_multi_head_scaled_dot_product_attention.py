"""Wrong versions of multi_head_scaled_dot_product_attention, one slip each."""

from math import sqrt

import torch

from kata.part03_attention import mask_attention_scores_with_neg_inf as _hide
from kata.part03_attention import scaled_dot_product_attention as _attend
from kata.part03_attention import softmax_attention_weights as _softmax


def _check(queries, keys, mask):
    """The right check, for the versions that slip elsewhere."""
    wanted = (*queries.shape[:3], keys.shape[2])
    if mask is None or mask.shape == wanted[2:]:
        return
    if mask.dim() != 4 or any(mask.shape[i] not in (1, wanted[i]) for i in range(4)):
        raise ValueError(f"mask must broadcast to {wanted}, got {tuple(mask.shape)}")


def mask_of_any_shape(queries, keys, values, mask=None):
    """Any mask is let through: the batch axis of (batch, queries, keys) lines up with the heads."""
    return _attend(queries, keys, values, mask)


def two_axes_broadcast(queries, keys, values, mask=None):
    """Only the axes are counted: of two, one may be 1, and is spread over all queries or keys."""
    if mask is not None and mask.dim() not in (2, 4):
        raise ValueError(f"mask must be {(queries.shape[2], keys.shape[2])}, got {mask.shape}")
    return _attend(queries, keys, values, mask)


def three_axes_for_all_heads(queries, keys, values, mask=None):
    """A mask with three axes is let through: the first could be sentences, or heads."""
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    _check(queries, keys, mask)
    return _attend(queries, keys, values, mask)


def two_axes_are_padding(queries, keys, values, mask=None):
    """A mask with two axes is taken for (batch, keys), and not for (queries, keys)."""
    if mask is not None and mask.dim() == 2:
        mask = mask[:, None, None, :]
    _check(queries, keys, mask)
    return _attend(queries, keys, values, mask)


def mask_turned_round(queries, keys, values, mask=None):
    """The mask is read the wrong way round, as if True meant hidden."""
    _check(queries, keys, mask)
    return _attend(queries, keys, values, None if mask is None else ~mask)


def mask_dropped(queries, keys, values, mask=None):
    """The mask is checked, but not passed on."""
    _check(queries, keys, mask)
    if mask is not None:
        _attend(queries, keys, values, mask)
    return _attend(queries, keys, values)


def first_heads_mask_for_all(queries, keys, values, mask=None):
    """Every head gets the first head's mask."""
    _check(queries, keys, mask)
    if mask is not None and mask.dim() == 4:
        mask = mask[:, :1]
    return _attend(queries, keys, values, mask)


def first_sentences_mask_for_all(queries, keys, values, mask=None):
    """Every sentence gets the first sentence's mask."""
    _check(queries, keys, mask)
    if mask is not None and mask.dim() == 4:
        mask = mask[:1]
    return _attend(queries, keys, values, mask)


def scaled_by_the_model_width(queries, keys, values, mask=None):
    """The scores are divided by the root of the whole width, sqrt(heads · d_k)."""
    _check(queries, keys, mask)
    return _attend(queries / sqrt(queries.shape[1]), keys, values, mask)


def not_scaled(queries, keys, values, mask=None):
    """The scores are not divided by sqrt(d_k)."""
    _check(queries, keys, mask)
    return _attend(queries * sqrt(queries.shape[-1]), keys, values, mask)


def one_softmax_for_all_heads(queries, keys, values, mask=None):
    """One softmax runs over heads and keys together: only all heads' weights add up to 1."""
    _check(queries, keys, mask)
    scores = queries @ keys.transpose(-2, -1) / sqrt(queries.shape[-1])
    scores = _hide(scores, mask)
    together = _softmax(scores.transpose(1, 2).flatten(-2))
    weights = together.unflatten(-1, (scores.shape[1], scores.shape[3])).transpose(1, 2)
    return weights @ values, weights


def softmax_over_heads(queries, keys, values, mask=None):
    """The softmax runs over the heads, which makes them compete for each key."""
    _check(queries, keys, mask)
    scores = _hide(queries @ keys.transpose(-2, -1) / sqrt(queries.shape[-1]), mask)
    weights = _softmax(scores.transpose(1, 3)).transpose(1, 3)
    return weights @ values, weights


def weights_averaged(queries, keys, values, mask=None):
    """The weights are averaged over the heads before they are returned."""
    _check(queries, keys, mask)
    heads, weights = _attend(queries, keys, values, mask)
    return heads, weights.mean(dim=1)


def average_weights_used(queries, keys, values, mask=None):
    """All heads mix their values by the heads' average weights."""
    _check(queries, keys, mask)
    _, weights = _attend(queries, keys, values, mask)
    shared = weights.mean(dim=1, keepdim=True).expand_as(weights)
    return shared @ values, shared


def only_the_heads_returned(queries, keys, values, mask=None):
    """Only what the heads found is returned, without their weights."""
    _check(queries, keys, mask)
    return _attend(queries, keys, values, mask)[0]


def weights_first(queries, keys, values, mask=None):
    """Weights and heads are returned in each other's place."""
    _check(queries, keys, mask)
    heads, weights = _attend(queries, keys, values, mask)
    return weights, heads


def weights_detached(queries, keys, values, mask=None):
    """The weights are returned detached, so that nothing can be learned from them."""
    _check(queries, keys, mask)
    heads, weights = _attend(queries, keys, values, mask)
    return heads, weights.detach()


def numbers_for_a_mask(queries, keys, values, mask=None):
    """A mask of numbers is turned to bool in silence."""
    _check(queries, keys, mask)
    return _attend(queries, keys, values, None if mask is None else mask.bool())


def even_look_at_nothing(queries, keys, values, mask=None):
    """A query that sees nothing looks at every key alike: −1e9 stands where −inf is meant."""
    _check(queries, keys, mask)
    if mask is None:
        return _attend(queries, keys, values)
    _attend(queries, keys, values, mask)
    scores = queries @ keys.transpose(-2, -1) / sqrt(queries.shape[-1])
    lowest = max(-1e9, torch.finfo(scores.dtype).min)
    weights = _softmax(scores.masked_fill(~mask, lowest))
    return weights @ values, weights
