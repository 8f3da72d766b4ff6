"""Wrong versions of step 019, one slip each."""

import math

import torch


def turned_round(scores, mask):
    """The mask is turned round: True means may be attended to, and those are hidden here."""
    return scores if mask is None else scores.masked_fill(_checked(scores, mask), -math.inf)


def minus_ten_thousand(scores, mask):
    """Hidden scores become −10000: a visible score may lie below."""
    return scores if mask is None else scores.masked_fill(~_checked(scores, mask), -1e4)


def minus_a_billion(scores, mask):
    """Hidden scores become −1e9, a number: float16 has none so large."""
    return scores if mask is None else scores.masked_fill(~_checked(scores, mask), -1e9)


def lowest_number(scores, mask):
    """Hidden scores become the lowest number of their type, which is not −∞."""
    lowest = torch.finfo(scores.dtype).min
    return scores if mask is None else scores.masked_fill(~_checked(scores, mask), lowest)


def zeroed(scores, mask):
    """Hidden scores become 0: a softmax hears 0 as well as any other score."""
    return scores if mask is None else scores.masked_fill(~_checked(scores, mask), 0.0)


def added(scores, mask):
    """The mask's 0 and 1 are added to the scores: hidden keys are only 1 quieter."""
    return scores if mask is None else scores + _checked(scores, mask).to(scores.dtype)


def zero_times_infinity(scores, mask):
    """(1 − mask) is multiplied by −∞, and 0 · −∞ is NaN."""
    if mask is None:
        return scores
    return scores + (1 - _checked(scores, mask).to(scores.dtype)) * -math.inf


def infinity_added(scores, mask):
    """−∞ is added to what stood there, and NaN or +∞ plus −∞ is NaN."""
    if mask is None:
        return scores
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    return scores + bias.masked_fill(~_checked(scores, mask), -math.inf)


def in_place(scores, mask):
    """The scores are filled in place: the caller's tensor changes."""
    return scores if mask is None else scores.masked_fill_(~_checked(scores, mask), -math.inf)


def indexed_by_the_mask(scores, mask):
    """The mask is used as an index, and an index does not broadcast as a mask has to."""
    if mask is None:
        return scores
    _checked(scores, mask)
    masked = scores.clone()
    masked[~mask] = -math.inf
    return masked


def mask_is_required(scores, mask):
    """A missing mask, ``None``, is not provided for."""
    return scores.masked_fill(~_checked(scores, mask), -math.inf)


def numbers_accepted(scores, mask):
    """A mask of numbers is not refused."""
    return scores if mask is None else mask_is_required(scores, mask != 0)


def larger_mask_accepted(scores, mask):
    """A mask larger than the scores makes the scores larger."""
    return scores if mask is None else scores.masked_fill(~_checked_bool(mask), -math.inf)


def filled_on_the_cpu(scores, mask):
    """The −∞ are laid out on the CPU, wherever the scores are."""
    if mask is None:
        return scores
    silence = torch.full(scores.shape, -math.inf, dtype=scores.dtype)
    return torch.where(_checked(scores, mask), scores, silence)


def _checked(scores, mask):
    mask = _checked_bool(mask)
    if torch.broadcast_shapes(scores.shape, mask.shape) != scores.shape:
        raise ValueError(f"a mask of {tuple(mask.shape)} does not fit {tuple(scores.shape)}")
    return mask


def _checked_bool(mask):
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask must be bool, got {mask.dtype}")
    return mask
