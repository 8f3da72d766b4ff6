"""Right but unusual versions of step 043."""

import torch

from kata.part03_attention import mask_attention_scores_with_neg_inf, softmax_attention_weights
from kata.part04_multi_head import (
    apply_linear_projection,
    assemble_multi_head_attention_forward,
    multi_head_scaled_dot_product_attention,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, layer_norm
from kata.part06_transformer import encoder_layer_self_attention_sublayer
from kata.weights import LayerNormWeights


def encoders_sublayer(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """The encoder's sub-layer does it: only the mask is another one, and the names are the same."""
    return encoder_layer_self_attention_sublayer(
        x, layer, num_heads, target_mask, dropout_rate, generator
    )


def _for_every_head(mask, *scores):
    """The mask with a place for each sentence, head, query and key."""
    fits = mask.dim() == 4 and all(
        size in (1, whole) for size, whole in zip(mask.shape, scores, strict=True)
    )
    if mask.shape != scores[2:] and not fits:
        raise ValueError(f"a mask {tuple(mask.shape)} for scores {scores}")
    return mask.expand(scores)


def word_after_word(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """One query at a time, with its own row of the mask."""
    batch, length, _ = x.shape
    rows = _for_every_head(target_mask, batch, num_heads, length, length).split(1, dim=2)
    heard = [
        assemble_multi_head_attention_forward(word, x, layer.self_attention, num_heads, row)[0]
        for word, row in zip(x.split(1, dim=1), rows, strict=True)
    ]
    together = torch.cat(heard, dim=1)
    return add_and_norm(x, together, layer.self_attention_norm, dropout_rate, generator)


def one_packed_matrix(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """One matrix makes queries, keys and values of all heads, and is cut up after the product."""
    weights = layer.self_attention
    packed = torch.cat([projection.weight for projection in weights[:3]])
    cuts = torch.matmul(x, packed.mT).chunk(3, dim=-1)
    heads = []
    for cut, projection in zip(cuts, weights[:3], strict=True):
        shifted = cut if projection.bias is None else cut + projection.bias
        heads.append(shifted.unflatten(-1, (num_heads, -1)).transpose(1, 2))
    found, _ = multi_head_scaled_dot_product_attention(*heads, target_mask)
    heard = apply_linear_projection(found.transpose(1, 2).flatten(-2), *weights.output)
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def head_after_head(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """Each head has its own rows of the matrices, and its own columns of the last one.

    What the heads found is never laid side by side: each one's share of the output is added.
    """
    weights = layer.self_attention
    batch, length, d_model = x.shape
    d_k = d_model // num_heads
    masks = _for_every_head(target_mask, batch, num_heads, length, length)
    heard = torch.zeros_like(x)
    for head, rows in enumerate(torch.arange(d_model, device=x.device).split(d_k)):
        queries, keys, values = (
            apply_linear_projection(x, weight[rows], None if bias is None else bias[rows])
            for weight, bias in weights[:3]
        )
        scores = torch.einsum("bqd,bkd->bqk", queries, keys) / d_k**0.5
        shares = softmax_attention_weights(
            mask_attention_scores_with_neg_inf(scores, masks[:, head])
        )
        heard = heard + shares @ values @ weights.output.weight[:, rows].mT
    if weights.output.bias is not None:
        heard = heard + weights.output.bias
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def float64_inside(x, layer, num_heads, target_mask, dropout_rate=0.0, generator=None):
    """What was heard is added and normed in float64, and laid out features first."""
    heard, _ = assemble_multi_head_attention_forward(
        x, x, layer.self_attention, num_heads, mask=target_mask
    )
    total = x.double() + apply_dropout(heard.double(), dropout_rate, generator)
    gain, bias = layer.self_attention_norm
    answer = layer_norm(total, LayerNormWeights(gain.double(), bias.double()))
    return answer.to(x.dtype).permute(2, 0, 1).contiguous().permute(1, 2, 0)
