"""Right but unusual versions of step 060."""

import torch


def what_may_stay(distribution, targets, pad_id):
    """``where`` keeps an entry if its word and its target are both real."""
    words = torch.arange(distribution.shape[1], device=targets.device)
    stays = (targets.flatten().unsqueeze(1) != pad_id) & (words != pad_id)
    return torch.where(stays, distribution, 0)


def written_over(distribution, targets, pad_id):
    """A copy, and two assignments."""
    answer = distribution.clone()
    answer[:, pad_id] = 0
    answer[targets.reshape(-1) == pad_id] = 0
    return answer


def filled_by_index(distribution, targets, pad_id):
    """``index_fill`` along one axis after the other, by the numbers of column and rows."""
    column = torch.tensor([pad_id], device=distribution.device)
    rows = (targets.flatten() == pad_id).nonzero().squeeze(1)
    return distribution.index_fill(1, column, 0).index_fill(0, rows, 0)


def outer_product_of_bools(distribution, targets, pad_id):
    """A column of real targets times a row of real words is the mask of what stays."""
    real_rows = targets.flatten() != pad_id
    real_words = torch.ones_like(distribution[0], dtype=torch.bool)
    real_words[pad_id] = False
    return distribution.masked_fill(~torch.outer(real_rows, real_words), 0)


def diagonals_from_both_sides(distribution, targets, pad_id):
    """A diagonal matrix from the left takes rows out, one from the right the column."""
    words = distribution.shape[1]
    left = (targets.flatten() != pad_id).to(distribution.dtype).diag()
    right = torch.eye(words, dtype=distribution.dtype, device=distribution.device)
    right[pad_id, pad_id] = 0
    return left @ distribution @ right


def sewn_together(distribution, targets, pad_id):
    """The columns on both sides are sewn together over a column of zeros; rows by ``where``."""
    seam = torch.zeros_like(distribution[:, :1])
    sewn = torch.cat([distribution[:, :pad_id], seam, distribution[:, pad_id + 1 :]], dim=1)
    return torch.where(targets.reshape(-1, 1) == pad_id, seam, sewn)
