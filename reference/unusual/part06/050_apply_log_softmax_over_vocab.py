"""050 · apply_log_softmax_over_vocab, right all the same."""

import torch


def in_float32_for_half(logits):
    """Half inputs computed in float32 and cast once at the end; the sum as a product with ones."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    best = wide.max(dim=-1, keepdim=True).values.detach()
    ones = torch.ones(wide.shape[-1], 1, dtype=wide.dtype, device=wide.device)
    return (wide - best - ((wide - best).exp() @ ones).log()).to(logits.dtype)


def shift_with_a_gradient(logits):
    """The largest score keeps its gradient, which cancels out; the shift is put back at the end."""
    best = logits.amax(dim=-1, keepdim=True)
    total = best + (logits - best).exp().sum(dim=-1, keepdim=True).log()
    return logits - total
