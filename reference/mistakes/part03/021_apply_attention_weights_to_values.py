"""Wrong versions of step 021, one slip each."""

import torch

from kata.part03_attention import softmax_attention_weights


def weights_transposed(weights, values):
    """Queries and keys have changed places: each value is weighted by the wrong query's share."""
    return weights.transpose(-2, -1) @ values


def averaged(weights, values):
    """The weighted values are averaged over the keys, not added up."""
    return weights @ values / weights.shape[-1]


def topped_up(weights, values):
    """The weights are topped up to 1 first, and are to be taken as they come."""
    return weights / weights.sum(dim=-1, keepdim=True) @ values


def shared_out_again(weights, values):
    """The weights go through a softmax once more, and come out almost equal."""
    return softmax_attention_weights(weights) @ values


def winner_takes_all(weights, values):
    """Only the value with the largest weight is taken, whole."""
    winner = torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])
    return winner.to(weights.dtype) @ values


def four_dimensions_only(weights, values):
    """Only four dimensions work, batch and heads in front: two or three do not."""
    return torch.einsum("bhqk,bhkd->bhqd", weights, values)


def weights_detached(weights, values):
    """The weights are detached: no gradient flows back to queries and keys."""
    return weights.detach() @ values


def in_float32(weights, values):
    """The result is float32, whatever came in."""
    return weights.float() @ values.float()
