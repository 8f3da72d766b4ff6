"""092 · grouped_query_attention, right all the same."""

import torch

from kata.part03_attention import scaled_dot_product_attention
from kata.part04_multi_head import multi_head_scaled_dot_product_attention


def _groups(queries, keys, mask):
    heads, kv_heads = queries.shape[1], keys.shape[1]
    if heads % kv_heads:
        raise ValueError(f"{heads} heads in groups for {kv_heads}")
    full = (*queries.shape[:3], keys.shape[2])
    if mask is not None and mask.shape != full[2:]:
        fits = mask.dim() == 4 and all(m in (1, n) for m, n in zip(mask.shape, full, strict=True))
        if not fits:
            raise ValueError(f"a mask for {full} is wanted, not {tuple(mask.shape)}")
    return kv_heads


def an_axis_for_the_group(queries, keys, values, mask=None):
    """Nothing is copied: queries get one axis more, and keys broadcast along it."""
    kv_heads = _groups(queries, keys, mask)
    if mask is not None and mask.dim() == 4:
        several = mask.shape[1] > 1
        mask = mask.unflatten(1, (kv_heads, -1)) if several else mask.unsqueeze(2)
    heads, weights = scaled_dot_product_attention(
        queries.unflatten(1, (kv_heads, -1)), keys.unsqueeze(2), values.unsqueeze(2), mask
    )
    return heads.flatten(1, 2), weights.flatten(1, 2)


def group_after_group(queries, keys, values, mask=None):
    """One group at a time, its keys spread over it, and the answers side by side."""
    kv_heads = _groups(queries, keys, mask)
    size = queries.shape[1] // kv_heads
    answers = []
    for group in range(kv_heads):
        rows = slice(group * size, (group + 1) * size)
        several = mask is not None and mask.dim() == 4 and mask.shape[1] > 1
        answers.append(
            multi_head_scaled_dot_product_attention(
                queries[:, rows],
                keys[:, group : group + 1].expand(-1, size, -1, -1),
                values[:, group : group + 1].expand(-1, size, -1, -1),
                mask[:, rows] if several else mask,
            )
        )
    heads, weights = zip(*answers, strict=True)
    return torch.cat(heads, dim=1), torch.cat(weights, dim=1)
