"""Right but unusual versions of step 044."""

from functools import partial

import torch

from kata.part03_attention import mask_attention_scores_with_neg_inf, softmax_attention_weights
from kata.part04_multi_head import (
    apply_linear_projection,
    assemble_multi_head_attention_forward,
    multi_head_scaled_dot_product_attention,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, layer_norm
from kata.weights import LayerNormWeights


def _for_every_head(mask, *scores):
    """The mask with a place for each sentence, head, query and key."""
    fits = mask.dim() == 4 and all(
        size in (1, whole) for size, whole in zip(mask.shape, scores, strict=True)
    )
    if mask.shape != scores[2:] and not fits:
        raise ValueError(f"a mask {tuple(mask.shape)} for scores {scores}")
    return mask.expand(scores)


def _lay_out(weights, x, memory, num_heads):
    """Queries, keys and values with an axis for the heads behind the words."""
    project = (partial(apply_linear_projection, weight=w, bias=b) for w, b in weights[:3])
    words = (x, memory, memory)
    return (
        one(sentence).unflatten(-1, (num_heads, -1))
        for one, sentence in zip(project, words, strict=True)
    )


def letters_for_the_heads(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """No axis is ever moved: ``einsum`` finds the heads where they are, by a letter."""
    weights = layer.cross_attention
    queries, keys, values = _lay_out(weights, x, memory, num_heads)
    scores = torch.einsum("bqhd,bkhd->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    mask = _for_every_head(source_mask, *scores.shape)
    shares = softmax_attention_weights(mask_attention_scores_with_neg_inf(scores, mask))
    heads = torch.einsum("bhqk,bkhd->bqhd", shares, values)
    seen = apply_linear_projection(heads.flatten(-2), *weights.output)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def keys_and_values_at_once(
    x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """One packed matrix makes keys and values of the memory, and ``chunk`` parts them."""
    query, key, value, output = layer.cross_attention
    both = torch.cat([key.weight, value.weight])
    cuts = apply_linear_projection(memory, both).chunk(2, dim=-1)
    parts = [apply_linear_projection(x, *query)]
    for cut, projection in zip(cuts, (key, value), strict=True):
        parts.append(cut if projection.bias is None else cut + projection.bias)
    heads = (part.unflatten(-1, (num_heads, -1)).transpose(1, 2) for part in parts)
    found, _ = multi_head_scaled_dot_product_attention(*heads, source_mask)
    seen = apply_linear_projection(found.transpose(1, 2).flatten(-2), *output)
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def word_after_word(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """One word of the translation at a time looks the memory over."""
    scores = (len(x), num_heads, x.shape[1], memory.shape[1])
    rows = _for_every_head(source_mask, *scores).split(1, dim=2)
    seen = [
        assemble_multi_head_attention_forward(word, memory, layer.cross_attention, num_heads, row)
        for word, row in zip(x.split(1, dim=1), rows, strict=True)
    ]
    together = torch.cat([output for output, _ in seen], dim=1)
    return add_and_norm(x, together, layer.cross_attention_norm, dropout_rate, generator)


def head_after_head(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each head's share of the output is added; they are never laid side by side."""
    weights = layer.cross_attention
    queries, keys, values = _lay_out(weights, x, memory, num_heads)
    mask = _for_every_head(source_mask, len(x), num_heads, x.shape[1], memory.shape[1])
    columns = weights.output.weight.unflatten(-1, (num_heads, -1))
    seen = torch.zeros_like(x) if weights.output.bias is None else weights.output.bias
    for head in range(num_heads):
        scores = queries[:, :, head] @ keys[:, :, head].mT / keys.shape[-1] ** 0.5
        scores = mask_attention_scores_with_neg_inf(scores, mask[:, head])
        found = softmax_attention_weights(scores) @ values[:, :, head]
        seen = seen + found @ columns[:, head].mT
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def float64_inside(x, memory, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was seen is added and normed in float64, and laid out features first."""
    seen, _ = assemble_multi_head_attention_forward(
        x, memory, layer.cross_attention, num_heads, mask=source_mask
    )
    total = x.double() + apply_dropout(seen.double(), dropout_rate, generator)
    gain, bias = layer.cross_attention_norm
    answer = layer_norm(total, LayerNormWeights(gain.double(), bias.double()))
    return answer.to(x.dtype).permute(2, 0, 1).contiguous().permute(1, 2, 0)
