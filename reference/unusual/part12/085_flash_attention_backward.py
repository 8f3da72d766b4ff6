"""Right but unusual versions of step 085."""

import torch


def two_walks(
    grad_output,
    queries,
    keys,
    values,
    output,
    log_sum_exp,
    causal=False,
    query_block=128,
    key_block=128,
):
    """One walk along the rows for the queries, one along the columns for keys and values."""
    with torch.no_grad():
        tile = _Tiles(grad_output, queries, keys, values, log_sum_exp, causal)
        rows, columns = _cut(queries, query_block), _cut(keys, key_block)
        average = (grad_output.to(log_sum_exp.dtype) * output).sum(-1, keepdim=True)
        strips = []
        for row in rows:
            found = tile.nothing(queries, row)
            for column in columns:
                if tile.is_seen(row, column):
                    weights, met, sent = tile(row, column)
                    blame = weights * (met - average[..., row, :])
                    found = found + blame @ keys[..., column, :].to(blame.dtype)
            strips.append(found)
        blocks = []
        for column in columns:
            to_keys, to_values = tile.nothing(keys, column), tile.nothing(values, column)
            for row in rows:
                if tile.is_seen(row, column):
                    weights, met, sent = tile(row, column)
                    blame = weights * (met - average[..., row, :])
                    to_keys = to_keys + blame.mT @ queries[..., row, :].to(blame.dtype)
                    to_values = to_values + weights.mT @ sent
            blocks.append((to_keys, to_values))
        root = queries.shape[-1] ** 0.5
        return (
            _back(torch.cat(strips, dim=-2) / root, queries),
            _back(torch.cat([block for block, _ in blocks], dim=-2) / root, keys),
            _back(torch.cat([block for _, block in blocks], dim=-2), values),
        )


@torch.no_grad()
def average_from_the_weights(
    grad_output,
    queries,
    keys,
    values,
    output,  # noqa: ARG001  # that is the point
    log_sum_exp,
    causal=False,
    query_block=128,
    key_block=128,
):
    """The output is not looked at: what is taken off is summed up over the tiles of the strip."""
    tile = _Tiles(grad_output, queries, keys, values, log_sum_exp, causal)
    wide, lead = log_sum_exp.dtype, log_sum_exp.shape[:-1]
    grads = [
        torch.zeros(*lead, *x.shape[-2:], dtype=wide, device=x.device)
        for x in (queries, keys, values)
    ]
    columns = _cut(keys, key_block)
    for row in _cut(queries, query_block):
        seen = [column for column in columns if tile.is_seen(row, column)]
        average = sum((w * met).sum(-1, keepdim=True) for w, met, _ in (tile(row, c) for c in seen))
        for column in reversed(seen):
            weights, met, sent = tile(row, column)
            blame = weights * (met - average) * queries.shape[-1] ** -0.5
            grads[0][..., row, :].add_(blame @ keys[..., column, :].to(wide))
            grads[1][..., column, :].add_(blame.transpose(-1, -2) @ queries[..., row, :].to(wide))
            grads[2][..., column, :].add_(weights.transpose(-1, -2) @ sent)
    return [_back(grad, x) for grad, x in zip(grads, (queries, keys, values), strict=True)]


class _Tiles:
    def __init__(self, grad_output, queries, keys, values, log_sum_exp, causal):
        self.inputs = grad_output, queries, keys, values
        self.log_total, self.causal = log_sum_exp[..., None], causal
        self.ahead = keys.shape[-2] - queries.shape[-2]

    def is_seen(self, row, column):
        return not self.causal or column.start < row.stop + self.ahead

    def nothing(self, x, part):
        lead = self.log_total.shape[:-2]
        size = (*lead, part.stop - part.start, x.shape[-1])
        return torch.zeros(size, dtype=self.log_total.dtype, device=x.device)

    def __call__(self, row, column):
        wide = self.log_total.dtype
        grad_output, queries, keys, values = self.inputs
        sent = grad_output[..., row, :].to(wide)
        strip, block = queries[..., row, :].to(wide), keys[..., column, :].to(wide)
        scores = strip @ block.mT / queries.shape[-1] ** 0.5
        log_total = self.log_total[..., row, :]
        weights = torch.where(log_total.isinf(), 0.0, (scores - log_total).exp())
        if self.causal:
            rows = torch.arange(row.start, row.stop, device=keys.device)[:, None] + self.ahead
            columns = torch.arange(column.start, column.stop, device=keys.device)
            weights = weights * (columns <= rows)
        return weights, sent @ values[..., column, :].to(wide).mT, sent


def _cut(x, size):
    if size < 1:
        raise ValueError(f"a block of {size}?")
    length = x.shape[-2]
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _back(grad, x):
    while grad.dim() > x.dim():
        grad = grad.sum(0)
    for axis, size in enumerate(x.shape):
        if size == 1 and grad.shape[axis] > 1:
            grad = grad.sum(axis, keepdim=True)
    return grad.to(x.dtype)
