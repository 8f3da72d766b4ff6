"""Right but unusual versions of step 027."""

from typing import NamedTuple

import torch

from kata.part04_multi_head import apply_linear_projection


class _Projected(NamedTuple):
    queries: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


def _affine(x, weight, bias):
    answer = torch.einsum("bti,oi->bto", x, weight)
    return answer if bias is None else answer + bias


def _or_zeros(linear):
    weight, bias = linear
    return weight.new_zeros(weight.size(0)) if bias is None else bias


def keys_and_values_packed(x, memory, weights):
    """The key and the value matrix are one packed matrix, whose products are split again."""
    weight = torch.cat([weights.key.weight, weights.value.weight])
    bias = torch.cat([_or_zeros(weights.key), _or_zeros(weights.value)])
    keys, values = _affine(memory, weight, bias).chunk(2, dim=-1)
    return _affine(x, *weights.query), keys, values


def everything_packed(x, memory, weights):
    """In self-attention one matrix makes all three; otherwise what is not needed is thrown away."""
    three = weights[:3]
    weight = torch.vstack([linear.weight for linear in three])
    bias = torch.hstack([_or_zeros(linear) for linear in three])
    d_model = weight.size(0) // 3
    from_x = torch.matmul(x, weight.T).add(bias).split(d_model, dim=2)
    if x is memory:
        return from_x
    from_memory = torch.matmul(memory, weight.T).add(bias).split(d_model, dim=2)
    return (from_x[0], *from_memory[1:])


def mapped_to_a_list(x, memory, weights):
    """The earlier step is mapped over pairs of a source and its weights; the result is a list."""
    sources = (x, memory, memory)
    return [apply_linear_projection(s, *w) for s, w in zip(sources, weights, strict=False)]


def a_named_tuple(x, memory, weights):
    """A named tuple is handed back, which is a tuple too."""
    return _Projected(
        queries=apply_linear_projection(x, weights.query.weight, bias=weights.query.bias),
        keys=apply_linear_projection(memory, weights.key.weight, bias=weights.key.bias),
        values=apply_linear_projection(memory, weights.value.weight, bias=weights.value.bias),
    )


def matrices_stacked(x, memory, weights):
    """Key and value matrix are stacked, and ``vmap`` projects the memory by each."""
    pair = torch.stack([weights.key.weight, weights.value.weight])
    bias = torch.stack([_or_zeros(weights.key), _or_zeros(weights.value)])
    keys, values = torch.vmap(_affine, in_dims=(None, 0, 0))(memory, pair, bias)
    return _affine(x, *weights.query), keys, values
