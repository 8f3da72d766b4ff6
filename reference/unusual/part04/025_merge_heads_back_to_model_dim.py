"""Right but unusual versions of step 025."""

import torch


def concat_of_the_paper(x):
    """Concat(head_1, …, head_h), literally."""
    return torch.cat([*x.unbind(1)], dim=-1)


def copied_and_viewed(x):
    """A contiguous copy, so that ``view`` will do."""
    batch, heads, length, d_k = x.size()
    return x.transpose(2, 1).contiguous().view(batch, length, heads * d_k)


def token_after_token(x):
    """Each token's slices are flattened by themselves, and the tokens stacked."""
    return torch.stack([token.flatten(start_dim=1) for token in x.unbind(dim=2)], dim=1)


def slices_written_side_by_side(x):
    """Zeros of the right width, into which the heads are written by slices."""
    d_k = x.shape[-1]
    merged = torch.zeros(x.shape[0], x.shape[2], x.shape[1] * d_k, dtype=x.dtype, device=x.device)
    for number, head in enumerate(x.swapaxes(0, 1)):
        merged[..., number * d_k : (number + 1) * d_k] = head
    return merged


def vmap_over_sentences(x):
    """``vmap`` lays the heads of one sentence after the other side by side."""
    return torch.vmap(lambda heads: torch.hstack(tuple(heads)))(x)


def features_moved_to_the_front(x):
    """The width is joined in front, (H · d_k, B, T), and then moved back behind."""
    return x.permute(1, 3, 0, 2).flatten(0, 1).movedim(0, -1)
