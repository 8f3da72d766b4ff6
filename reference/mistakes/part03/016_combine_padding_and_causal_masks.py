"""Wrong versions of step 016, one slip each."""

import torch


def either_will_do(padding_mask, causal_mask):
    """Either mask is enough: a key is seen if it is real *or* not in the future."""
    _check(padding_mask, causal_mask)
    return padding_mask | causal_mask


def padding_alone(padding_mask, causal_mask):
    """The causal mask is left out: every real token sees the future."""
    _check(padding_mask, causal_mask)
    return padding_mask | torch.zeros_like(causal_mask)


def causal_alone(padding_mask, causal_mask):
    """The padding mask is left out: padding is listened to."""
    _check(padding_mask, causal_mask)
    return causal_mask | torch.zeros_like(padding_mask)


def turned_round(padding_mask, causal_mask):
    """The mask is turned round: it is True where a key is hidden by either mask."""
    _check(padding_mask, causal_mask)
    return ~(padding_mask & causal_mask)


def padding_on_the_query_axis(padding_mask, causal_mask):
    """The padding mask is laid along the queries: it hides the pad's row and not its column."""
    _check(padding_mask, causal_mask)
    return padding_mask.transpose(-2, -1) & causal_mask


def padding_on_both_axes(padding_mask, causal_mask):
    """The pad's row is emptied as well as its column, so the pad as a query sees nothing."""
    _check(padding_mask, causal_mask)
    return padding_mask & padding_mask.transpose(-2, -1) & causal_mask


def first_sentence_for_all(padding_mask, causal_mask):
    """The padding of the first sentence is taken for that of all the others."""
    _check(padding_mask, causal_mask)
    return (padding_mask[:1] & causal_mask).repeat(len(padding_mask), 1, 1, 1)


def diagonal_open(padding_mask, causal_mask):
    """Every position sees itself, a pad too: the diagonal is kept open."""
    _check(padding_mask, causal_mask)
    itself = torch.eye(len(causal_mask), dtype=torch.bool, device=causal_mask.device)
    return padding_mask & causal_mask | itself


def all_padding_opened(padding_mask, causal_mask):
    """A sentence of nothing but padding is opened again, so that no row is empty."""
    _check(padding_mask, causal_mask)
    return (padding_mask | ~padding_mask.any(-1, keepdim=True)) & causal_mask


def own_staircase(padding_mask, causal_mask):
    """A new staircase is drawn: of the causal mask given only the size is used."""
    _check(padding_mask, causal_mask)
    return padding_mask & torch.ones_like(causal_mask).tril()


def no_head_axis(padding_mask, causal_mask):
    """The axis for the heads is gone: (B, T, T) instead of (B, 1, T, T)."""
    _check(padding_mask, causal_mask)
    return padding_mask.squeeze(1) & causal_mask


def lengths_unchecked(padding_mask, causal_mask):
    """Lengths are not compared, so a mask of length 1 is stretched without a word."""
    _check_bool(padding_mask, causal_mask)
    return padding_mask & causal_mask


def numbers_accepted(padding_mask, causal_mask):
    """A mask of numbers is not refused."""
    _check_lengths(padding_mask, causal_mask)
    return padding_mask.bool() & causal_mask.bool()


def _check(padding_mask, causal_mask):
    _check_bool(padding_mask, causal_mask)
    _check_lengths(padding_mask, causal_mask)


def _check_bool(padding_mask, causal_mask):
    for mask in (padding_mask, causal_mask):
        if mask.dtype != torch.bool:
            raise TypeError(f"a mask must be bool, got {mask.dtype}")


def _check_lengths(padding_mask, causal_mask):
    lengths = padding_mask.shape[-1], causal_mask.shape[-1]
    if lengths[0] != lengths[1]:
        raise ValueError(f"masks must be of one length, got {lengths[0]} and {lengths[1]}")
