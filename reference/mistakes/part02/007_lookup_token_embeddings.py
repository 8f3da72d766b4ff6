"""007 · lookup_token_embeddings, the ways it goes wrong."""

import torch

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _checked(token_ids, embedding_table, lowest=0, highest=None, types=_INTEGERS):
    if token_ids.dtype not in types:
        raise TypeError(f"token ids must be integers, got {token_ids.dtype}")
    rows = token_ids.long()
    highest = len(embedding_table) - 1 if highest is None else highest
    strays = rows[(rows < lowest) | (rows > highest)]
    if strays.numel():
        raise IndexError(f"token id {strays[0].item()} is outside {lowest} … {highest}")
    return rows


def negative_id_wraps(token_ids, embedding_table):
    """A negative id counts from the end: −1 reads the last row."""
    return embedding_table[_checked(token_ids, embedding_table, lowest=-len(embedding_table))]


def large_id_reads_last_row(token_ids, embedding_table):
    """An id beyond the table quietly gets the last row."""
    rows = _checked(token_ids, embedding_table, highest=2**31)
    return embedding_table[rows.clamp(max=len(embedding_table) - 1)]


def padding_row_is_zero(token_ids, embedding_table):
    """Id 0 is taken for padding and comes back as zeros."""
    rows = _checked(token_ids, embedding_table)
    return embedding_table[rows] * (rows != 0).unsqueeze(-1).to(embedding_table.dtype)


def fractions_are_cut(token_ids, embedding_table):
    """Ids with a fraction are cut to whole numbers instead of refused."""
    types = (*_INTEGERS, torch.float16, torch.bfloat16, torch.float32, torch.float64)
    return embedding_table[_checked(token_ids, embedding_table, types=types)]


def bools_are_ids(token_ids, embedding_table):
    """True and False are taken for the ids 1 and 0 instead of refused."""
    return embedding_table[_checked(token_ids, embedding_table, types=(*_INTEGERS, torch.bool))]


def bytes_are_a_mask(token_ids, embedding_table):
    """Ids of type uint8 act as a mask: they pick whole rows by yes and no."""
    rows = _checked(token_ids, embedding_table)
    return embedding_table[rows.bool() if token_ids.dtype == torch.uint8 else rows]


def columns_for_rows(token_ids, embedding_table):
    """The width comes first in the answer: a column was read for each id, not a row."""
    return embedding_table.T[:, _checked(token_ids, embedding_table)]


def flattened(token_ids, embedding_table):
    """The rows come back in one long list: the shape of the ids is lost."""
    return embedding_table[_checked(token_ids, embedding_table).flatten()]


def detached(token_ids, embedding_table):
    """The rows are cut off from the table, so the table cannot learn."""
    return embedding_table.detach()[_checked(token_ids, embedding_table)]


def gradient_shared_out(token_ids, embedding_table):
    """A repeated id's gradient is averaged over its places instead of added up."""
    rows = _checked(token_ids, embedding_table)
    counts = torch.bincount(rows.flatten(), minlength=embedding_table.size(0))
    output = embedding_table[rows]
    share = output / counts[rows].unsqueeze(-1).to(output.dtype)
    return share + (output - share).detach()


def always_float32(token_ids, embedding_table):
    """The answer is float32, whatever the type of the table."""
    return embedding_table[_checked(token_ids, embedding_table)].float()
