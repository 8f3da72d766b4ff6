"""Right but unusual versions of step 017."""

import torch
from torch.nn import functional


def _check(queries, keys):
    if queries.size(-1) != keys.size(-1):
        raise ValueError(
            f"queries have width {queries.size(-1)}, but keys have width {keys.size(-1)}"
        )


def _folded(queries, keys):
    """Both as (N, T, d_k), and the leading sizes to unfold the answer to."""
    _check(queries, keys)
    leading = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    return (
        queries.expand(*leading, -1, -1).reshape(-1, *queries.shape[-2:]),
        keys.expand(*leading, -1, -1).reshape(-1, *keys.shape[-2:]),
        leading,
    )


def keys_ask_the_queries(queries, keys):
    """K Qᵀ, turned round at the end: the answer is a transposed view."""
    _check(queries, keys)
    return torch.matmul(keys, queries.transpose(-2, -1)).transpose(-1, -2)


def products_added_up(queries, keys):
    """Every product of every pair is laid out and summed, without a matrix product."""
    _check(queries, keys)
    return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).sum(dim=-1)


def bmm_on_folded_axes(queries, keys):
    """All leading axes are folded into one for ``bmm``."""
    q, k, leading = _folded(queries, keys)
    return torch.bmm(q, k.permute(0, 2, 1)).reshape(*leading, q.size(1), k.size(1))


def keys_as_the_weight_of_a_layer(queries, keys):
    """One pair after the other: the keys are the weight of a linear layer for the queries."""
    q, k, leading = _folded(queries, keys)
    pairs = [functional.linear(query, key) for query, key in zip(q, k, strict=True)]
    return torch.stack(pairs).reshape(*leading, q.shape[-2], k.shape[-2])


def vmap_over_queries_and_keys(queries, keys):
    """Two ``vmap`` around a product and a sum, one for the queries and one for the keys."""
    q, k, leading = _folded(queries, keys)

    def score(query, key):
        return (query * key).sum()

    table = torch.vmap(torch.vmap(torch.vmap(score, (None, 0)), (0, None)))
    return table(q, k).reshape(*leading, q.shape[1], k.shape[1])


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys):
        ctx.save_for_backward(queries, keys)
        return torch.bmm(queries, keys.mT)

    @staticmethod
    def backward(ctx, gradient):
        queries, keys = ctx.saved_tensors
        return gradient @ keys, gradient.mT @ queries


def own_function(queries, keys):
    """An ``autograd.Function`` whose backward is two matrix products."""
    q, k, leading = _folded(queries, keys)
    return _Products.apply(q, k).reshape(*leading, q.shape[1], k.shape[1])
