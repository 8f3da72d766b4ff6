"""Wrong versions of step 083, one slip each."""

import torch
from torch.nn import functional

from kata.part03_attention import (
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
    scaled_dot_product_attention,
    softmax_attention_weights,
)
from kata.part12_flash_attention import (
    finish_online_softmax,
    start_online_softmax,
    update_online_softmax,
)
from kata.weights import OnlineSoftmax


def whole_table_first(queries, keys, values, mask=None, block_size=128):
    """All scores are computed first and then cut into blocks: the table is there after all."""
    mask = _checked(queries, keys, values, mask, block_size)
    scores = compute_raw_attention_scores(queries, keys)
    scores = scale_attention_scores(scores, queries.shape[-1])
    scores = mask_attention_scores_with_neg_inf(scores, mask)
    state = start_online_softmax(queries, values.shape[-1])
    for block in _blocks(keys, block_size):
        state = update_online_softmax(state, scores[..., block], values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)


def step_022(queries, keys, values, mask=None, block_size=128):
    """Step 022 does the work, table and all; the blocks are only looked at."""
    mask = _checked(queries, keys, values, mask, block_size)
    output, _ = scaled_dot_product_attention(queries.double(), keys.double(), values.double(), mask)
    return output.to(queries.dtype)


def mask_turned_round_at_once(queries, keys, values, mask=None, block_size=128):
    """The mask is turned round as a whole before it is cut: that is a table of its own."""
    mask = _checked(queries, keys, values, mask, block_size)
    hidden = None if mask is None else ~mask

    def cut(block):
        return None if hidden is None else ~hidden[..., block]

    return _attend(queries, keys, values, _blocks(keys, block_size), cut)


def blocks_averaged(queries, keys, values, mask=None, block_size=128):
    """Each block has a softmax of its own and the outputs are averaged, loud blocks and quiet."""
    mask = _checked(queries, keys, values, mask, block_size)
    outputs = []
    for block in _blocks(keys, block_size):
        scores = _scores(queries, keys, block, None if mask is None else mask[..., block])
        weights = softmax_attention_weights(scores)
        outputs.append(weights @ values[..., block, :].to(weights.dtype))
    return torch.stack(outputs).mean(dim=0).to(queries.dtype)


def tail_filled_with_zeros(queries, keys, values, mask=None, block_size=128):
    """The last block is filled up with keys of zeros, and they count: a score of 0 is a score."""
    mask = _checked(queries, keys, values, mask, block_size)
    spare = -keys.shape[-2] % block_size if block_size < keys.shape[-2] else 0
    keys = functional.pad(keys, (0, 0, 0, spare))
    values = functional.pad(values, (0, 0, 0, spare))
    if mask is not None:
        mask = functional.pad(mask, (0, spare), value=True)
    return _attend(queries, keys, values, _blocks(keys, block_size), _cut(mask))


def tail_left_out(queries, keys, values, mask=None, block_size=128):
    """Only whole blocks are visited: the keys behind the last of them have no say."""
    mask = _checked(queries, keys, values, mask, block_size)
    whole = max(1, keys.shape[-2] // block_size)
    blocks = [slice(n * block_size, (n + 1) * block_size) for n in range(whole)]
    return _attend(queries, keys, values, blocks, _cut(mask))


def first_columns_of_the_mask(queries, keys, values, mask=None, block_size=128):
    """Every block is held against the first columns of the mask."""
    mask = _checked(queries, keys, values, mask, block_size)

    def cut(block):
        width = len(range(*block.indices(keys.shape[-2])))
        return None if mask is None else mask[..., :width]

    return _attend(queries, keys, values, _blocks(keys, block_size), cut)


def no_scale(queries, keys, values, mask=None, block_size=128):
    """The scores are not divided by sqrt(d_k)."""
    mask = _checked(queries, keys, values, mask, block_size)
    state = start_online_softmax(queries, values.shape[-1])
    for block in _blocks(keys, block_size):
        scores = compute_raw_attention_scores(queries, keys[..., block, :])
        scores = mask_attention_scores_with_neg_inf(scores, _cut(mask)(block))
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)


def not_finished(queries, keys, values, mask=None, block_size=128):
    """The accumulator is handed out as it is: nobody has divided it by the sum."""
    mask = _checked(queries, keys, values, mask, block_size)
    state = start_online_softmax(queries, values.shape[-1])
    for block in _blocks(keys, block_size):
        scores = _scores(queries, keys, block, _cut(mask)(block))
        state = update_online_softmax(state, scores, values[..., block, :])
    return state.accumulator.to(queries.dtype)


def finite_stand_in(queries, keys, values, mask=None, block_size=128):
    """The maximum starts at −50000, not at −∞: scores of −60000 are below it and lost."""
    mask = _checked(queries, keys, values, mask, block_size)
    state = start_online_softmax(queries, values.shape[-1])
    state = state._replace(row_max=state.row_max.clamp(min=-5e4))
    for block in _blocks(keys, block_size):
        scores = _scores(queries, keys, block, _cut(mask)(block))
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)


