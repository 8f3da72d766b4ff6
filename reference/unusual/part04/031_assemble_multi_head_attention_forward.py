"""Right but unusual versions of step 031."""

from math import sqrt

import torch

from kata.part03_attention import scaled_dot_product_attention, softmax_attention_weights
from kata.part04_multi_head import (
    multi_head_scaled_dot_product_attention,
    split_qkv_into_heads,
)


def _full(mask, shape):
    """The mask in all four axes: True everywhere where there is none."""
    if mask.dtype != torch.bool:
        raise TypeError(f"bool masks only, got {mask.dtype}")
    fits = mask.dim() == 4 and all(m in (1, s) for m, s in zip(mask.shape, shape, strict=True))
    if not fits and tuple(mask.shape) != shape[2:]:
        raise ValueError(f"mask {tuple(mask.shape)}: expected {shape[2:]} or four axes for {shape}")
    return mask.expand(shape)


def _sizes(x, memory, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"width {x.shape[-1]}, {num_heads} heads")
    return (len(x), num_heads, x.shape[1], memory.shape[1])


def _plus(product, bias):
    return product if bias is None else product + bias


def head_after_head(x, memory, weights, num_heads, mask=None):
    """Per-head matrices: each head has its rows of W^Q, W^K, W^V and its columns of W^O."""
    shape = _sizes(x, memory, num_heads)
    full = None if mask is None else _full(mask, shape)
    d_k, output, all_weights = x.shape[-1] // num_heads, 0, []
    for head in range(num_heads):
        rows = slice(head * d_k, (head + 1) * d_k)
        projected = [
            _plus(source @ w.weight[rows].T, None if w.bias is None else w.bias[rows])
            for source, w in zip((x, memory, memory), weights[:3], strict=True)
        ]
        found, shares = scaled_dot_product_attention(
            *projected, None if full is None else full[:, head]
        )
        output = output + found @ weights.output.weight[:, rows].T
        all_weights.append(shares)
    return _plus(output, weights.output.bias), torch.stack(all_weights, dim=1)


def one_packed_matrix(x, memory, weights, num_heads, mask=None):
    """The three matrices are packed into one, as ``nn.MultiheadAttention`` keeps them."""
    packed = torch.cat([linear.weight for linear in weights[:3]])
    biases = [w.weight.new_zeros(len(w.weight)) if w.bias is None else w.bias for w in weights[:3]]
    of_query, of_key, of_value = packed.chunk(3)
    queries = torch.einsum("bti,oi->bto", x, of_query) + biases[0]
    keys = torch.einsum("bti,oi->bto", memory, of_key) + biases[1]
    values = torch.einsum("bti,oi->bto", memory, of_value) + biases[2]
    parts = split_qkv_into_heads(queries, keys, values, num_heads)
    heads, shares = multi_head_scaled_dot_product_attention(*parts, mask)
    output = torch.einsum(
        "bhtd,ohd->bto",
        heads,
        weights.output.weight.view(len(weights.output.weight), num_heads, -1),
    )
    return [_plus(output, weights.output.bias), shares]


def scale_in_the_query_matrix(x, memory, weights, num_heads, mask=None):
    """W^Q and b^Q are divided by √d_k beforehand; the mask is a bias of 0 and −∞."""
    shape = _sizes(x, memory, num_heads)
    root = sqrt(x.shape[-1] // num_heads)
    by_head = {
        name: (w.weight.unflatten(0, (num_heads, -1)), w.bias)
        for name, w in weights._asdict().items()
    }

    def project(source, name, root=1.0):
        weight, bias = by_head[name]
        answer = torch.einsum("bti,hdi->bhtd", source, weight / root)
        return _plus(answer, None if bias is None else bias.view(num_heads, 1, -1) / root)

    scores = project(x, "query", root) @ project(memory, "key").mT
    if mask is not None:
        scores = scores.masked_fill(~_full(mask, shape), float("-inf"))
    shares = softmax_attention_weights(scores)
    heads = shares @ project(memory, "value")
    merged = heads.permute(0, 2, 1, 3).reshape(*x.shape)
    return _plus(merged @ weights.output.weight.T, weights.output.bias), shares


def values_projected_all_the_way(x, memory, weights, num_heads, mask=None):
    """Values go through W^O before they are mixed; what the heads then find is added up."""
    shape = _sizes(x, memory, num_heads)
    parts = []
    for source, (weight, bias) in zip((x, memory, memory), weights, strict=False):
        parts.append(_plus(torch.tensordot(source, weight, dims=([2], [1])), bias))
    queries, keys, values = split_qkv_into_heads(*parts, num_heads)
    columns = weights.output.weight.unflatten(1, (num_heads, -1))
    finished = torch.einsum("bhtd,ohd->bhto", values, columns)
    full = None if mask is None else _full(mask, shape)
    mixed, shares = scaled_dot_product_attention(queries, keys, finished, full)
    return _plus(mixed.sum(dim=1), weights.output.bias), shares


def query_and_key_matrix_multiplied(x, memory, weights, num_heads, mask=None):
    """xᵀ (W^Qᵀ W^K) m: the two matrices are one bilinear form a head, biases and all."""
    shape = _sizes(x, memory, num_heads)

    def with_bias(linear):
        weight, bias = linear
        bias = torch.zeros_like(weight[:, 0]) if bias is None else bias
        return torch.column_stack((weight, bias)).unflatten(0, (num_heads, -1))

    asks, hears, tells = map(with_bias, weights[:3])
    x_and_1, memory_and_1 = (
        torch.cat((source, torch.ones_like(source[..., :1])), dim=-1) for source in (x, memory)
    )
    form = torch.einsum("hdi,hdj->hij", asks, hears)
    scores = torch.einsum("bqi,hij,bkj->bhqk", x_and_1, form, memory_and_1)
    scores = scores * (x.shape[-1] // num_heads) ** -0.5
    if mask is not None:
        scores = torch.where(_full(mask, shape), scores, scores.new_full((), -torch.inf))
    shares = softmax_attention_weights(scores)
    mixed = torch.einsum("bhqk,bkj,hdj->bqhd", shares, memory_and_1, tells).flatten(2)
    return _plus(mixed @ weights.output.weight.mT, weights.output.bias), shares
