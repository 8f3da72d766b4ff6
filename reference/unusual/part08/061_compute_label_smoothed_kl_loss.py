"""Right but unusual versions of step 061."""

import torch


def only_what_is_wanted(log_probs, distribution):
    """A mask picks out where p is not 0, and the rest is never looked at."""
    wanted = distribution != 0
    p = distribution[wanted]
    return (p * (p.log() - log_probs[wanted])).sum()


def cross_entropy_less_entropy(log_probs, distribution):
    """Σ −p log q, less the entropy that p has of its own."""
    wanted = distribution != 0
    cross_entropy = -(distribution * log_probs.where(wanted, 0)).sum()
    entropy = -(distribution * distribution.where(wanted, 1).log()).sum()
    return cross_entropy - entropy


def letters_for_the_axes(log_probs, distribution):
    """``einsum`` sums the products of p and log p − log q over both axes."""
    wanted = distribution != 0
    gap = distribution.where(wanted, 1).log() - log_probs.where(wanted, 0)
    return torch.einsum("nv,nv->", distribution.to(gap.dtype), gap)


def own_word_for_p_log_p(log_probs, distribution):
    """``xlogy`` knows that 0 · log 0 is 0."""
    nobody = distribution == 0
    own = torch.xlogy(distribution, distribution.masked_fill(nobody, 1))
    return (own - distribution * log_probs.masked_fill(nobody, 0)).sum()


def row_after_row(log_probs, distribution):
    """Token after token, as a dot product of what is wanted there."""
    total = log_probs.new_zeros(())
    for believed, wanted in zip(log_probs, distribution, strict=True):
        words = wanted.nonzero().squeeze(1)
        p = wanted[words]
        gap = p.log() - believed[words]
        total = total + p.to(gap.dtype).dot(gap)
    return total


class _Divergence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, log_probs, distribution):
        wanted = distribution != 0
        gap = distribution.log().sub(log_probs).masked_fill(~wanted, 0)
        ctx.save_for_backward(distribution, gap, wanted)
        return (distribution * gap).sum()

    @staticmethod
    def backward(ctx, gradient):
        distribution, gap, wanted = ctx.saved_tensors
        return -gradient * distribution, gradient * (gap + 1) * wanted


def own_function(log_probs, distribution):
    """An ``autograd.Function``: slopes −p for log q, and log p − log q + 1 for p."""
    return _Divergence.apply(log_probs, distribution)
