"""Torch's own functions as judges of the decoder-only model: they answer in float64.

Positions turn as complex numbers do, by a product. Masks are True where a key may be seen.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from kata.weights import (
    DecoderOnlyConfig,
    DecoderOnlyLayerWeights,
    DecoderOnlyWeights,
    GatedFeedForwardWeights,
)
from specs.harness.torch_layers import linear


def angles(positions: Tensor, d_k: int, base: float = 10000.0) -> Tensor:
    """How far each pair of features turns at each position, in radians."""
    pairs = torch.arange(d_k // 2, dtype=torch.float64)
    return positions.double()[..., None] / base ** (2 * pairs / d_k)


def turn(x: Tensor, angle: Tensor) -> Tensor:
    """Turn neighbouring features, read as one complex number each."""
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    hands = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(pairs * hands).flatten(-2)


def norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    """The output of ``F.rms_norm``."""
    return functional.rms_norm(x.double(), gain.shape, gain.double(), eps)


def feed_forward(x: Tensor, weights: GatedFeedForwardWeights) -> Tensor:
    """The output of three ``F.linear`` with ``F.silu`` on the gate."""
    gate = functional.silu(linear(x, weights.gate))
    return linear(gate * linear(x, weights.up), weights.down)


def layer(
    x: Tensor,
    weights: DecoderOnlyLayerWeights,
    num_heads: int,
    num_kv_heads: int,
    angle: Tensor,
    mask: Tensor | None,
    eps: float = 1e-6,
) -> Tensor:
    """One layer, around ``F.scaled_dot_product_attention(enable_gqa=True)``.

    ``angle`` is ``(length, pairs)``, or ``(batch, 1, length, pairs)``.
    """
    x = x.double()
    normed = norm(x, weights.attention_norm, eps)
    query, key, value, output = weights.attention
    queries = turn(_heads(linear(normed, query), num_heads), angle)
    keys = turn(_heads(linear(normed, key), num_kv_heads), angle)
    values = _heads(linear(normed, value), num_kv_heads)
    found = functional.scaled_dot_product_attention(queries, keys, values, mask, enable_gqa=True)
    x = x + linear(found.transpose(1, 2).flatten(2), output)
    return x + feed_forward(norm(x, weights.feed_forward_norm, eps), weights.feed_forward)


def _heads(projected: Tensor, count: int) -> Tensor:
    return projected.view(*projected.shape[:2], count, -1).transpose(1, 2)


def model(token_ids: Tensor, weights: DecoderOnlyWeights, config: DecoderOnlyConfig) -> Tensor:
    """The logits of the whole model, for texts without padding."""
    table, length = weights.token_embedding.double(), token_ids.shape[1]
    angle = angles(torch.arange(length), config.d_model // config.num_heads, config.rope_base)
    stairs = torch.ones(length, length, dtype=torch.bool).tril()
    x = functional.embedding(token_ids, table)
    for each in weights.layers:
        x = layer(x, each, config.num_heads, config.num_kv_heads, angle, stairs, config.norm_eps)
    return norm(x, weights.final_norm, config.norm_eps) @ table.T
