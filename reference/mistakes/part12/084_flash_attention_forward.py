"""Wrong versions of step 084, one slip each."""

import torch
from torch.nn import functional

from kata.part03_attention import (
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
)
from kata.part12_flash_attention import (
    finish_online_softmax,
    start_online_softmax,
    update_online_softmax,
)


def causal_ignored(queries, keys, values, causal=False, query_block=128, key_block=128):
    """``causal`` is ignored: every query sees its future."""
    return _flash(queries, keys, values, False, query_block, key_block)


def aligned_to_the_left(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The first query is lined up with the first key, as is_causal does, not last with last."""
    return _flash(queries, keys, values, causal, query_block, key_block, shift=0)


def blind_to_itself(queries, keys, values, causal=False, query_block=128, key_block=128):
    """A query sees the keys before its own, but not its own."""
    shift = keys.shape[-2] - queries.shape[-2] - 1
    return _flash(queries, keys, values, causal, query_block, key_block, shift=shift)


def lined_up_inside_each_tile(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Every tile has the same staircase, counted from its own corner and not from the table's."""
    return _flash(queries, keys, values, causal, query_block, key_block, corner=lambda *_: 0)


def hidden_tiles_computed(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Tiles that are hidden whole are computed and masked: half of the work is for nothing."""
    return _flash(queries, keys, values, causal, query_block, key_block, reach=_all)


def bound_from_the_first_query(queries, keys, values, causal=False, query_block=128, key_block=128):
    """A strip visits only the tiles that its first query may look at; its last one sees further."""

    def reach(rows, shift, total):
        return (rows.start + shift) // key_block * key_block + key_block

    return _flash(queries, keys, values, causal, query_block, key_block, reach=reach)


def tail_filled_with_zeros(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The last tile is filled up with keys of zeros, and they count: a score of 0 is a score."""
    if causal or not 0 < key_block < keys.shape[-2]:
        return _flash(queries, keys, values, causal, query_block, key_block)
    spare = (0, 0, 0, -keys.shape[-2] % key_block)
    keys, values = functional.pad(keys, spare), functional.pad(values, spare)
    return _flash(queries, keys, values, causal, query_block, key_block)


def divided_not_multiplied(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The accumulator is divided by exp(old − new), as a printed formula has it, not multiplied."""

    def update(state, scores, block):
        new = update_online_softmax(state, scores, block)
        shrink = torch.exp(state.row_max - new.row_max.clamp(min=-3e38))[..., None]
        turned_up = state.accumulator / shrink.masked_fill(shrink == 0, 1.0)
        return new._replace(accumulator=new.accumulator - shrink * state.accumulator + turned_up)

    return _flash(queries, keys, values, causal, query_block, key_block, update=update)


def whole_rows(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Only the queries are tiled: each strip meets all its keys at once, however many there are."""
    _flash(queries[..., :1, :], keys[..., :1, :], values[..., :1, :], False, 1, key_block)
    return _flash(queries, keys, values, causal, query_block, max(1, keys.shape[-2]))


def log_sum_exp_in_half(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The log-sum-exp is cast back like the output: from 8 bits no weight can be made anew."""
    output, log_sum_exp = _flash(queries, keys, values, causal, query_block, key_block)
    return output, log_sum_exp.to(queries.dtype)


def mask_on_the_cpu(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The staircase is made without a device: on a GPU it does not meet the scores."""
    return _flash(queries, keys, values, causal, query_block, key_block, device="cpu")


def no_scale(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The scores are not divided by sqrt(d_k)."""
    root = queries.shape[-1] ** 0.5
    return _flash(queries, keys, values, causal, query_block, key_block, weigh=lambda s: s * root)


def maximum_forgotten(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The log-sum-exp is ln(row_sum) alone, without the maximum that was taken off every score."""

    def finish(state):
        output, log_sum_exp = finish_online_softmax(state)
        return output, torch.where(state.row_sum > 0, log_sum_exp - state.row_max, log_sum_exp)

    return _flash(queries, keys, values, causal, query_block, key_block, finish=finish)


def logarithm_to_base_two(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The log-sum-exp is to base 2, as inside some GPU kernels, not the natural one."""
    output, log_sum_exp = _flash(queries, keys, values, causal, query_block, key_block)
    return output, log_sum_exp / torch.log(log_sum_exp.new_tensor(2.0))


def shift_turned_round(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The staircase is shifted by queries − keys, where it should be keys − queries."""
    shift = queries.shape[-2] - keys.shape[-2]
    return _flash(queries, keys, values, causal, query_block, key_block, shift=shift)


def minus_a_billion(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Hidden scores are −10⁹, not −∞: a query that sees no key gets a mean and not zeros."""

    def weigh(scores):
        return scores.masked_fill(scores == -torch.inf, -1e9)

    return _flash(queries, keys, values, causal, query_block, key_block, reach=_all, weigh=weigh)


def query_block_twice(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Keys are cut by query_block as well: what was asked for in key_block is not used."""
    _blocks(1, key_block)
    return _flash(queries, keys, values, causal, query_block, query_block)


def _all(rows, shift, total):
    return total


def _in_sight(rows, shift, total):
    return min(total, rows.stop + shift)


def _corner(rows, columns, shift):
    return rows.start + shift - columns.start


def _blocks(length, size):
    if size < 1:
        raise ValueError(f"a block must hold at least 1, got {size}")
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _flash(
    queries,
    keys,
    values,
    causal,
    query_block,
    key_block,
    *,
    shift=None,
    reach=_in_sight,
    corner=_corner,
    update=update_online_softmax,
    finish=finish_online_softmax,
    weigh=lambda scores: scores,
    device=None,
):
    total = keys.shape[-2]
    if total != values.shape[-2]:
        raise ValueError(f"{total} keys need as many values, got {values.shape[-2]}")
    shift = total - queries.shape[-2] if shift is None else shift
    queries = queries.expand(*torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2]), -1, -1)
    outputs, log_sum_exps = [], []
    for rows in _blocks(queries.shape[-2], query_block):
        state = start_online_softmax(queries[..., rows, :], values.shape[-1])
        wide = state.row_max.dtype
        seen = reach(rows, shift, total) if causal else total
        for columns in [each for each in _blocks(total, key_block) if each.start < seen]:
            block = keys[..., columns, :].to(wide)
            scores = compute_raw_attention_scores(queries[..., rows, :].to(wide), block)
            scores = scale_attention_scores(scores, queries.shape[-1])
            if causal:
                tile = torch.ones(
                    scores.shape[-2:], dtype=torch.bool, device=device or scores.device
                )
                tile = tile.tril(corner(rows, columns, shift))
                scores = mask_attention_scores_with_neg_inf(scores, tile)
            state = update(state, weigh(scores), values[..., columns, :])
        output, log_sum_exp = finish(state)
        outputs.append(output.to(queries.dtype))
        log_sum_exps.append(log_sum_exp)
    return torch.cat(outputs, dim=-2), torch.cat(log_sum_exps, dim=-1)
