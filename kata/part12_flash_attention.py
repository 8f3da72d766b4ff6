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
    raise NotImplementedError("step 080: write start_online_softmax")


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
    raise NotImplementedError("step 081: write update_online_softmax")


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
    raise NotImplementedError("step 082: write finish_online_softmax")


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
    raise NotImplementedError("step 083: write attend_in_key_blocks")


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
    raise NotImplementedError("step 084: write flash_attention_forward")


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
    raise NotImplementedError("step 085: write flash_attention_backward")


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
    raise NotImplementedError("step 086: write flash_attention")
