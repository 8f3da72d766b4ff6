"""Right but unusual versions of step 048."""

import torch
from torch.nn import functional

from kata.part04_multi_head import apply_linear_projection


def _check(x, output_projection):
    weight, bias = output_projection
    if x.shape[-1] != weight.shape[-1]:
        raise ValueError(f"x {tuple(x.shape)} does not fit a weight {tuple(weight.shape)}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"want one bias for each of {len(weight)} words, got {tuple(bias.shape)}")


def rows_of_one_matrix(x, output_projection):
    """All positions are the rows of one matrix, and ``addmm`` starts from the bias."""
    _check(x, output_projection)
    weight, bias = output_projection
    rows = x.reshape(-1, x.shape[-1])
    logits = rows.mm(weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
    return logits.view(*x.shape[:-1], len(weight))


def letters_for_the_axes(x, output_projection):
    """``einsum`` names what is summed away."""
    _check(x, output_projection)
    weight, bias = output_projection
    logits = torch.einsum("...d,vd->...v", x, weight)
    return logits if bias is None else logits + bias


def convolution_of_width_one(x, output_projection):
    """A width-1 convolution does the projection: each word of the vocabulary is a channel."""
    _check(x, output_projection)
    weight, bias = output_projection
    signal = x.reshape(-1, x.shape[-1], 1)
    return functional.conv1d(signal, weight.unsqueeze(-1), bias).view(*x.shape[:-1], len(weight))


def word_after_word(x, output_projection):
    """Each word of the vocabulary is asked for by itself: one product a row of the weight."""
    _check(x, output_projection)
    weight, bias = output_projection
    logits = torch.stack([(x * row).sum(dim=-1) for row in weight], dim=-1)
    return logits if bias is None else logits + bias


def time_first(x, output_projection):
    """Step 026 with the length in front; what comes back is a transposed view."""
    weight, bias = output_projection
    return apply_linear_projection(x.transpose(0, 1), weight, bias).transpose(0, 1)


class _Logits(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.mT

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight, torch.einsum("...v,...d->vd", gradient, x)


def own_function(x, output_projection):
    """An ``autograd.Function`` for the product, whose backward is two products more."""
    _check(x, output_projection)
    weight, bias = output_projection
    logits = _Logits.apply(x, weight)
    return logits if bias is None else logits.add_(bias)
