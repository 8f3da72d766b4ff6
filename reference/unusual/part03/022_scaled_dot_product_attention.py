"""Right but unusual versions of step 022."""

from functools import partial, wraps
from math import inf, sqrt

import torch
import torch._dynamo  # loaded here: its first use takes longer than a call of the laws may
from torch import nn
from torch.utils.checkpoint import checkpoint

from kata.part03_attention import (
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
    softmax_attention_weights,
)


def _check(queries, keys, mask):
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(f"widths differ: {queries.shape[-1]} and {keys.shape[-1]}")
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask must be bool, not {mask.dtype}")
    leading = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    scores = torch.Size((*leading, queries.shape[-2], keys.shape[-2]))
    if torch.broadcast_shapes(mask.shape, scores) != scores:
        raise ValueError(f"mask {tuple(mask.shape)} would enlarge scores {tuple(scores)}")


def _checked(function):
    """Refuse bad arguments before the function sees them."""

    @wraps(function)
    def safe(queries, keys, values, mask=None):
        _check(queries, keys, mask)
        return function(queries, keys, values, mask)

    return safe


@_checked
def scale_on_the_queries(queries, keys, values, mask):
    """``einsum`` for both products, and the scale put on the queries; decorated."""
    queries = queries * queries.shape[-1] ** -0.5
    scores = torch.einsum("...qd,...kd->...qk", queries, keys)
    weights = softmax_attention_weights(mask_attention_scores_with_neg_inf(scores, mask))
    return torch.einsum("...qk,...kd->...qd", weights, values), weights


@_checked
def bias_of_minus_infinity(queries, keys, values, mask):
    """The mask becomes a bias of 0 and −∞, which ``baddbmm`` adds to the scaled products."""
    leading = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    q = queries.expand(*leading, -1, -1).reshape(-1, *queries.shape[-2:])
    k = keys.expand(*leading, -1, -1).reshape(-1, *keys.shape[-2:])
    bias = torch.zeros(*leading, q.shape[1], k.shape[1], dtype=q.dtype, device=q.device)
    if mask is not None:
        bias = bias.masked_fill(mask.logical_not(), float("-inf"))
    root = sqrt(q.shape[2])
    scores = torch.baddbmm(bias.reshape(-1, *bias.shape[-2:]), q, k.mT, alpha=1 / root)
    weights = softmax_attention_weights(scores).view(bias.shape)
    return torch.matmul(weights, values), weights


@_checked
def hidden_keys_multiplied_away(queries, keys, values, mask):
    """exp(s − max) is multiplied with the mask, and what is left is made to add up to 1."""
    scores = queries @ keys.mT / torch.tensor(float(keys.size(-1))).sqrt()
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    loudest = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
    raised = torch.exp(scores.masked_fill(~mask, 0.0) - loudest.detach() * mask) * mask
    weights = raised / raised.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)
    return weights @ values, weights


@_checked
def query_after_query(queries, keys, values, mask):
    """One query at a time meets its visible keys, and the rows are stacked."""
    leading = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    shape = (*leading, queries.shape[-2], keys.shape[-2])
    mask = torch.ones((), dtype=torch.bool, device=keys.device) if mask is None else mask
    mask, queries = mask.expand(shape), queries.expand(*leading, -1, -1)
    outputs, rows = [], []
    for i in range(queries.shape[-2]):
        score = (keys * queries[..., i, None, :]).sum(-1) / sqrt(queries.shape[-1])
        row = mask_attention_scores_with_neg_inf(score, mask[..., i, :])
        rows.append(softmax_attention_weights(row))
        outputs.append((rows[-1].unsqueeze(-1) * values).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, bias):
        scores = torch.bmm(queries, keys.mT) / sqrt(queries.shape[-1]) + bias
        loudest = scores.amax(-1, keepdim=True)
        raised = torch.exp(scores - torch.where(loudest == -inf, 0, loudest))
        total = raised.sum(-1, keepdim=True)
        weights = raised / torch.where(total == 0, 1, total)
        ctx.save_for_backward(queries, keys, values, weights)
        return weights @ values, weights

    @staticmethod
    def backward(ctx, grad_output, grad_weights):
        queries, keys, values, weights = ctx.saved_tensors
        flow = grad_output @ values.mT + grad_weights
        flow = weights * (flow - (weights * flow).sum(-1, keepdim=True))
        flow = flow / sqrt(queries.shape[-1])
        return flow @ keys, flow.mT @ queries, weights.mT @ grad_output, None


@_checked
def own_function(queries, keys, values, mask):
    """All of it is one ``autograd.Function`` with its backward written by hand."""
    leading = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2], values.shape[:-2])
    folded = [
        x.expand(*leading, -1, -1).reshape(-1, *x.shape[-2:]) for x in (queries, keys, values)
    ]
    bias = queries.new_zeros(*leading, queries.shape[-2], keys.shape[-2])
    bias = bias if mask is None else bias.masked_fill_(~mask, -inf)
    answer = _Attention.apply(*folded, bias.view(-1, *bias.shape[-2:]))
    return tuple(part.reshape(*leading, *part.shape[1:]) for part in answer)


class _Module(nn.Module):
    """The steps in a module without parameters, which is called like a function."""

    def forward(self, queries, keys, values, mask=None):
        scores = compute_raw_attention_scores(queries, keys)
        scores = scale_attention_scores(scores, keys.shape[-1])
        weights = softmax_attention_weights(mask_attention_scores_with_neg_inf(scores, mask))
        return weights @ values, weights


module_without_parameters = _Module()


def computed_twice_to_save_memory(queries, keys, values, mask=None):
    """``checkpoint`` keeps no scores, and computes them again for the backward pass."""
    return checkpoint(scale_on_the_queries, queries, keys, values, mask, use_reentrant=False)


def _in_one_type(precise, queries, keys, values, mask=None):
    wide = torch.promote_types(queries.dtype, precise)
    answer = scale_on_the_queries(queries.to(wide), keys.to(wide), values.to(wide), mask)
    return tuple(map(lambda part: part.to(queries.dtype), answer))  # noqa: C417


half_inputs_in_float32 = partial(_in_one_type, torch.float32)
half_inputs_in_float32.__doc__ = "A ``partial``; computed in float32 at least, and cast at the end."
half_inputs_in_float32.__module__ = __name__
