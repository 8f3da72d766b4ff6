"""Wrong versions of step 060, one slip each."""

import torch


def column_left(distribution, targets, pad_id):
    """The column of the padding id keeps its share: the rows add up to more than 1."""
    return distribution.masked_fill(_rows(targets, pad_id), 0.0)


def rows_left(distribution, targets, pad_id):
    """The rows of the pads stay: the model is asked to guess padding."""
    return distribution.masked_fill(_column(distribution, pad_id), 0.0)


def only_where_they_cross(distribution, targets, pad_id):
    """Only the entry where a pad's row meets the padding column is 0: `&` stands for `|`."""
    return distribution.masked_fill(_rows(targets, pad_id) & _column(distribution, pad_id), 0.0)


def padding_is_zero(distribution, targets, pad_id):
    """Padding is always id 0, whatever pad_id says."""
    return _zeroed(distribution, targets, 0)


def column_zero(distribution, targets, pad_id):
    """The rows go by pad_id, but the column that is zeroed is always the first."""
    return distribution.masked_fill(_rows(targets, pad_id) | _column(distribution, 0), 0.0)


def rows_of_zero(distribution, targets, pad_id):
    """The column goes by pad_id, but the rows that are zeroed are always those of id 0."""
    return distribution.masked_fill(_rows(targets, 0) | _column(distribution, pad_id), 0.0)


def words_zeroed(distribution, targets, pad_id):
    """The rows of the real tokens are zeroed and those of the pads kept: == and != are swapped."""
    return distribution.masked_fill(~_rows(targets, pad_id) | _column(distribution, pad_id), 0.0)


def row_of_the_padding_id(distribution, targets, pad_id):
    """The row whose number is the padding id is zeroed, not the rows whose target it is."""
    rows = torch.arange(distribution.size(0), device=distribution.device)[:, None]
    return distribution.masked_fill((rows == pad_id) | _column(distribution, pad_id), 0.0)


def column_only_with_a_pad(distribution, targets, pad_id):
    """Where no target is padding the column is forgotten: an early return comes too early."""
    if not _rows(targets, pad_id).any():
        return distribution.clone()
    return _zeroed(distribution, targets, pad_id)


def place_by_place(distribution, targets, pad_id):
    """The rows run through the batch place by place, not sentence by sentence."""
    return _zeroed(distribution, targets.T, pad_id)


def made_to_add_up(distribution, targets, pad_id):
    """The rows are divided by their sums: what padding had is handed to the others."""
    zeroed = _zeroed(distribution, targets, pad_id)
    total = zeroed.sum(dim=1, keepdim=True)
    return zeroed / total.masked_fill(total == 0, 1.0)


def in_place(distribution, targets, pad_id):
    """The zeros are written into the caller's distribution."""
    with torch.no_grad():
        distribution.masked_fill_(_rows(targets, pad_id) | _column(distribution, pad_id), 0.0)
    return distribution


def detached(distribution, targets, pad_id):
    """The distribution is detached: no gradient flows back."""
    return _zeroed(distribution.detach(), targets, pad_id)


def in_float32(distribution, targets, pad_id):
    """The result is float32, whatever the distribution was."""
    return _zeroed(distribution.float(), targets, pad_id)


def mask_made_on_the_cpu(distribution, targets, pad_id):
    """The mask of the column is made on the CPU, wherever the distribution is."""
    is_pad_column = torch.arange(distribution.size(1)) == pad_id
    return distribution.masked_fill(_rows(targets, pad_id) | is_pad_column, 0.0)


def _zeroed(distribution, targets, pad_id):
    return distribution.masked_fill(_rows(targets, pad_id) | _column(distribution, pad_id), 0.0)


def _rows(targets, pad_id):
    return targets.reshape(-1, 1) == pad_id


def _column(distribution, pad_id):
    return torch.arange(distribution.size(1), device=distribution.device) == pad_id
