"""Right but unusual versions of step 102."""

import torch


def ranks_instead_of_a_sort_back(logits, temperature=1.0, top_k=None, top_p=None):
    """Every word learns its rank; shares are cut by rank where they stand."""
    vocab = logits.size(-1)
    if temperature < 0:
        raise ValueError(f"negative temperature {temperature}")
    if top_k is not None and (top_k < 1 or top_k > vocab):
        raise ValueError(f"top_k {top_k} is not from 1 to {vocab}")
    if top_p is not None and not (top_p > 0 and top_p <= 1):
        raise ValueError(f"top_p {top_p}")
    order = logits.argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(dim=-1)
    if temperature == 0:
        return (rank == 0).to(logits.dtype)
    wide = logits.double() if logits.dtype == torch.float64 else logits.float()
    raised = ((wide - wide.amax(-1, keepdim=True)) / temperature).exp()
    raised = raised * (rank < (top_k or vocab))
    shares = raised / raised.sum(-1, keepdim=True)
    if top_p is not None and top_p != 1:
        sums = shares.gather(-1, order).cumsum(-1)
        needed = (sums < top_p).sum(-1, keepdim=True) + 1
        shares = shares * (rank < needed)
        shares = shares / shares.sum(-1, keepdim=True)
    return shares.to(logits.dtype)
