"""Wrong versions of step 056, one slip each."""

import torch


def not_shifted(targets, start_id):
    """Nothing is shifted: each place reads the very token it is asked for."""
    return targets.clone()


def start_over_the_first_token(targets, start_id):
    """The start token is written over the first token, and nothing moves."""
    return torch.cat((_start(targets, start_id), targets[:, 1:]), dim=1)


def last_token_kept(targets, start_id):
    """The last token is not dropped: every sentence is one token longer."""
    return torch.cat((_start(targets, start_id), targets), dim=1)


def shifted_left(targets, start_id):
    """The tokens move to the left, and the start token comes last."""
    return torch.cat((targets[:, 1:], _start(targets, start_id)), dim=1)


def last_token_comes_round(targets, start_id):
    """The last token comes round to the front, where the start token belongs."""
    return targets.roll(1, dims=1)


def flattened_shift(targets, start_id):
    """The batch is shifted as one long row: a sentence starts with the end of the one before."""
    flat = targets.reshape(1, -1)
    return torch.cat((flat.new_full((1, 1), start_id), flat[:, :-1]), dim=1).reshape(targets.shape)


def start_is_one(targets, start_id):
    """The start token is always 1, whatever start_id says."""
    return torch.cat((_start(targets, 1), targets[:, :-1]), dim=1)


def start_missing_in_zero(targets, start_id):
    """A start id of 0 counts as none: `start_id or 1` takes 0 for missing."""
    return torch.cat((_start(targets, start_id or 1), targets[:, :-1]), dim=1)


def in_place(targets, start_id):
    """The targets themselves are shifted: the loss will compare with the wrong tokens."""
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = start_id
    return targets


def always_int64(targets, start_id):
    """The ids come back as int64, whatever they were."""
    return torch.cat((_start(targets, start_id), targets[:, :-1]), dim=1).long()


def start_made_on_the_cpu(targets, start_id):
    """The column of start tokens is made on the CPU, wherever the targets are."""
    start = torch.full((targets.size(0), 1), start_id, dtype=targets.dtype)
    return torch.cat((start, targets[:, :-1]), dim=1)


def _start(targets, start_id):
    return targets.new_full((targets.size(0), 1), start_id)
