"""Wrong versions of step 022, one slip each."""

import math

import torch
from torch.nn import functional

from kata.part03_attention import (
    apply_attention_weights_to_values,
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
    softmax_attention_weights,
)

_renamed = functional.scaled_dot_product_attention


def no_scale(queries, keys, values, mask=None):
    """The scores are not divided by sqrt(d_k)."""
    scores = compute_raw_attention_scores(queries, keys)
    return _finish(scores, values, mask)


def divided_by_the_width(queries, keys, values, mask=None):
    """The scores are divided by d_k, not by its square root."""
    scores = compute_raw_attention_scores(queries, keys) / queries.shape[-1]
    return _finish(scores, values, mask)


def scaled_by_the_width_of_the_values(queries, keys, values, mask=None):
    """The scores are divided by the root of the values' width, not of d_k."""
    scores = compute_raw_attention_scores(queries, keys)
    return _finish(scale_attention_scores(scores, values.shape[-1]), values, mask)


def scaled_by_the_number_of_keys(queries, keys, values, mask=None):
    """The scores are divided by the root of the number of keys, not of d_k."""
    scores = compute_raw_attention_scores(queries, keys)
    return _finish(scale_attention_scores(scores, keys.shape[-2]), values, mask)


def scaled_after_the_softmax(queries, keys, values, mask=None):
    """The weights are scaled after the softmax, and no longer add up to 1."""
    _, weights = _finish(compute_raw_attention_scores(queries, keys), values, mask)
    weights = scale_attention_scores(weights, queries.shape[-1])
    return apply_attention_weights_to_values(weights, values), weights


def no_softmax(queries, keys, values, mask=None):
    """The softmax is left out: the scores themselves mix the values."""
    masked = mask_attention_scores_with_neg_inf(_scores(queries, keys), mask)
    return apply_attention_weights_to_values(masked, values), masked


def mask_dropped(queries, keys, values, mask=None):
    """The mask is not passed on: every key is heard."""
    return _finish(_scores(queries, keys), values, None)


def mask_turned_round(queries, keys, values, mask=None):
    """The mask is turned round: True means may be attended to, and those are hidden here."""
    if mask is not None and mask.dtype == torch.bool:
        mask = ~mask
    return _finish(_scores(queries, keys), values, mask)


def mask_after_softmax(queries, keys, values, mask=None):
    """The mask comes after the softmax: the shares of hidden keys are lost, not handed on."""
    scores = _scores(queries, keys)
    weights = softmax_attention_weights(scores)
    heard = mask_attention_scores_with_neg_inf(torch.zeros_like(scores), mask).exp()
    weights = weights * heard
    return apply_attention_weights_to_values(weights, values), weights


def mask_on_the_query_axis(queries, keys, values, mask=None):
    """The mask is laid along the queries: it hides rows where it should hide columns."""
    scores = _scores(queries, keys)
    if mask is not None and mask.dtype == torch.bool and scores.shape[-2] == scores.shape[-1]:
        mask = mask.transpose(-2, -1)
    return _finish(scores, values, mask)


def finite_fill(queries, keys, values, mask=None):
    """Hidden keys get −1e9, not −∞: a query that sees no key hears them all."""
    scores = mask_attention_scores_with_neg_inf(_scores(queries, keys), mask)
    if mask is not None:
        scores = scores.clamp(min=-1e9)
    return _finish(scores, values, None)


def softmax_over_queries(queries, keys, values, mask=None):
    """The softmax runs over the queries, not over the keys: columns add up to 1."""
    masked = mask_attention_scores_with_neg_inf(_scores(queries, keys), mask)
    weights = softmax_attention_weights(masked.transpose(-2, -1)).transpose(-2, -1)
    return apply_attention_weights_to_values(weights, values), weights


def results_swapped(queries, keys, values, mask=None):
    """The two results have changed places: the output comes first, the weights second."""
    output, weights = _finish(_scores(queries, keys), values, mask)
    return weights, output


def queries_scaled_in_place(queries, keys, values, mask=None):
    """The queries are scaled in place: the caller's tensor changes."""
    queries /= math.sqrt(queries.shape[-1])
    return _finish(compute_raw_attention_scores(queries, keys), values, mask)


def scores_changed_in_place(queries, keys, values, mask=None):
    """The scores are overwritten in place by their exponentials, and the way back is lost."""
    scores = mask_attention_scores_with_neg_inf(_scores(queries, keys), mask)
    loudest = scores.detach().amax(dim=-1, keepdim=True)
    scores = (scores - loudest.masked_fill(loudest == -math.inf, 0.0)).exp_()
    scores /= scores.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return apply_attention_weights_to_values(scores, values), scores


def weights_detached(queries, keys, values, mask=None):
    """The weights are detached before the mixing: queries and keys learn nothing."""
    _, weights = _finish(_scores(queries, keys), values, mask)
    return apply_attention_weights_to_values(weights.detach(), values), weights


def returned_weights_detached(queries, keys, values, mask=None):
    """The weights are handed back detached: no gradient flows through them."""
    output, weights = _finish(_scores(queries, keys), values, mask)
    return output, weights.detach()


def mask_made_on_the_cpu(queries, keys, values, mask=None):
    """Without a mask one is made on the CPU, wherever the queries are."""
    scores = _scores(queries, keys)
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool)
    return _finish(scores, values, mask)


def in_float32(queries, keys, values, mask=None):
    """The result is float32, whatever came in."""
    return _finish(_scores(queries.float(), keys.float()), values.float(), mask)


def numbers_for_a_mask(queries, keys, values, mask=None):
    """A mask of numbers is not refused."""
    return _finish(_scores(queries, keys), values, mask if mask is None else mask != 0)


def torch_does_it(queries, keys, values, mask=None):
    """Torch's own attention does the work that this step is there to build."""
    _, weights = _finish(_scores(queries, keys), values, mask)
    return functional.scaled_dot_product_attention(queries, keys, values, mask), weights


def torch_does_it_renamed(queries, keys, values, mask=None):
    """Torch's own attention does the work, under another name."""
    one_key_each = torch.eye(keys.shape[-2], dtype=keys.dtype, device=keys.device)
    one_key_each = one_key_each.expand(*keys.shape[:-1], -1)
    weights = _renamed(queries, keys, one_key_each, mask)
    return apply_attention_weights_to_values(weights, values), weights


def torch_does_it_below(queries, keys, values, mask=None):
    """Torch's own attention does the work, called where it is kept, in ``torch.ops.aten``."""
    _, weights = _finish(_scores(queries, keys), values, mask)
    attend = torch.ops.aten.scaled_dot_product_attention
    return attend(queries, keys, values, mask), weights


def softmax_by_torch(queries, keys, values, mask=None):
    """Torch's softmax does the work of step 020."""
    masked = mask_attention_scores_with_neg_inf(_scores(queries, keys), mask)
    weights = torch.softmax(masked, dim=-1)
    return apply_attention_weights_to_values(weights, values), weights


def _scores(queries, keys):
    scores = compute_raw_attention_scores(queries, keys)
    return scale_attention_scores(scores, queries.shape[-1])


def _finish(scores, values, mask):
    weights = softmax_attention_weights(mask_attention_scores_with_neg_inf(scores, mask))
    return apply_attention_weights_to_values(weights, values), weights
