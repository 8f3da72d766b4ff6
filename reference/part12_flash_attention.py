"""Part 12 · Attention Without the Quadratic Memory.

Equation 1 asks for a table of all scores, and the table grows with the square of the length. But
nobody reads the table: it is only added up. So attention can be done as a cashier adds up a long
bill, item by item with a running total. An empty total (080), one block of keys added to it (081),
the line drawn under it (082): with these three, attention walks past the keys block by block (083).
Cut the queries into blocks too and it is FlashAttention (084). The way back has no table either and
makes each tile anew (085), and step 086 ties both ways together into one function of autograd's.

Nothing here is approximate. Sums are kept in float32 or wider, and results cast back once.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from kata.part03_attention import (
    compute_raw_attention_scores,
    mask_attention_scores_with_neg_inf,
    scale_attention_scores,
)
from kata.weights import OnlineSoftmax


def start_online_softmax(queries: Float[Tensor, "... queries d_k"], d_v: int) -> OnlineSoftmax:
    """Open an empty account for each query: no key heard, nothing summed, nothing mixed.

    ``row_max`` is −∞, below any score; ``row_sum`` and ``accumulator`` are 0. They are float32 for
    half queries, since a sum in half precision soon stops growing, and else of the queries' dtype.
    ``d_v`` is the width of the values that will be mixed.

    Milakov and Gimelshein 2018, section 3, the first lines of algorithm 3.
    """
    dtype = torch.promote_types(queries.dtype, torch.float32)
    rows = queries.shape[:-1]
    return OnlineSoftmax(
        row_max=queries.new_full(rows, -math.inf, dtype=dtype),
        row_sum=queries.new_zeros(rows, dtype=dtype),
        accumulator=queries.new_zeros((*rows, d_v), dtype=dtype),
    )


def update_online_softmax(
    state: OnlineSoftmax,
    scores_block: Float[Tensor, "... queries keys"],
    values_block: Float[Tensor, "... keys d_v"],
) -> OnlineSoftmax:
    """Let one block of keys speak, and turn down what was heard before if a louder one is in it.

    With ``m`` the largest score so far, this block included, the old sums shrink by
    ``exp(m_old − m)``, then ``row_sum`` grows by ``Σⱼ exp(sⱼ − m)`` and ``accumulator`` by
    ``Σⱼ exp(sⱼ − m) vⱼ``. Blocks may come in any order. A score of −∞ adds nothing, and where a
    query has heard no key yet, nothing stays nothing. The sums keep the state's dtype.

    Milakov and Gimelshein 2018, section 3, algorithm 3; with values, Dao 2023, section 3.1.
    """
    scores = scores_block.to(state.row_max.dtype)
    row_max = torch.maximum(state.row_max, scores.amax(dim=-1))
    loudest = row_max.clamp(min=torch.finfo(row_max.dtype).min)  # −∞ − (−∞) would be NaN
    shrink = torch.exp(state.row_max - loudest)
    raised = torch.exp(scores - loudest[..., None])
    return OnlineSoftmax(
        row_max=row_max,
        row_sum=shrink * state.row_sum + raised.sum(dim=-1),
        accumulator=shrink[..., None] * state.accumulator + raised @ values_block.to(raised.dtype),
    )


def finish_online_softmax(
    state: OnlineSoftmax,
) -> tuple[Float[Tensor, "... queries d_v"], Float[Tensor, "... queries"]]:
    """Close the account: divide once by the sum, and note in one number what the sum was.

    The output is ``accumulator / row_sum``. The log-sum-exp is ``row_max + ln(row_sum)``, the
    logarithm of ``Σⱼ exp(sⱼ)`` over all the keys: whoever has it can make any weight anew, as
    ``exp(sⱼ − log_sum_exp)``. A query that saw no key (``row_sum`` 0) gets zeros and −∞, and its
    gradient is zero.

    Dao 2023, section 3.1.1, algorithm 1, at the end of its inner loop.
    """
    unseen = state.row_sum == 0
    total = state.row_sum.clamp(min=1.0)  # no less where a key was seen: the loudest has added 1
    output = state.accumulator / total[..., None]
    log_sum_exp = state.row_max + torch.log(total)
    return output.masked_fill(unseen[..., None], 0.0), log_sum_exp.masked_fill(unseen, -math.inf)


def attend_in_key_blocks(
    queries: Float[Tensor, "... queries d_k"],
    keys: Float[Tensor, "... keys d_k"],
    values: Float[Tensor, "... keys d_v"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
    block_size: int = 128,
) -> Float[Tensor, "... queries d_v"]:
    """Walk past the keys block by block with a running total, and never see the whole table.

    The output of step 022, ``softmax(Q Kᵀ / √d_k) V``. Without a graph no new tensor holds more
    than ``queries × block_size`` numbers for each head (as long as no width exceeds
    ``block_size``), and of the mask one block at a time is touched. The last block may be shorter.

    ``block_size`` below 1, values that are not one for each key, and a mask that does not fit the
    scores raise ``ValueError``; bad widths and masks of numbers raise what 017 and 019 raise.

    Rabe and Staats 2021, section 2.
    """
    if keys.shape[-2] != values.shape[-2]:  # slices would drop the rest without a word
        raise ValueError(f"{keys.shape[-2]} keys need as many values, got {values.shape[-2]}")
    if mask is not None:
        mask = _spread(mask, queries, keys)
    state = start_online_softmax(queries, values.shape[-1])
    wide_queries = queries.to(state.row_max.dtype)
    for block in _blocks(keys.shape[-2], block_size):
        some_keys = keys[..., block, :].to(wide_queries.dtype)
        scores = compute_raw_attention_scores(wide_queries, some_keys)
        scores = scale_attention_scores(scores, queries.shape[-1])
        visible = None if mask is None else mask[..., block]
        scores = mask_attention_scores_with_neg_inf(scores, visible)
        state = update_online_softmax(state, scores, values[..., block, :])
    output, _ = finish_online_softmax(state)
    return output.to(queries.dtype)


def flash_attention_forward(
    queries: Float[Tensor, "... queries d_k"],
    keys: Float[Tensor, "... keys d_k"],
    values: Float[Tensor, "... keys d_v"],
    causal: bool = False,
    query_block: int = 128,
    key_block: int = 128,
) -> tuple[Float[Tensor, "... queries d_v"], Float[Tensor, "... queries"]]:
    """Cut the table into tiles, and let each strip of queries visit only those it may look at.

    Returns the output of step 022 and, for the way back, each query's log-sum-exp (step 082), which
    stays float32 for half inputs. ``causal`` lines the last query up with the last key: query i
    sees key j where ``j ≤ i + keys − queries``. A tile that this hides whole costs no product. A
    query that sees no key gets zeros and −∞. There is no padding mask, on purpose.

    Blocks below 1 and values that are not one for each key raise ``ValueError``.

    Dao 2023, section 3.1.1, algorithm 1.
    """
    if keys.shape[-2] != values.shape[-2]:  # slices would drop the rest without a word
        raise ValueError(f"{keys.shape[-2]} keys need as many values, got {values.shape[-2]}")
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    queries = queries.expand(*lead, -1, -1)
    outputs, log_sum_exps = [], []
    for rows in _blocks(queries.shape[-2], query_block):
        state = start_online_softmax(queries[..., rows, :], values.shape[-1])
        for columns in _blocks(_keys_in_sight(rows, queries, keys, causal), key_block):
            scores = _score_tile(queries, keys, rows, columns, causal)
            state = update_online_softmax(state, scores, values[..., columns, :])
        output, log_sum_exp = finish_online_softmax(state)
        outputs.append(output.to(queries.dtype))
        log_sum_exps.append(log_sum_exp)
    return torch.cat(outputs, dim=-2), torch.cat(log_sum_exps, dim=-1)


def flash_attention_backward(
    grad_output: Float[Tensor, "... queries d_v"],
    queries: Float[Tensor, "... queries d_k"],
    keys: Float[Tensor, "... keys d_k"],
    values: Float[Tensor, "... keys d_v"],
    output: Float[Tensor, "... queries d_v"],
    log_sum_exp: Float[Tensor, "... queries"],
    causal: bool = False,
    query_block: int = 128,
    key_block: int = 128,
) -> tuple[
    Float[Tensor, "... queries d_k"], Float[Tensor, "... keys d_k"], Float[Tensor, "... keys d_v"]
]:
    """Walk the tiles once more, make their weights anew, and give every input its share of blame.

    With ``P = exp(S − log_sum_exp)`` and ``D = Σ grad_output · output`` for each query:
    ``dS = P · (grad_output Vᵀ − D)``, then ``dQ = dS K / √d_k``, ``dK = dSᵀ Q / √d_k`` and
    ``dV = Pᵀ grad_output``, summed over the tiles in float32 or wider and cast once.

    ``output`` and ``log_sum_exp`` are those of step 084 with the same ``causal``; the blocks may be
    others. ``grad_output`` may have any layout. No graph is built: the results carry none. A tile
    that is hidden whole costs no product, and a query that sees no key has gradient zero.

    Blocks below 1 raise ``ValueError``.

    Dao 2023, section 3.1.2, algorithm 2.
    """
    with torch.no_grad():
        dtype, lead = log_sum_exp.dtype, output.shape[:-2]
        grad_queries, grad_keys, grad_values = (
            x.new_zeros((*lead, *x.shape[-2:]), dtype=dtype) for x in (queries, keys, values)
        )
        for rows in _blocks(queries.shape[-2], query_block):
            sent_back = grad_output[..., rows, :].to(dtype)
            average = (sent_back * output[..., rows, :]).sum(dim=-1, keepdim=True)
            log_total = log_sum_exp[..., rows, None].clamp(min=torch.finfo(dtype).min)
            for columns in _blocks(_keys_in_sight(rows, queries, keys, causal), key_block):
                weights = torch.exp(_score_tile(queries, keys, rows, columns, causal) - log_total)
                grad_weights = sent_back @ values[..., columns, :].to(dtype).mT
                grad_scores = weights * (grad_weights - average)
                grad_scores = scale_attention_scores(grad_scores, queries.shape[-1])
                grad_queries[..., rows, :] += grad_scores @ keys[..., columns, :].to(dtype)
                grad_keys[..., columns, :] += grad_scores.mT @ queries[..., rows, :].to(dtype)
                grad_values[..., columns, :] += weights.mT @ sent_back
        return (
            _shaped_like(queries, grad_queries),
            _shaped_like(keys, grad_keys),
            _shaped_like(values, grad_values),
        )


class _FlashAttention(torch.autograd.Function):
    """Both ways in one; in between only the inputs, the output and the log-sum-exp are kept."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, queries: Tensor, keys: Tensor, values: Tensor, *settings: int
    ) -> Tensor:
        output, log_sum_exp = flash_attention_forward(queries, keys, values, *settings)
        ctx.save_for_backward(queries, keys, values, output, log_sum_exp)
        ctx.settings = settings
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        grads = flash_attention_backward(grad_output, *ctx.saved_tensors, *ctx.settings)
        return *grads, None, None, None


