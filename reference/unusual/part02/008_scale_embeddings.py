"""Right but unusual versions of step 008."""

import math
from functools import partial

import torch


def root_held_in_a_tensor(embeddings):
    """√D is a float32 tensor without dimensions."""
    return embeddings * torch.sqrt(torch.tensor(embeddings.shape[-1], dtype=torch.float32))


def root_made_like_the_embeddings(embeddings):
    """√D is computed in the embeddings' own dtype, on their own device."""
    return embeddings.mul(embeddings.new_tensor(embeddings.shape[-1]).sqrt_())


def length_of_a_vector_of_ones(embeddings):
    """√D is the Euclidean length of D ones."""
    ones = torch.ones_like(embeddings)
    return embeddings * torch.linalg.vector_norm(ones, dim=-1, keepdim=True)


def wider_and_back(embeddings):
    """Computed in float32 at least, and cast once at the end."""
    precise = torch.promote_types(embeddings.dtype, torch.float32)
    return (embeddings.to(precise) * math.sqrt(embeddings.size(-1))).type_as(embeddings)


class _Louder(torch.autograd.Function):
    @staticmethod
    def forward(ctx, embeddings):
        ctx.volume = math.exp(math.log(embeddings.shape[-1]) / 2)
        return embeddings * ctx.volume

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.volume


def own_function_by_logarithms(embeddings):
    """An ``autograd.Function``; √D is exp(½ ln D)."""
    return _Louder.apply(embeddings)


def _times(power, embeddings):
    return embeddings * math.pow(embeddings.shape[-1], power)


half_applied = partial(_times, 0.5)
half_applied.__doc__ = "No function but a ``functools.partial``."
half_applied.__module__ = __name__
