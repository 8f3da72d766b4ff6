"""Wrong versions of step 014, one slip each."""

import torch


def turned_round(token_ids, pad_id):
    """The mask is turned round: it is True at the padding, and True means may be attended to."""
    return (token_ids == pad_id)[:, None, None, :]


def pad_is_zero(token_ids, pad_id):
    """Padding is taken to be id 0, whatever the argument says."""
    return (token_ids != 0)[:, None, None, :]


def pad_is_lowest(token_ids, pad_id):
    """Ids below the padding id are taken for padding too."""
    return (token_ids > pad_id)[:, None, None, :]


def on_the_query_axis(token_ids, pad_id):
    """The mask stands on the query axis, (B, 1, T, 1): it hides the pad's row, not its column."""
    return (token_ids != pad_id)[:, None, :, None]


def no_head_axis(token_ids, pad_id):
    """One axis is missing, (B, 1, T): the sentences would line up with the heads."""
    return (token_ids != pad_id)[:, None, :]


def counted_from_the_left(token_ids, pad_id):
    """The real tokens are counted and taken to come first, so padding on the left is missed."""
    lengths = (token_ids != pad_id).sum(-1, keepdim=True)
    positions = torch.arange(token_ids.shape[-1], device=token_ids.device)
    return (positions < lengths)[:, None, None, :]


def zeros_and_ones(token_ids, pad_id):
    """The mask is made of the numbers 0 and 1, not of False and True."""
    return (token_ids != pad_id).long()[:, None, None, :]


def made_on_the_cpu(token_ids, pad_id):
    """The mask is made on the CPU, wherever the ids are."""
    rows = [[token_id != pad_id for token_id in row] for row in token_ids.tolist()]
    return torch.tensor(rows)[:, None, None, :]
