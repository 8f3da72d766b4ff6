"""Part 4 · Multi-Head Attention.

One attention can look one way at a time: it gives every token a single mix of the others. Here the
width is cut into heads, and each head looks in its own way at its own slice: split, attend, merge.
Four learned projections stand around that: three make queries, keys and values, and the fourth lets
the heads' findings mix. Everything except part 3's attention is bookkeeping with axes, and a wrong
axis has the right shape surprisingly often.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from kata.part03_attention import scaled_dot_product_attention
from kata.weights import AttentionWeights, LinearWeights


def split_last_dim_into_heads(
    x: Float[Tensor, "batch length d_model"], num_heads: int
) -> Float[Tensor, "batch length heads d_k"]:
    """Cut every token's vector into equal slices of neighbouring features, one slice per head.

    Head ``h`` takes features ``h · d_k`` to ``(h + 1) · d_k − 1``, where ``d_k`` is
    ``d_model / num_heads``. No number changes. Works on non-contiguous input.

    Raises ``ValueError`` when ``num_heads`` does not divide ``d_model``.

    Paper: section 3.2.2, where ``d_k = d_v = d_model / h``.
    """
    raise NotImplementedError("step 023: write split_last_dim_into_heads")


def transpose_heads_before_sequence(
    x: Float[Tensor, "batch length heads d_k"],
) -> Float[Tensor, "batch heads length d_k"]:
    """Hand every head its own copy of the sentence: the head axis moves in front of the tokens.

    ``result[b, h, t] = x[b, t, h]``. A transpose, not a reshape: each number keeps its batch row,
    token, head and feature, only the order of the axes is new. Afterwards ``(length, d_k)`` are the
    last two axes, where a matrix product looks for its rows and columns.

    Paper: section 3.2.2, "we then perform the attention function in parallel".
    """
    raise NotImplementedError("step 024: write transpose_heads_before_sequence")


def merge_heads_back_to_model_dim(
    x: Float[Tensor, "batch heads length d_k"],
) -> Float[Tensor, "batch length d_model"]:
    """Lay the heads' slices side by side again, so that every token has one vector.

    ``Concat(head_1, …, head_h)`` of the paper. Undoes ``transpose_heads_before_sequence`` and
    ``split_last_dim_into_heads`` exactly.

    Paper: section 3.2.2.
    """
    raise NotImplementedError("step 025: write merge_heads_back_to_model_dim")


def apply_linear_projection(
    x: Float[Tensor, "... d_in"],
    weight: Float[Tensor, "d_out d_in"],
    bias: Float[Tensor, "d_out"] | None = None,
) -> Float[Tensor, "... d_out"]:
    """Ask every vector ``d_out`` questions: each row of the weight is one question, a dot product.

    ``y = x Wᵀ + b``. The last axis of ``x`` holds the vectors; all others come through unchanged.
    Without a bias nothing is added. Not with ``F.linear`` or ``nn.Linear``.

    Raises ``ValueError`` when the width of ``x`` is not the weight's ``d_in``, and when the bias is
    not ``(d_out,)``.

    Paper: section 3.2.2, the matrices W^Q, W^K, W^V and W^O.
    """
    raise NotImplementedError("step 026: write apply_linear_projection")


def project_to_query_key_value(
    x: Float[Tensor, "batch queries d_model"],
    memory: Float[Tensor, "batch keys d_model"],
    weights: AttentionWeights,
) -> tuple[
    Float[Tensor, "batch queries d_model"],
    Float[Tensor, "batch keys d_model"],
    Float[Tensor, "batch keys d_model"],
]:
    """Let ``x`` ask and ``memory`` answer: make queries of the one, keys and values of the other.

    ``Q = x W^Qᵀ + b^Q``, ``K = memory W^Kᵀ + b^K``, ``V = memory W^Vᵀ + b^V``; any of the three may
    come without a bias. In self-attention, ``x`` and ``memory`` are the same tensor. Returns
    queries, keys and values, in this order.

    Paper: sections 3.2.2 and 3.2.3.
    """
    raise NotImplementedError("step 027: write project_to_query_key_value")


def split_qkv_into_heads(
    queries: Float[Tensor, "batch queries d_model"],
    keys: Float[Tensor, "batch keys d_model"],
    values: Float[Tensor, "batch keys d_model"],
    num_heads: int,
) -> tuple[
    Float[Tensor, "batch heads queries d_k"],
    Float[Tensor, "batch heads keys d_k"],
    Float[Tensor, "batch heads keys d_k"],
]:
    """Deal queries, keys and values out to the heads, each tensor in the same way.

    Each is split along its width, then its heads move before its sequence. There may be more
    queries than keys, or fewer. Returns queries, keys and values, in this order.

    Paper: section 3.2.2.
    """
    raise NotImplementedError("step 028: write split_qkv_into_heads")


def multi_head_scaled_dot_product_attention(
    queries: Float[Tensor, "batch heads queries d_k"],
    keys: Float[Tensor, "batch heads keys d_k"],
    values: Float[Tensor, "batch heads keys d_v"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> tuple[Float[Tensor, "batch heads queries d_v"], Float[Tensor, "batch heads queries keys"]]:
    """Let every head attend by itself, all of them at once.

    ``head_i = softmax(Q_i K_iᵀ / √d_k) V_i``: heads never mix, for they are one more leading axis.
    ``mask`` is True where a query may look: ``(queries, keys)`` for all sentences and heads alike,
    or four axes that broadcast to ``(batch, heads, queries, keys)``. Returns what the heads found,
    and the weights they gave.

    Raises ``ValueError`` for a mask of any other shape: ``(batch, keys)``, say, would be read as
    ``(queries, keys)``, and ``(batch, queries, keys)`` as ``(heads, queries, keys)``. Raises
    ``TypeError`` when the mask is not bool.

    Paper: section 3.2.2, and equation 1.
    """
    raise NotImplementedError("step 029: write multi_head_scaled_dot_product_attention")


def merge_heads_and_project_output(
    heads: Float[Tensor, "batch heads length d_k"], output_weights: LinearWeights
) -> Float[Tensor, "batch length d_model"]:
    """Lay the heads side by side and let the last projection mix what they found.

    ``Concat(head_1, …, head_h) W^Oᵀ + b^O``: the first place where one head's numbers meet
    another's. The bias may be ``None``.

    Paper: section 3.2.2.
    """
    raise NotImplementedError("step 030: write merge_heads_and_project_output")


def assemble_multi_head_attention_forward(
    x: Float[Tensor, "batch queries d_model"],
    memory: Float[Tensor, "batch keys d_model"],
    weights: AttentionWeights,
    num_heads: int,
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> tuple[Float[Tensor, "batch queries d_model"], Float[Tensor, "batch heads queries keys"]]:
    """Let every token of ``x`` gather from ``memory`` what its heads look for.

    ``MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^Oᵀ + b^O``: project, split, attend, merge,
    project. ``mask`` is True where a query may look, and shaped ``(queries, keys)`` or with four
    axes that broadcast to ``(batch, heads, queries, keys)``. A query that sees nothing gets the
    output bias. Returns the output, and every head's own attention weights. Not with
    ``nn.MultiheadAttention``.

    Raises ``ValueError`` for a mask of any other shape, and ``TypeError`` when it is not bool.

    Paper: section 3.2.2; with ``memory = x`` self-attention, otherwise cross-attention (3.2.3).
    """
    raise NotImplementedError("step 031: write assemble_multi_head_attention_forward")