def summed_in_half_precision(queries, keys, values, mask=None, block_size=128):
    """The running total is kept in half precision, where small shares are lost."""
    mask = _checked(queries, keys, values, mask, block_size)
    state = start_online_softmax(queries, values.shape[-1])
    for block in _blocks(keys, block_size):
        scores = _scores(queries, keys, block, _cut(mask)(block)).to(queries.dtype)
        state = OnlineSoftmax(*(part.to(queries.dtype) for part in state))
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0]


def block_size_not_checked(queries, keys, values, mask=None, block_size=128):
    """A block size below 1 visits no key at all, and nobody is told."""
    mask = _checked(queries, keys, values, mask, max(1, block_size))
    blocks = _blocks(keys, block_size) if block_size > 0 else []
    return _attend(queries, keys, values, blocks, _cut(mask))


def spare_values_dropped(queries, keys, values, mask=None, block_size=128):
    """More values than keys are let pass: slicing drops the rest without a word."""
    values = values[..., : keys.shape[-2], :]
    mask = _checked(queries, keys, values, mask, block_size)
    return _attend(queries, keys, values, _blocks(keys, block_size), _cut(mask))


def spare_columns_dropped(queries, keys, values, mask=None, block_size=128):
    """A mask with more columns than keys is let pass: slicing drops the rest without a word."""
    if mask is not None:
        mask = mask[..., : keys.shape[-2]]
    mask = _checked(queries, keys, values, mask, block_size)
    return _attend(queries, keys, values, _blocks(keys, block_size), _cut(mask))


def mask_of_one_column_cut(queries, keys, values, mask=None, block_size=128):
    """A mask of one column is cut like one of many: after the first block nothing is left of it."""
    _checked(queries, keys, values, mask, block_size)
    return _attend(queries, keys, values, _blocks(keys, block_size), _cut(mask))


def true_means_hidden(queries, keys, values, mask=None, block_size=128):
    """The mask is turned round: True means may be attended to, and those are hidden here."""
    mask = _checked(queries, keys, values, mask, block_size)

    def cut(block):
        return None if mask is None else ~mask[..., block]

    return _attend(queries, keys, values, _blocks(keys, block_size), cut)


def mask_ignored(queries, keys, values, mask=None, block_size=128):
    """The mask is looked at and never used: every query sees every key."""
    _checked(queries, keys, values, mask, block_size)
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask must be bool, got {mask.dtype}")
    return _attend(queries, keys, values, _blocks(keys, block_size), _cut(None))


def minus_a_billion(queries, keys, values, mask=None, block_size=128):
    """Hidden scores are −10⁹, not −∞: a query that sees no key gets the mean of all values."""
    mask = _checked(queries, keys, values, mask, block_size)
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask must be bool, got {mask.dtype}")
    state = start_online_softmax(queries, values.shape[-1])
    for block in _blocks(keys, block_size):
        scores = _scores(queries, keys, block, None)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., block], -1e9)
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)


def blocks_kept(queries, keys, values, mask=None, block_size=128):
    """The scores of all blocks are kept in a list: together they are the whole table."""
    mask = _checked(queries, keys, values, mask, block_size)
    blocks = _blocks(keys, block_size)
    kept = [_scores(queries, keys, block, _cut(mask)(block)) for block in blocks]
    state = start_online_softmax(queries, values.shape[-1])
    for block, scores in zip(blocks, kept, strict=True):
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)


def _checked(queries, keys, values, mask, block_size):
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(f"{keys.shape[-2]} keys need as many values, got {values.shape[-2]}")
    if mask is None:
        return None
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    try:
        return mask.expand(*lead, queries.shape[-2], keys.shape[-2])
    except RuntimeError:
        raise ValueError(f"mask {tuple(mask.shape)} does not fit the scores") from None


def _blocks(keys, block_size):
    return [slice(n, n + block_size) for n in range(0, keys.shape[-2], block_size)]


def _cut(mask):
    return lambda block: None if mask is None else mask[..., block]


def _scores(queries, keys, block, mask):
    wide = torch.promote_types(queries.dtype, torch.float32)
    scores = compute_raw_attention_scores(queries.to(wide), keys[..., block, :].to(wide))
    scores = scale_attention_scores(scores, queries.shape[-1])
    return mask_attention_scores_with_neg_inf(scores, mask)


def _attend(queries, keys, values, blocks, cut):
    state = start_online_softmax(queries, values.shape[-1])
    for block in blocks:
        scores = _scores(queries, keys, block, cut(block))
        state = update_online_softmax(state, scores, values[..., block, :])
    return finish_online_softmax(state)[0].to(queries.dtype)
