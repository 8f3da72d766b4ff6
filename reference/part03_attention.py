"""Part 3 · Masks and Scaled Dot-Product Attention.

Every word of a sentence asks all the others a question and listens to the answers. First come the
rules of who may be heard: nobody listens to padding (014) or to the future (015), and a decoder
keeps both rules (016). Then attention, one line a step: each query meets each key (017), the volume
is set (018), the hidden keys fall silent (019), scores become shares of one whole (020), and the
shares mix the values (021). Step 022 reads the five lines aloud: equation 1 of the paper.

A mask is a bool tensor, True where a key may be attended to.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def build_padding_mask(
    token_ids: Int[Tensor, "batch length"], pad_id: int
) -> Bool[Tensor, "batch 1 1 length"]:
    """Mark the real tokens of each sentence, so that nobody listens to the padding behind them.

    True where a token is not ``pad_id``, wherever in the row it stands. The two axes of size 1
    leave room for the heads and the queries of attention scores: what is hidden is a key, from
    every head and every query alike.

    The paper does not write this mask down: it comes with batches of unequal sentences.
    """
    return (token_ids != pad_id)[:, None, None, :]


def build_causal_mask(
    length: int, device: torch.device | str | None = None
) -> Bool[Tensor, "length length"]:
    """Draw the staircase that lets each position look back and at itself, never ahead.

    Row i is a query, column j a key: True where j ≤ i. ``device=None`` is torch's own default.

    Section 3.2.3 of the paper: decoder self-attention.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def combine_padding_and_causal_masks(
    padding_mask: Bool[Tensor, "batch 1 1 length"], causal_mask: Bool[Tensor, "length length"]
) -> Bool[Tensor, "batch 1 length length"]:
    """Lay the two masks over each other, so that light gets through where both are open.

    A key may be attended to if it is real *and* not in the query's future.

    A mask that is not bool raises ``TypeError``, lengths that differ raise ``ValueError``.

    Section 3.2.3 of the paper, for the decoder's self-attention over a padded batch.
    """
    _require_bool(padding_mask)
    _require_bool(causal_mask)
    tokens, positions = padding_mask.shape[-1], len(causal_mask)
    if tokens != positions:
        raise ValueError(f"masks must be of one length, got padding {tokens}, causal {positions}")
    return padding_mask & causal_mask


def compute_raw_attention_scores(
    queries: Float[Tensor, "... queries d_k"], keys: Float[Tensor, "... keys d_k"]
) -> Float[Tensor, "... queries keys"]:
    """Let every query meet every key: the better the two agree, the higher the score.

    ``Q Kᵀ``, one dot product for each pair: row i holds what query i scored with each key. There
    may be more keys than queries, or fewer; leading dimensions broadcast.

    Widths that differ raise ``ValueError``.

    Section 3.2.1 of the paper, the product inside equation 1.
    """
    wanted, offered = queries.shape[-1], keys.shape[-1]
    if wanted != offered:
        raise ValueError(f"queries of width {wanted} cannot meet keys of width {offered}")
    return queries @ keys.mT


def scale_attention_scores(
    scores: Float[Tensor, "... queries keys"], d_k: int
) -> Float[Tensor, "... queries keys"]:
    """Turn the scores down to one volume, however many products each of them is the sum of.

    ``scores / √d_k``, where ``d_k`` is the width of a query and of a key.

    ``d_k`` below 1 raises ``ValueError``.

    Section 3.2.1 of the paper, the "scaled" of equation 1; its footnote 4 gives the reason.
    """
    if d_k <= 0:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    return scores / math.sqrt(d_k)


def mask_attention_scores_with_neg_inf(
    scores: Float[Tensor, "... queries keys"], mask: Bool[Tensor, "... #queries #keys"] | None
) -> Float[Tensor, "... queries keys"]:
    """Silence the hidden keys: a score of −∞ is one that no softmax can hear.

    −∞ where the mask is False, whatever stood there; the other scores stay as they are. The mask
    broadcasts to the scores. ``mask=None`` hides nothing.

    A mask that is not bool raises ``TypeError``; one that would make the scores larger raises
    ``ValueError``.

    Section 3.2.3 of the paper, and the optional mask of figure 2.
    """
    if mask is None:
        return scores
    _require_bool(mask)
    masked = scores.masked_fill(~mask, -math.inf)
    if masked.shape != scores.shape:
        raise ValueError(f"mask {tuple(mask.shape)} is larger than scores {tuple(scores.shape)}")
    return masked


def softmax_attention_weights(
    scores: Float[Tensor, "... queries keys"],
) -> Float[Tensor, "... queries keys"]:
    """Hand out each query's attention in shares: the higher a key's score, the larger its share.

    ``exp(sᵢ) / Σⱼ exp(sⱼ)`` over the keys, so that each row adds up to 1. Scores of ±10⁴ are safe.
    A row of −∞ alone, a query that sees no key, becomes zeros, and its gradient is zero.

    Section 3.2.1 of the paper, the softmax of equation 1.
    """
    with torch.no_grad():  # it cancels, so no gradient has to go through it
        loudest = scores.amax(dim=-1, keepdim=True)
        loudest = loudest.clamp(min=torch.finfo(scores.dtype).min)  # −∞ − (−∞) would be NaN
    raised = torch.exp(scores - loudest)
    total = raised.sum(dim=-1, keepdim=True)
    return raised / total.clamp(min=1.0)  # the loudest key adds 1, so less means that none is seen


def apply_attention_weights_to_values(
    weights: Float[Tensor, "... queries keys"], values: Float[Tensor, "... keys d_v"]
) -> Float[Tensor, "... queries d_v"]:
    """Mix the values, each poured in by the share of attention that its key has won.

    ``W V``: row i is ``Σⱼ weights[i, j] · values[j]``. The weights are taken as they come, and a
    row of zeros mixes nothing. Values may be of another width than keys.

    Section 3.2.1 of the paper, the last product of equation 1.
    """
    return weights @ values


def scaled_dot_product_attention(
    queries: Float[Tensor, "... queries d_k"],
    keys: Float[Tensor, "... keys d_k"],
    values: Float[Tensor, "... keys d_v"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> tuple[Float[Tensor, "... queries d_v"], Float[Tensor, "... queries keys"]]:
    """Mix the values, each weighted by how well its key answers the query.

    ``softmax(Q Kᵀ / √d_k) V``, with hidden keys left out before the softmax. Returns the mixed
    values and the weights. A query that sees no key gets zeros for both.

    Bad widths and masks raise what steps 017 and 019 raise.

    Section 3.2.1 of the paper, equation 1 and the left half of figure 2.
    """
    scores = compute_raw_attention_scores(queries, keys)
    scores = scale_attention_scores(scores, queries.shape[-1])
    scores = mask_attention_scores_with_neg_inf(scores, mask)
    weights = softmax_attention_weights(scores)
    return apply_attention_weights_to_values(weights, values), weights


def _require_bool(mask: Tensor) -> None:
    """Refuse a mask of numbers: is 0 hidden, or is 0 "add nothing"? Only bool cannot be misread."""
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask must be bool (True = may be attended to), got {mask.dtype}")
