"""Right but unusual versions of step 030."""

import torch
from torch.nn import functional

from kata.part04_multi_head import apply_linear_projection


def each_head_by_its_own_columns(heads, output_weights):
    """Nothing is merged: the weight is cut into a block a head, and the products are added up."""
    weight, bias = output_weights
    blocks = weight.split(heads.shape[-1], dim=1)
    pairs = zip(heads.unbind(1), blocks, strict=True)
    output = sum(head @ block.mT for head, block in pairs)
    return output if bias is None else output + bias


def summed_over_heads_and_features(heads, output_weights):
    """``tensordot`` sums over heads and features at once."""
    blocks = output_weights.weight.unflatten(1, (heads.size(1), heads.size(3)))
    output = torch.tensordot(heads, blocks, dims=([1, 3], [1, 2]))
    return output if output_weights.bias is None else output.add(output_weights.bias)


def by_letters(heads, output_weights):
    """``einsum`` with the weight seen as (d_out, H, d_k), on top of a bias or zeros."""
    weight, bias = output_weights
    blocks = weight.view(-1, heads.shape[1], heads.shape[3])
    bias = (
        torch.zeros(len(weight), dtype=heads.dtype, device=heads.device) if bias is None else bias
    )
    return bias + torch.einsum("bhtd,ohd->bto", heads, blocks)


def a_convolution_over_heads(heads, output_weights):
    """Features stand as channels beside the tokens, for a kernel one token wide."""
    channels = heads.permute(0, 1, 3, 2).flatten(1, 2)
    weight, bias = output_weights
    return functional.conv1d(channels, weight[:, :, None], bias).mT


def joined_and_projected(heads, output_weights):
    """The heads are joined with ``cat``; the earlier step gets weight and bias by name."""
    joined = torch.cat(heads.unbind(dim=1), dim=2)
    return apply_linear_projection(joined, **output_weights._asdict())