def flash_attention(
    queries: Float[Tensor, "... queries d_k"],
    keys: Float[Tensor, "... keys d_k"],
    values: Float[Tensor, "... keys d_v"],
    causal: bool = False,
    query_block: int = 128,
    key_block: int = 128,
) -> Float[Tensor, "... queries d_v"]:
    """Attend in tiles on the way there and in tiles on the way back, and remember none of them.

    The output of step 084; its gradients are those of step 085, with the same settings. In between
    the graph keeps the inputs, the output and the log-sum-exp, and nothing else: a
    ``torch.autograd.Function`` decides itself what is kept. A second derivative raises
    ``RuntimeError`` (``once_differentiable``).

    Dao 2023, section 3.1, algorithms 1 and 2.
    """
    return _FlashAttention.apply(queries, keys, values, causal, query_block, key_block)


def _blocks(length: int, size: int) -> list[slice]:
    """Cut a length into blocks, of which the last may be shorter."""
    if size < 1:
        raise ValueError(f"a block must hold at least 1, got {size}")
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _keys_in_sight(rows: slice, queries: Tensor, keys: Tensor, causal: bool) -> int:
    """Count the keys, from the first one on, that at least one query of a strip may look at."""
    hidden = queries.shape[-2] - rows.stop if causal else 0
    return keys.shape[-2] - hidden


