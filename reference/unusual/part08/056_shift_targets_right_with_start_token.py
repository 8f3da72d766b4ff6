"""Right but unusual versions of step 056."""

import torch
from torch.nn import functional


def padded_in_front(targets, start_id):
    """``pad`` puts one more place in front, with the start token in it."""
    return functional.pad(targets, (1, 0), value=start_id)[:, :-1]


def rolled_round(targets, start_id):
    """``roll`` brings the last token to the front, where the start token takes its seat."""
    shifted = targets.roll(1, dims=1)
    shifted[:, :1] = start_id
    return shifted


def start_tokens_everywhere_first(targets, start_id):
    """All seats hold the start token, and the sentences are written over all but the first."""
    shifted = torch.full_like(targets, start_id)
    shifted[:, 1:] = targets[:, :-1]
    return shifted


def plain_lists(targets, start_id):
    """Sentence after sentence as a list."""
    rows = [[start_id, *row][: len(row)] for row in targets.tolist()]
    return torch.tensor(rows, dtype=targets.dtype, device=targets.device).view(targets.shape)


def each_seat_asks_its_left_neighbour(targets, start_id):
    """An index tells every seat where its token comes from; the first one has no neighbour."""
    seats = torch.arange(targets.shape[1], device=targets.device)
    return targets[:, (seats - 1).clamp(min=0)].masked_fill(seats == 0, start_id)


def words_in_front(targets, start_id):
    """Length first: a row of start tokens on top; what comes back is a transposed view."""
    columns = targets.T
    return torch.vstack([torch.full_like(columns[:1], start_id), columns[:-1]]).T
