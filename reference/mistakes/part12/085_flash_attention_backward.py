"""Wrong versions of step 085, one slip each."""

import torch

from kata.part03_attention import (
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
)


def average_not_taken_off(
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
    """The average of what the weights send back is not taken off: they add up to 1 after all."""
    sizes = (causal, query_block, key_block)
    return _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes, average=_none)


def softmax_within_the_tile(
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
    """Each tile's weights add up to 1 by themselves: the log-sum-exp of all keys is not asked."""

    def weigh(scores, log_total):
        raised = torch.exp(scores - scores.amax(dim=-1, keepdim=True).clamp(min=-3e38))
        return raised / raised.sum(dim=-1, keepdim=True).clamp(min=1.0)

    sizes = (causal, query_block, key_block)
    return _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes, weigh=weigh)


def nan_where_nothing_was_seen(
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
    """A query that saw no key gives −∞ − (−∞), and NaN goes back to everybody."""

    def weigh(scores, log_total):
        return torch.exp(scores - log_total)

    sizes = (causal, query_block, key_block)
    return _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes, weigh=weigh)


def causal_ignored(
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
    """``causal`` is ignored on the way back: the future is blamed for what it never said."""
    sizes = (False, query_block, key_block)
    return _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes)


def hidden_tiles_computed(
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
    """Tiles that are hidden whole are computed too: right, and half of the work is for nothing."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, skip=False)


def last_tile_wins(
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
    """What a tile finds is written over what was there, where it has to be added."""
    sizes = (causal, query_block, key_block)
    return _backward(
        grad_output, queries, keys, values, output, log_sum_exp, *sizes, over=(0, 1, 2)
    )


def no_scale(
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
    """The gradient of the scores is not divided by sqrt(d_k) on the way to queries and keys."""
    sizes = (causal, query_block, key_block)
    grads = _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes)
    root = queries.shape[-1] ** 0.5
    return grads[0] * root, grads[1] * root, grads[2]


def layout_taken_for_granted(
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
    """``view`` is called on the incoming gradient, which fails unless it is laid out row by row."""
    grad_output = grad_output.view(-1).view(output.shape)
    sizes = (causal, query_block, key_block)
    return _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes)


def incoming_gradient_changed(
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
    """The incoming gradient is multiplied by the output in place: it belongs to others, too."""
    sizes = (causal, query_block, key_block)
    grads = _backward(grad_output, queries, keys, values, output, log_sum_exp, *sizes)
    grad_output.data.copy_(grad_output * output)
    return grads


def whole_table(
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
    """All weights are made anew at once: the table that was saved on the way there is back."""
    known = (queries, keys, values, output, log_sum_exp)
    _blocks(1, query_block), _blocks(1, key_block)
    return _backward(grad_output, *known, causal, queries.shape[-2], keys.shape[-2])


def with_a_graph(
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
    """A graph is built on the way back as well, and keeps every tile alive."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, graph=torch.is_grad_enabled())


def summed_in_half_precision(
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
    """The gradients are added up in half precision, where small shares are lost."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, dtype=queries.dtype)


def shared_keys_not_added_up(
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
    """Keys that several heads share get one gradient for each head, not the sum."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, add_up=False)


def scores_not_scaled(
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
    """The scores are made anew without the division by sqrt(d_k): other weights come out."""
    root = queries.shape[-1] ** 0.5

    def weigh(scores, log_total):
        return _weigh(scores * root, log_total)

    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, weigh=weigh)


def keys_not_scaled(
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
    """dK is not divided by sqrt(d_k); dQ is."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    grads = _backward(grad_output, *known, *sizes)
    return grads[0], grads[1] * queries.shape[-1] ** 0.5, grads[2]


def queries_not_scaled(
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
    """dQ is not divided by sqrt(d_k); dK is."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    grads = _backward(grad_output, *known, *sizes)
    return grads[0] * queries.shape[-1] ** 0.5, grads[1], grads[2]


def queries_overwritten(
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
    """dQ is written over by each tile of its strip, where it has to be added up."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, over=(0,))


def keys_overwritten(
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
    """dK is written over by each strip, where it has to be added up."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, over=(1,))


def values_overwritten(
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
    """dV is written over by each strip, where it has to be added up."""
    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, over=(2,))


def average_in_half(
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
    """What is taken off is summed in half precision, where small shares are lost."""
    half = grad_output.dtype

    def average(sent_back, heard):
        return (sent_back.to(half) * heard).sum(dim=-1, keepdim=True).to(sent_back.dtype)

    sizes = (causal, query_block, key_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes, average=average)


def query_block_twice(
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
    """Keys are cut by query_block as well: what was asked for in key_block is not used."""
    _blocks(1, key_block)
    sizes = (causal, query_block, query_block)
    known = (queries, keys, values, output, log_sum_exp)
    return _backward(grad_output, *known, *sizes)


def _none(sent_back, heard):
    return torch.zeros_like(sent_back[..., :1])


def _own(sent_back, heard):
    return (sent_back * heard).sum(dim=-1, keepdim=True)


def _weigh(scores, log_total):
    return torch.exp(scores - log_total.clamp(min=torch.finfo(log_total.dtype).min))


def _blocks(length, size):
    if size < 1:
        raise ValueError(f"a block must hold at least 1, got {size}")
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _backward(
    grad_output,
    queries,
    keys,
    values,
    output,
    log_sum_exp,
    causal,
    query_block,
    key_block,
    *,
    average=_own,
    weigh=_weigh,
    skip=True,
    over=(),
    graph=False,
    dtype=None,
    add_up=True,
):
    total, wide = keys.shape[-2], log_sum_exp.dtype
    shift = total - queries.shape[-2]
    lead = output.shape[:-2]
    inputs = (queries, keys, values)
    with torch.set_grad_enabled(graph):
        grads = [x.new_zeros((*lead, *x.shape[-2:]), dtype=dtype or wide) for x in inputs]

        def give(index, where, found):
            if index in over:
                grads[index][..., where, :] = found.to(grads[index].dtype)
            else:
                grads[index][..., where, :] += found

        for rows in _blocks(queries.shape[-2], query_block):
            strip = queries[..., rows, :].to(wide)
            sent_back = grad_output[..., rows, :].to(wide)
            spare = average(sent_back, output[..., rows, :])
            for columns in _blocks(total, key_block):
                if causal and skip and columns.start > rows.stop - 1 + shift:
                    continue
                block = keys[..., columns, :].to(wide)
                scores = compute_raw_attention_scores(strip, block)
                scores = scale_attention_scores(scores, queries.shape[-1])
                if causal:
                    tile = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
                    tile = tile.tril(rows.start + shift - columns.start)
                    scores = mask_attention_scores_with_neg_inf(scores, tile)
                weights = weigh(scores, log_sum_exp[..., rows, None])
                found = sent_back @ values[..., columns, :].to(wide).mT
                blame = scale_attention_scores(weights * (found - spare), queries.shape[-1])
                give(0, rows, blame @ block)
                give(1, columns, blame.mT @ strip)
                give(2, columns, weights.mT @ sent_back)
        if not add_up:
            return tuple(grad.to(x.dtype) for grad, x in zip(grads, inputs, strict=True))
        pairs = zip(grads, inputs, strict=True)
        return tuple(grad.sum_to_size(x.shape).to(x.dtype) for grad, x in pairs)
