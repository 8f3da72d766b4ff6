"""Right but unusual versions of step 062."""

from collections import Counter
from math import inf

import torch


def zero_by_where(total_loss, targets, pad_id):
    """``where`` takes 0 when nobody was asked; nothing is divided by 0 even then."""
    tokens = (targets != pad_id).sum()
    return torch.where(tokens > 0, total_loss / tokens.clamp(min=1), 0)


def counted_by_hand(total_loss, targets, pad_id):
    """A ``Counter`` over plain numbers, and a product with one over the count."""
    counts = Counter(targets.flatten().tolist())
    tokens = counts.total() - counts[pad_id]
    return total_loss * (1 / tokens) if tokens else total_loss * 0


def divided_by_infinity(total_loss, targets, pad_id):
    """All places less the pads; where nothing is left, what was lost is divided by ∞."""
    tokens = targets.numel() - torch.count_nonzero(targets == pad_id).item()
    return torch.true_divide(total_loss, tokens or inf)


def each_token_its_share(total_loss, targets, pad_id):
    """The loss is laid out before every token and shared; what the first one bears is the mean."""
    real = targets[targets != pad_id]
    shares = total_loss.expand(len(real)) / max(len(real), 1)
    return shares[0] if len(real) else total_loss - total_loss


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx, total_loss, tokens):
        ctx.share = 1 / tokens if tokens else 0.0
        return total_loss / tokens if tokens else torch.zeros_like(total_loss)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.share, None


def own_function(total_loss, targets, pad_id):
    """An ``autograd.Function``; tokens are counted as the places found by ``nonzero``."""
    return _Mean.apply(total_loss, len((targets != pad_id).nonzero()))
