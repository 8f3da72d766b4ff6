"""Right but unusual versions of step 021."""

import torch


def _folded(weights, values):
    """Both as (N, …, …), and the leading sizes to unfold the answer to."""
    leading = torch.broadcast_shapes(weights.shape[:-2], values.shape[:-2])
    return (
        weights.expand(*leading, -1, -1).flatten(0, -3) if leading else weights[None],
        values.expand(*leading, -1, -1).flatten(0, -3) if leading else values[None],
        leading,
    )


def einsum(weights, values):
    """``einsum`` writes the indices down."""
    return torch.einsum("...qk,...kd->...qd", weights, values)


def values_pour_themselves(weights, values):
    """(Vᵀ Wᵀ)ᵀ: the answer is a transposed view."""
    return (values.mT @ weights.mT).mT


def key_after_key(weights, values):
    """A running sum over the keys, in float32 at least."""
    precise = torch.promote_types(values.dtype, torch.float32)
    output = weights.new_zeros((), dtype=precise)
    for key in range(values.shape[-2]):
        share, value = weights[..., key : key + 1].to(precise), values[..., key, :].to(precise)
        output = output + share * value.unsqueeze(-2)
    return output.to(weights.dtype)


def bmm_on_folded_axes(weights, values):
    """All leading axes are folded into one for ``bmm``."""
    w, v, leading = _folded(weights, values)
    return torch.bmm(w, v).reshape(*leading, w.size(1), v.size(2))


class _Mix(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, values):
        ctx.save_for_backward(weights, values)
        return weights @ values

    @staticmethod
    def backward(ctx, gradient):
        weights, values = ctx.saved_tensors
        return gradient @ values.mT, weights.mT @ gradient


def own_function(weights, values):
    """An ``autograd.Function`` whose backward is two matrix products."""
    w, v, leading = _folded(weights, values)
    return _Mix.apply(w, v).reshape(*leading, w.size(1), v.size(2))


def vmap_over_channels(weights, values):
    """One channel of the values at a time is mixed, mapped over the channels by ``vmap``."""
    mix = torch.vmap(lambda channel: (weights * channel.unsqueeze(-2)).sum(-1), -1, -1)
    return mix(values)
