"""Right but unusual versions of step 029."""

from math import inf, sqrt

import torch

from kata.part03_attention import (
    apply_attention_weights_to_values,
    mask_attention_scores_with_neg_inf,
    scaled_dot_product_attention,
    softmax_attention_weights,
)


def _full(mask, queries, keys):
    """The mask with all four axes and sizes; None stays None."""
    if mask is None:
        return None
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask of {mask.dtype} where a bool one is wanted")
    wanted = torch.Size((*queries.shape[:3], keys.shape[2]))
    if mask.shape == wanted[2:]:
        return mask.expand(wanted)
    try:
        if mask.dim() == 4:
            return mask.expand(wanted)
    except RuntimeError:
        pass
    raise ValueError(f"mask {mask.shape} is neither {wanted[2:]} nor spreads to {wanted}")


def head_after_head(queries, keys, values, mask=None):
    """A loop over the heads, each of which is a call of the earlier step."""
    full = _full(mask, queries, keys)
    found = [
        scaled_dot_product_attention(
            queries[:, head],
            keys[:, head],
            values[:, head],
            None if full is None else full[:, head],
        )
        for head in range(queries.shape[1])
    ]
    outputs, weights = zip(*found, strict=True)
    return torch.stack(outputs, dim=1), torch.stack(weights, dim=1)


def heads_folded_into_the_batch(queries, keys, values, mask=None):
    """Every head of every sentence is a sentence of its own."""
    full = _full(mask, queries, keys)
    batch, heads = queries.shape[:2]
    output, weights = scaled_dot_product_attention(
        queries.flatten(0, 1),
        keys.flatten(0, 1),
        values.flatten(0, 1),
        None if full is None else full.flatten(0, 1),
    )
    return output.unflatten(0, (batch, heads)), weights.unflatten(0, (batch, heads))


def vmap_over_heads(queries, keys, values, mask=None):
    """``vmap`` maps the earlier step over axis 1."""
    full = _full(mask, queries, keys)
    axes = (1, 1, 1, None if full is None else 1)
    attend = torch.vmap(scaled_dot_product_attention, in_dims=axes, out_dims=1)
    return attend(queries, keys, values, full)


def written_inline(queries, keys, values, mask=None):
    """``einsum`` and a bias of −∞, with the scale put on the keys."""
    full = _full(mask, queries, keys)
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys / sqrt(keys.shape[-1]))
    if full is not None:
        scores = scores + torch.zeros_like(scores).masked_fill_(~full, -inf)
    weights = softmax_attention_weights(scores)
    return [torch.einsum("bhqk,bhkd->bhqd", weights, values), weights]


def all_heads_in_one_block_matrix(queries, keys, values, mask=None):
    """The heads' tokens stand in one long line, and a block mask keeps the heads apart."""
    full = _full(mask, queries, keys)
    batch, heads, asked, heard = *queries.shape[:3], keys.shape[2]
    if full is None:
        full = torch.ones((), dtype=torch.bool, device=keys.device)
        full = full.expand(batch, heads, asked, heard)
    blocks = torch.zeros(batch, heads, asked, heads, heard, dtype=torch.bool, device=queries.device)
    own = torch.arange(heads, device=queries.device)
    blocks[:, own, :, own] = full.transpose(0, 1)
    line = queries.flatten(1, 2) @ keys.flatten(1, 2).mT / keys.shape[-1] ** 0.5
    line = mask_attention_scores_with_neg_inf(line, blocks.flatten(3, 4).flatten(1, 2))
    weights = softmax_attention_weights(line)
    output = apply_attention_weights_to_values(weights, values.flatten(1, 2))
    apart = weights.view(batch, heads, asked, heads, heard)
    return output.view(batch, heads, asked, -1), apart.diagonal(dim1=1, dim2=3).movedim(-1, 1)


def sentence_after_sentence(queries, keys, values, mask=None):
    """A loop over sentences, with the mask cut to each."""
    full = _full(mask, queries, keys)
    masks = [None] * len(queries) if full is None else full
    found = map(scaled_dot_product_attention, queries, keys, values, masks)
    return tuple(torch.stack(parts) for parts in zip(*found, strict=True))
