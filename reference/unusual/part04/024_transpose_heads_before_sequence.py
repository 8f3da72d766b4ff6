"""Right but unusual versions of step 024."""

import torch


def permuted(x):
    """All four axes are named anew, and the answer is made contiguous."""
    return x.permute(0, 2, 1, 3).contiguous()


def by_letters(x):
    """``einsum`` with nothing to sum."""
    return torch.einsum("bthd->bhtd", x)


def vmap_in_at_2_out_at_1(x):
    """``vmap`` of nothing at all takes the heads in at axis 2 and puts them out at axis 1."""
    return torch.vmap(lambda head: head, in_dims=2, out_dims=1)(x)


def copied_number_by_number_of_head(x):
    """An empty answer is filled by a double loop over tokens and heads."""
    batch, length, heads, d_k = x.shape
    answer = torch.empty((batch, heads, length, d_k), dtype=x.dtype, device=x.device)
    for token in range(length):
        for head in range(heads):
            answer[:, head, token] = x[:, token, head]
    return answer


def strides_swapped_by_hand(x):
    """The same storage, read with two strides exchanged."""
    (batch, length, heads, d_k), (of_batch, of_token, of_head, of_feature) = x.shape, x.stride()
    strides = (of_batch, of_head, of_token, of_feature)
    return x.as_strided((batch, heads, length, d_k), strides, x.storage_offset())


class _Swap(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x.swapaxes(1, 2)

    @staticmethod
    def backward(_ctx, gradient):
        return gradient.swapaxes(1, 2)


def own_function(x):
    """An ``autograd.Function`` that hands out a view, and swaps the gradient back."""
    return _Swap.apply(x)
