"""Part 13 · The Decoder-Only Model.

The Transformer of the paper reads with one half and writes with the other. The models that people
talk to today are the writing half alone: whatever is to be read stands in front, and the model goes
on from there. Since 2017 its parts have been exchanged one by one. The norm measures loudness only
(087). Positions are no longer added to words but turn queries and keys like the hands of a clock
(088, 089), so that only distances count. The feed-forward network has a gate (090). Several query
heads share one head of keys and values (091, 092). Norms stand in front of the sub-layers (093).
Step 094 stacks the layers, and 095 asks the one question that is left: what comes next?

A mask is a bool tensor, True where a key may be attended to.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from kata.part02_embeddings import (
    build_position_column,
    compute_inverse_frequencies,
    lookup_token_embeddings,
)
from kata.part03_attention import (
    build_causal_mask,
    build_padding_mask,
    combine_padding_and_causal_masks,
)
from kata.part04_multi_head import (
    apply_linear_projection,
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_last_dim_into_heads,
    transpose_heads_before_sequence,
)
from kata.part06_transformer import apply_log_softmax_over_vocab
from kata.weights import (
    DecoderOnlyConfig,
    DecoderOnlyLayerWeights,
    DecoderOnlyWeights,
    GatedFeedForwardWeights,
)


def rms_norm(
    x: Float[Tensor, "... d_model"], gain: Float[Tensor, "d_model"], eps: float = 1e-6
) -> Float[Tensor, "... d_model"]:
    """Bring every token to one loudness, and leave its tune as it is: nothing is taken off.

    ``gain · x / √(mean(x²) + ε)``, the mean over the last dimension, and one gain for each feature.
    There is no mean to subtract and no bias to add. Half inputs are measured in float32 and rounded
    once, at the end: the result has the dtype of ``x``. Not with torch's own RMS norm.

    A gain that is not ``(d_model,)`` raises ``ValueError``.

    Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019), section 4, equation 4.
    """
    one_per_feature = x.shape[-1:]
    if gain.shape != one_per_feature:
        raise ValueError(f"gain must be {tuple(one_per_feature)}, got {tuple(gain.shape)}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = wide.square().mean(dim=-1, keepdim=True)
    return (wide / torch.sqrt(mean_square + eps) * gain).to(x.dtype)


def build_rotary_table(
    length: int,
    d_k: int,
    base: float = 10000.0,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> tuple[Float[Tensor, "length pairs"], Float[Tensor, "length pairs"]]:
    """Note how far each hand of the clock has turned at each position: its cosine and its sine.

    Returns two tables, cosines and sines, of the angles ``pos · base^(−2i/d_k)``: a row for each
    position from 0 on, a column for each pair of features i = 0, 1, …, ``d_k / 2`` of them.
    Computed in float32 (in float64 if that is the ``dtype`` asked for) and cast last.

    An odd ``d_k`` raises ``ValueError``: its last feature has no partner.

    Su et al., "RoFormer" (2021), section 3.2.2; the frequencies are those of the Transformer's
    paper, section 3.5.
    """
    if d_k % 2 == 1:
        raise ValueError(f"features turn in pairs, so d_k must be even, got {d_k}")
    precise = torch.promote_types(dtype, torch.float32)
    positions = build_position_column(length, device, precise)
    angles = positions * compute_inverse_frequencies(d_k, base, device, precise)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def apply_rotary_embedding(
    x: Float[Tensor, "batch heads length d_k"],
    cos: Float[Tensor, "positions pairs"],
    sin: Float[Tensor, "positions pairs"],
    positions: Int[Tensor, "... length"] | None = None,
) -> Float[Tensor, "batch heads length d_k"]:
    """Turn each pair of neighbouring features like a clock hand, as far as the token's place says.

    ``(x₂ᵢ cos − x₂ᵢ₊₁ sin, x₂ᵢ sin + x₂ᵢ₊₁ cos)``, with cosine and sine from the table's row for
    the token's position and its column i. Lengths do not change, and the dot product of a turned
    query and a turned key knows nothing but the distance between the two. ``positions`` are
    ``(length,)`` for all sentences, or ``(batch, length)``; without them, 0, 1, 2, … The result has
    the dtype of ``x``.

    A position outside the table, a negative one too, raises ``IndexError``.

    Su et al., "RoFormer" (2021), section 3.4.2, equation 34.
    """
    if positions is None:
        positions = torch.arange(x.shape[2], device=x.device)
    strays = positions[(positions < 0) | (positions >= len(cos))]
    if strays.numel():
        raise IndexError(f"no angles for position {strays[0]}: {len(cos)} rows, from 0 on")
    rows = positions[:, None] if positions.dim() == 2 else positions  # room for the heads
    cos, sin = cos[rows], sin[rows]
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(start_dim=-2).to(x.dtype)


def swiglu_feed_forward(
    x: Float[Tensor, "batch length d_model"], weights: GatedFeedForwardWeights
) -> Float[Tensor, "batch length d_model"]:
    """Send each token into a wider room whose doors open as far as the token itself decides.

    ``down(silu(gate(x)) · up(x))``: ``gate`` says how far each door opens, ``up`` what would come
    through, and ``silu(z) = z · σ(z) = z / (1 + exp(−z))``. Gradients are finite at −100 too, where
    ``exp(100)`` is infinite in float32. Any of the three may come without a bias. Not with torch's
    silu.

    Shazeer, "GLU Variants Improve Transformer" (2020), section 2.
    """
    gate = apply_linear_projection(x, *weights.gate)
    opened = gate * torch.sigmoid(gate)
    return apply_linear_projection(opened * apply_linear_projection(x, *weights.up), *weights.down)


def repeat_key_value_heads(
    x: Float[Tensor, "batch kv_heads length d_k"], repeats: int
) -> Float[Tensor, "batch heads length d_k"]:
    """Hand each head's keys, or values, to a whole group of query heads: copies side by side.

    Head 0 ``repeats`` times, then head 1 ``repeats`` times, and so on. Gradients of the copies add
    up in the head they were made of. Not with torch's ``repeat_interleave``.

    ``repeats`` below 1 raises ``ValueError``.

    Ainslie et al., "GQA" (2023), section 2.2.
    """
    if repeats < 1:
        raise ValueError(f"each head is wanted at least once, got repeats = {repeats}")
    copies = x[:, :, None].expand(-1, -1, repeats, -1, -1)
    return copies.flatten(start_dim=1, end_dim=2)


def grouped_query_attention(
    queries: Float[Tensor, "batch heads queries d_k"],
    keys: Float[Tensor, "batch kv_heads keys d_k"],
    values: Float[Tensor, "batch kv_heads keys d_v"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> tuple[Float[Tensor, "batch heads queries d_v"], Float[Tensor, "batch heads queries keys"]]:
    """Let several heads ask the same keys, each its own question: fewer keys have to be kept.

    Query heads come in groups of ``heads / kv_heads`` neighbours, and group g attends to key and
    value head g. As many of these as query heads are multi-head attention (step 029), a single one
    is multi-query attention. ``mask`` is as in step 029. Returns what the heads found, and the
    weights they gave.

    A number of query heads that is no multiple of the key and value heads raises ``ValueError``;
    bad masks raise what step 029 raises.

    Ainslie et al., "GQA" (2023), section 2.2; with one key and value head, Shazeer, "Fast
    Transformer Decoding" (2019), section 3.
    """
    heads, kv_heads = queries.shape[1], keys.shape[1]
    if heads % kv_heads != 0:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key and value heads evenly")
    keys = repeat_key_value_heads(keys, heads // kv_heads)
    values = repeat_key_value_heads(values, heads // kv_heads)
    return multi_head_scaled_dot_product_attention(queries, keys, values, mask)


def decoder_only_layer(
    x: Float[Tensor, "batch length d_model"],
    layer: DecoderOnlyLayerWeights,
    num_heads: int,
    num_kv_heads: int,
    cos: Float[Tensor, "positions pairs"],
    sin: Float[Tensor, "positions pairs"],
    mask: Bool[Tensor, "... #length #length"] | None = None,
    positions: Int[Tensor, "... length"] | None = None,
    eps: float = 1e-6,
) -> Float[Tensor, "batch length d_model"]:
    """Run one floor of the model: twice, look at a normed copy and add what was found to the word.

    Pre-norm: ``x + Attention(RMSNorm(x))``, then ``x + SwiGLU(RMSNorm(x))``. Queries are split into
    ``num_heads`` heads, keys and values into ``num_kv_heads``; queries and keys are turned by their
    positions, values are not. ``mask`` is as in step 029, ``cos``, ``sin`` and ``positions`` as in
    step 089, and ``eps`` is that of both norms.

    Xiong et al., "On Layer Normalization in the Transformer Architecture" (2020), section 3.1;
    Touvron et al., "LLaMA" (2023), section 2.2.
    """
    normed = rms_norm(x, layer.attention_norm, eps)
    queries, keys, values = project_to_query_key_value(normed, normed, layer.attention)
    queries = apply_rotary_embedding(_split(queries, num_heads), cos, sin, positions)
    keys = apply_rotary_embedding(_split(keys, num_kv_heads), cos, sin, positions)
    heads, _ = grouped_query_attention(queries, keys, _split(values, num_kv_heads), mask)
    x = x + merge_heads_and_project_output(heads, layer.attention.output)
    normed = rms_norm(x, layer.feed_forward_norm, eps)
    return x + swiglu_feed_forward(normed, layer.feed_forward)


def run_decoder_only_forward(
    token_ids: Int[Tensor, "batch length"], weights: DecoderOnlyWeights, config: DecoderOnlyConfig
) -> Float[Tensor, "batch length vocab"]:
    """Read a text once, and score at each position what might come next.

    Token ids become embeddings, as they stand in the table: they are not scaled, and no positions
    are added. They go up through the layers, each token seeing itself and the real tokens before
    it; a final norm brings them to one loudness, and the embedding table scores them (tied output,
    without a bias). Returns logits: position t's are about the token after ``token_ids[:, t]``.

    Padding is never seen, wherever it stands. As only distances count, a sentence padded on the
    left gives, at its real tokens, what it gives alone. What comes out at padding means nothing.

    Touvron et al., "LLaMA" (2023), section 2.2; the tied table is that of the Transformer's paper,
    section 3.4.
    """
    table = weights.token_embedding
    d_k = config.d_model // config.num_heads
    cos, sin = build_rotary_table(
        config.max_length, d_k, config.rope_base, table.device, table.dtype
    )
    mask = combine_padding_and_causal_masks(
        build_padding_mask(token_ids, pad_id=config.pad_id),
        build_causal_mask(token_ids.shape[1], token_ids.device),
    )
    x = lookup_token_embeddings(token_ids, table)
    for layer in weights.layers:
        x = decoder_only_layer(
            x, layer, config.num_heads, config.num_kv_heads, cos, sin, mask, eps=config.norm_eps
        )
    x = rms_norm(x, weights.final_norm, config.norm_eps)
    return apply_linear_projection(x, table)


def compute_next_token_cross_entropy(
    logits: Float[Tensor, "batch length vocab"],
    token_ids: Int[Tensor, "batch length"],
    pad_id: int,
) -> Float[Tensor, ""]:
    """Measure how much the next token surprises the model, as a mean over the whole text.

    The logits at position t are held against token t + 1: ``−log softmax(logits)[token]``. The mean
    is over all tokens that are to be predicted and are not ``pad_id``; where there is none it is 0.
    At padding the logits play no part, −∞ among them neither. Half logits are computed in float32,
    and the result is float32 then. Not with torch's cross-entropy, ``nll_loss`` or ``log_softmax``.

    Radford et al., "Improving Language Understanding by Generative Pre-Training" (2018), section
    3.1, equation 1.
    """
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    asked = logits[:, :-1][is_real]
    asked = asked.to(torch.promote_types(asked.dtype, torch.float32))
    log_probs = apply_log_softmax_over_vocab(asked)
    surprise = -log_probs.gather(1, targets[is_real][:, None])
    return surprise.sum() / is_real.sum().clamp(min=1)


def _split(
    projected: Float[Tensor, "batch length width"], num_heads: int
) -> Float[Tensor, "batch heads length d_k"]:
    """Cut a projection into heads, and put them before the sequence."""
    return transpose_heads_before_sequence(split_last_dim_into_heads(projected, num_heads))
