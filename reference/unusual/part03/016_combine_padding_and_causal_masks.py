"""Right but unusual versions of step 016."""

import torch


def _check(padding_mask, causal_mask):
    for mask in (padding_mask, causal_mask):
        if mask.dtype is not torch.bool:
            raise TypeError(f"want a bool mask, not one of {mask.dtype}")
    if padding_mask.size(3) != causal_mask.size(1):
        raise ValueError(f"{tuple(padding_mask.shape)} does not fit {tuple(causal_mask.shape)}")


def neither_is_closed(padding_mask, causal_mask):
    """De Morgan: not (closed here or closed there)."""
    _check(padding_mask, causal_mask)
    return ~(~padding_mask | ~causal_mask)


def staircase_with_holes(padding_mask, causal_mask):
    """One staircase a sentence, in which padding is filled with False in place."""
    _check(padding_mask, causal_mask)
    stairs = causal_mask.repeat(padding_mask.shape[0], 1, 1, 1)
    return stairs.masked_fill_(padding_mask.logical_not(), False)


def where_real_the_staircase(padding_mask, causal_mask):
    """``where`` takes the staircase at real keys, and else the padding mask, False there."""
    _check(padding_mask, causal_mask)
    return torch.where(padding_mask, causal_mask, padding_mask)


def both_out_of_two(padding_mask, causal_mask):
    """The masks are counted, and two out of two are wanted."""
    _check(padding_mask, causal_mask)
    votes = torch.broadcast_tensors(padding_mask.long(), causal_mask.long())
    return sum(votes) == 2


def outer_product_by_einsum(padding_mask, causal_mask):
    """``einsum`` multiplies zeros and ones, which are made bool again."""
    _check(padding_mask, causal_mask)
    ones = torch.einsum("bhqk,tk->bhtk", padding_mask.float(), causal_mask.float())
    return ones > 0.5


def query_after_query(padding_mask, causal_mask):
    """The staircase is climbed row by row: each row is narrowed to the real keys."""
    _check(padding_mask, causal_mask)
    rows = [torch.minimum(*torch.broadcast_tensors(padding_mask, row)) for row in causal_mask]
    return torch.cat(rows, dim=2)
