"""Right but unusual versions of step 083."""

import math

import torch

MISFIT = "the mask does not fit the scores"


def finished_blocks_merged(queries, keys, values, mask=None, block_size=128):
    """Each block is finished by itself; two finished halves are merged by their log-sum-exps."""
    _check(queries, keys, values, mask, block_size)
    output = log_total = None
    for start in range(0, keys.shape[-2], block_size):
        scores = _scores(queries, keys, mask, start, block_size)
        level = scores.detach().amax(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
        raised = (scores - level).exp()
        total = raised.sum(-1, keepdim=True)
        seen = total > 0
        safe = torch.where(seen, total, 1.0)
        own = raised @ values[..., start : start + block_size, :].to(raised.dtype) / safe
        own_log = torch.where(seen, level + safe.log(), -math.inf)
        if output is None:
            output, log_total = own, own_log
            continue
        both = torch.maximum(log_total, own_log).detach().clamp(min=-1e30)
        left, right = (log_total - both).exp(), (own_log - both).exp()
        whole = left + right
        safe = torch.where(whole > 0, whole, 1.0)
        output = (left * output + right * own) / safe
        log_total = torch.where(whole > 0, both + safe.log(), -math.inf)
    return output.to(queries.dtype)


def two_walks(queries, keys, values, mask=None, block_size=128):
    """The first walk finds each query's loudest key, the second sums up."""
    _check(queries, keys, values, mask, block_size)
    starts = range(0, keys.shape[-2], block_size)
    with torch.no_grad():
        loudest = None
        for start in starts:
            here = _scores(queries, keys, mask, start, block_size).amax(-1, keepdim=True)
            loudest = here if loudest is None else torch.maximum(loudest, here)
        loudest = loudest.clamp(min=torch.finfo(loudest.dtype).min)
    total = mixed = 0
    for start in starts:
        raised = (_scores(queries, keys, mask, start, block_size) - loudest).exp()
        total = total + raised.sum(-1, keepdim=True)
        mixed = mixed + raised @ values[..., start : start + block_size, :].to(raised.dtype)
    return (mixed / total.clamp(min=1.0)).to(queries.dtype)


def _check(queries, keys, values, mask, block_size):
    if block_size < 1:
        raise ValueError(f"block_size = {block_size}, at least 1 is wanted")
    if values.shape[-2] != keys.shape[-2]:
        raise ValueError(f"as many values as keys: {keys.shape[-2]} and {values.shape[-2]}")
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(f"widths {queries.shape[-1]} and {keys.shape[-1]} differ")
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"a bool mask is wanted, got {mask.dtype}")
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    wanted = (*lead, queries.shape[-2], keys.shape[-2])
    sizes = zip(reversed(mask.shape), reversed(wanted), strict=False)
    if mask.dim() > len(wanted) or any(own not in (1, size) for own, size in sizes):
        raise ValueError(f"{MISFIT}: {tuple(mask.shape)}, {wanted}")


def _scores(queries, keys, mask, start, block_size):
    wide = torch.promote_types(queries.dtype, torch.float32)
    block = keys[..., start : start + block_size, :].to(wide)
    scores = torch.einsum("...qd,...kd->...qk", queries.to(wide) / queries.shape[-1] ** 0.5, block)
    if mask is None:
        return scores
    part = mask if mask.shape[-1] == 1 else mask[..., start : start + block_size]
    return torch.where(part, scores, -math.inf)
