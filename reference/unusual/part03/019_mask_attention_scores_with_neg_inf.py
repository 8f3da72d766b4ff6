"""Right but unusual versions of step 019."""

from math import inf

import torch


def _check(scores, mask):
    if mask.dtype is not torch.bool:
        raise TypeError(f"mask.dtype should be torch.bool, but is {mask.dtype}")
    if torch.broadcast_shapes(scores.shape, mask.shape) != scores.shape:
        raise ValueError(f"mask {tuple(mask.shape)} must not enlarge {tuple(scores.shape)}")


def where_with_a_number(scores, mask):
    """``where`` with −∞ as a plain number."""
    if mask is None:
        return scores
    _check(scores, mask)
    return torch.where(mask, scores, -inf)


def emptied_and_a_bias_added(scores, mask):
    """Hidden scores become 0, so that NaN is gone, and a bias of 0 and −∞ is added."""
    if mask is None:
        return scores + 0
    _check(scores, mask)
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    bias.masked_fill_(~mask, -inf)
    return scores.masked_fill(~mask, 0) + bias


def logarithm_of_the_mask(scores, mask):
    """ln 1 = 0 and ln 0 = −∞: the mask's logarithm is the bias."""
    if mask is None:
        return scores.view_as(scores)
    _check(scores, mask)
    return torch.where(mask, scores, torch.zeros_like(scores)) + mask.to(scores.dtype).log()


def mask_as_an_index(scores, mask):
    """−∞ and the score lie side by side; the mask, as 0 or 1, says which is gathered."""
    if mask is None:
        return scores
    _check(scores, mask)
    both = torch.stack((torch.full_like(scores, -inf), scores), dim=-1)
    return both.gather(-1, mask.expand(scores.shape).long().unsqueeze(-1)).squeeze(-1)


class _Silence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask):
        ctx.save_for_backward(mask)
        return scores.masked_fill(~mask, -inf)

    @staticmethod
    def backward(ctx, gradient):
        (mask,) = ctx.saved_tensors
        return gradient.masked_fill(~mask, 0.0), None


def own_function(scores, mask=None):
    """An ``autograd.Function`` that knows which gradients to drop; the mask may be left out."""
    if mask is None:
        return scores
    _check(scores, mask)
    return _Silence.apply(scores, mask)


def scattered_back(scores, mask):
    """Visible scores are picked out and scattered into a field of −∞."""
    if mask is None:
        return scores
    _check(scores, mask)
    full = mask.expand_as(scores)
    field = torch.full(scores.shape, -inf, dtype=scores.dtype, device=scores.device)
    return field.masked_scatter(full, scores.masked_select(full))