def _score_tile(
    queries: Tensor, keys: Tensor, rows: slice, columns: slice, causal: bool
) -> Float[Tensor, "... queries keys"]:
    """Score one tile, in float32 or wider; if ``causal``, without the keys ahead of each query."""
    dtype = torch.promote_types(queries.dtype, torch.float32)
    strip, block = queries[..., rows, :].to(dtype), keys[..., columns, :].to(dtype)
    scores = scale_attention_scores(compute_raw_attention_scores(strip, block), queries.shape[-1])
    if not causal:
        return scores
    ahead = keys.shape[-2] - queries.shape[-2]  # the last query sees the last key
    size = strip.shape[-2], block.shape[-2]
    tile = torch.ones(size, dtype=torch.bool, device=scores.device)
    visible = tile.tril(rows.start + ahead - columns.start)
    return mask_attention_scores_with_neg_inf(scores, visible)


def _spread(mask: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Show the mask at the size of the scores, without a copy, so that both can be sliced."""
    lead = torch.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
    scores = (*lead, queries.shape[-2], keys.shape[-2])
    try:
        return mask.expand(scores)
    except RuntimeError:
        raise ValueError(f"mask {tuple(mask.shape)} does not fit scores {scores}") from None


def _shaped_like(x: Tensor, grad: Tensor) -> Tensor:
    """Add a gradient up over the axes along which ``x`` was shared, in the dtype of ``x``."""
    return grad.sum_to_size(x.shape).to(x.dtype)
