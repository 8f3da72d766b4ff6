"""Right but unusual versions of step 084."""

import math

import torch

from kata.part12_flash_attention import (
    finish_online_softmax,
    start_online_softmax,
    update_online_softmax,
)
from kata.weights import OnlineSoftmax


def written_into_its_place(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Output and log-sum-exp are made first, and each strip is written where it belongs."""
    _check(keys, values, query_block, key_block)
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    strips, width = queries.shape[-2], values.shape[-1]
    wide = torch.promote_types(queries.dtype, torch.float32)
    output = queries.new_zeros((*lead, strips, width))
    log_sum_exp = queries.new_full((*lead, strips), -math.inf, dtype=wide)
    ahead = keys.shape[-2] - strips
    for top in range(0, strips, query_block):
        strip = queries[..., top : top + query_block, :].to(wide) / queries.shape[-1] ** 0.5
        rows = torch.arange(top, top + strip.shape[-2], device=queries.device)[:, None] + ahead
        row_max, total, mixed = -math.inf, 0.0, 0.0
        for left in range(0, keys.shape[-2], key_block):
            if causal and left > top + strip.shape[-2] - 1 + ahead:
                break
            block = keys[..., left : left + key_block, :].to(wide)
            scores = strip @ block.transpose(-1, -2)
            if causal:
                columns = torch.arange(left, left + block.shape[-2], device=queries.device)
                scores = torch.where(columns <= rows, scores, -math.inf)
            loudest = scores.detach().amax(-1, keepdim=True).clamp(min=row_max)
            level = loudest.clamp(min=torch.finfo(wide).min)
            shrink = (row_max - level).exp()
            raised = (scores - level).exp()
            total = total * shrink + raised.sum(-1, keepdim=True)
            mixed = mixed * shrink + raised @ values[..., left : left + key_block, :].to(wide)
            row_max = loudest
        if isinstance(total, float):
            continue
        seen, safe = total > 0, total.clamp(min=1.0)
        here = slice(top, top + query_block)
        output[..., here, :] = (mixed / safe).to(output.dtype)
        log_sum_exp[..., here] = torch.where(seen, row_max + safe.log(), -math.inf).squeeze(-1)
    return output, log_sum_exp


def keys_in_the_outer_loop(queries, keys, values, causal=False, query_block=128, key_block=128):
    """As the first FlashAttention went: one block of keys after the other visits every strip."""
    _check(keys, values, query_block, key_block)
    ahead = keys.shape[-2] - queries.shape[-2]
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    strips = queries.expand(*lead, *queries.shape[-2:]).split(query_block, dim=-2)
    states = [start_online_softmax(strip, values.shape[-1]) for strip in strips]
    left = 0
    for block, some in zip(keys.split(key_block, -2), values.split(key_block, -2), strict=True):
        top = 0
        for index, strip in enumerate(strips):
            bottom = top + strip.shape[-2]
            if not causal or left < bottom + ahead:
                wide = states[index].row_max.dtype
                scores = strip.to(wide) @ block.to(wide).mT * queries.shape[-1] ** -0.5
                size = scores.shape[-2:]
                hidden = torch.ones(size, dtype=torch.bool, device=scores.device)
                hidden = hidden.triu(top + ahead - left + 1)
                scores = scores.masked_fill(hidden, -math.inf) if causal else scores
                states[index] = OnlineSoftmax(*update_online_softmax(states[index], scores, some))
            top = bottom
        left += block.shape[-2]
    outputs, totals = zip(*map(finish_online_softmax, states), strict=True)
    return torch.cat(outputs, dim=-2).to(queries.dtype), torch.cat(totals, dim=-1)


def _check(keys, values, *blocks):
    if min(blocks) < 1:
        raise ValueError(f"blocks are at least 1, got {min(blocks)}")
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(f"{keys.shape[-2]} keys, {values.shape[-2]} values")
