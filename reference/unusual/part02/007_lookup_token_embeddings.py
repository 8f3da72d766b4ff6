"""Right but unusual versions of step 007."""

import torch

_INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}


def _rows(token_ids, embedding_table):
    """The ids as int64, once they are known to be rows of the table."""
    if token_ids.dtype not in _INTEGERS:
        raise TypeError(f"ids of {token_ids.dtype}, but rows are counted in integers")
    rows = token_ids.to(torch.int64)
    for stray in rows.flatten().tolist():
        if stray not in range(len(embedding_table)):
            raise IndexError(f"id {stray} is not in 0 … {len(embedding_table) - 1}")
    return rows


def one_hot_times_table(token_ids, embedding_table):
    """A matrix of ones and zeros, one row an id, is multiplied with the table."""
    rows = _rows(token_ids, embedding_table)
    one_hot = rows.unsqueeze(-1) == torch.arange(len(embedding_table), device=rows.device)
    return one_hot.to(embedding_table.dtype) @ embedding_table


def one_hot_by_einsum(token_ids, embedding_table):
    """``F.one_hot`` and ``einsum`` sum over the vocabulary."""
    rows = _rows(token_ids, embedding_table)
    one_hot = torch.nn.functional.one_hot(rows, embedding_table.size(0))
    return torch.einsum("...v,vd->...d", one_hot.type_as(embedding_table), embedding_table)


def gathered_column_by_column(token_ids, embedding_table):
    """``gather`` reads single numbers, with the row's number repeated along the width."""
    rows = _rows(token_ids, embedding_table).reshape(-1, 1)
    width = embedding_table.shape[-1]
    picked = embedding_table.gather(0, rows.expand(rows.numel(), width))
    return picked.view((*token_ids.shape, width))


def numbers_taken_from_the_flat_table(token_ids, embedding_table):
    """The table is one long line, from which ``take`` reads number i · D + d."""
    rows = _rows(token_ids, embedding_table)
    width = embedding_table.shape[1]
    columns = torch.arange(width, dtype=rows.dtype, device=rows.device)
    return embedding_table.contiguous().take(rows[..., None] * width + columns)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, table):
        ctx.save_for_backward(rows)
        ctx.size = table.shape
        return table.detach()[rows]

    @staticmethod
    def backward(ctx, gradient):
        (rows,) = ctx.saved_tensors
        total = gradient.new_zeros(ctx.size)
        return None, total.index_add_(0, rows.flatten(), gradient.reshape(-1, ctx.size[1]))


def own_embedding_function(token_ids, embedding_table):
    """An ``autograd.Function`` whose backward adds the gradients up row by row."""
    return _Rows.apply(_rows(token_ids, embedding_table), embedding_table)


def vmap_over_ids(token_ids, embedding_table):
    """A look-up of a single id is mapped over the line of ids by ``vmap``."""
    rows = _rows(token_ids, embedding_table).flatten()
    if rows.numel() == 0:
        return embedding_table[:0].reshape(*token_ids.shape, embedding_table.shape[1])
    found = torch.vmap(lambda row: embedding_table.index_select(0, row[None])[0])(rows)
    return found.reshape(*token_ids.shape, -1)


def gathered_with_a_sparse_gradient(token_ids, embedding_table):
    """``gather`` picks the rows, and its gradient tells only of those."""
    rows = _rows(token_ids, embedding_table).reshape(-1, 1)
    rows = rows.expand(-1, embedding_table.shape[1])
    picked = embedding_table.gather(0, rows, sparse_grad=True)
    return picked.reshape(*token_ids.shape, embedding_table.shape[1])
