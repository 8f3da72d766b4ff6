"""093 · decoder_only_layer, right all the same."""

import torch

from kata.part04_multi_head import apply_linear_projection
from kata.part13_decoder_only import (
    apply_rotary_embedding,
    grouped_query_attention,
    rms_norm,
    swiglu_feed_forward,
)


def one_matrix_for_all_three(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Queries, keys and values come out of one matrix; queries and keys are turned together."""
    batch, length, d_model = x.shape
    projections = layer.attention[:3]
    packed = torch.cat([projection.weight for projection in projections])
    together = rms_norm(x, layer.attention_norm, eps) @ packed.T
    if projections[0].bias is not None:
        together = together + torch.cat([projection.bias for projection in projections])
    heads = together.view(batch, length, -1, d_model // num_heads).transpose(1, 2)
    turning, values = heads.split([num_heads + num_kv_heads, num_kv_heads], dim=1)
    turning = apply_rotary_embedding(turning, cos, sin, positions)
    queries, keys = turning.split([num_heads, num_kv_heads], dim=1)
    found, _ = grouped_query_attention(queries, keys, values, mask)
    found = found.transpose(1, 2).reshape(batch, length, d_model)
    x = apply_linear_projection(found, *layer.attention.output).add(x)
    return swiglu_feed_forward(rms_norm(x, layer.feed_forward_norm, eps), layer.feed_forward) + x


def mask_spelled_out(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Without a mask one is made that hides nothing; positions are always a row for each text."""
    batch, length, _ = x.shape
    if mask is None:
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device)
    if positions is None:
        positions = torch.arange(length, device=x.device)
    positions = positions.expand(batch, length)
    return one_matrix_for_all_three(
        x, layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps
    )
