"""Right but unusual versions of step 052."""

from math import prod, sqrt

import torch
from torch import nn

from kata.weights import (
    AttentionWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)


def _layer(config, matrix, constant):
    """A layer out of two functions: one draws a matrix, one fills a vector with a number."""
    d_model, d_ff = config.d_model, config.d_ff

    def linear(d_out, d_in):
        return LinearWeights(matrix(d_out, d_in), constant(d_out, 0.0))

    def norm():
        return LayerNormWeights(constant(d_model, 1.0), constant(d_model, 0.0))

    attention = AttentionWeights(*(linear(d_model, d_model) for _ in range(4)))
    network = FeedForwardWeights(linear(d_ff, d_model), linear(d_model, d_ff))
    return EncoderLayerWeights(attention, norm(), network, norm())


def parameters(config, generator=None, device=None, dtype=torch.float32):
    """Every tensor is an ``nn.Parameter``, and ``xavier_uniform_`` throws the dice."""
    place = {"device": device, "dtype": dtype}

    def matrix(d_out, d_in):
        empty = nn.Parameter(torch.empty(d_out, d_in, **place))
        return nn.init.xavier_uniform_(empty, generator=generator)

    def constant(size, number):
        return nn.Parameter(torch.full((size,), number, **place))

    return _layer(config, matrix, constant)


def modules_emptied(config, generator=None, device=None, dtype=torch.float32):
    """``nn.Linear`` and ``nn.LayerNorm`` lend their tensors; ``skip_init`` keeps their own dice."""
    place = {"device": device, "dtype": dtype}
    if device is None:
        place["device"] = torch.get_default_device()

    def linear(d_in, d_out):
        module = nn.utils.skip_init(nn.Linear, d_in, d_out, **place)
        nn.init.xavier_uniform_(module.weight, generator=generator)
        nn.init.zeros_(module.bias)
        return LinearWeights(module.weight, module.bias)

    def norm():
        module = nn.LayerNorm(config.d_model, **place)
        return LayerNormWeights(module.weight, module.bias)

    wide, narrow = config.d_ff, config.d_model
    return EncoderLayerWeights(
        feed_forward_norm=norm(),
        feed_forward=FeedForwardWeights(linear(narrow, wide), linear(wide, narrow)),
        self_attention_norm=norm(),
        self_attention=AttentionWeights._make(linear(narrow, narrow) for _ in range(4)),
    )


def drawn_in_float64(config, generator=None, device=None, dtype=torch.float32):
    """``rand`` draws in float64, stretched from [0, 1) to ±b, and is cast once."""

    def leaf(tensor):
        return tensor.to(dtype, copy=True).requires_grad_()

    def matrix(d_out, d_in):
        shape = (d_out, d_in)
        drawn = torch.rand(shape, generator=generator, device=device, dtype=torch.float64)
        return leaf((2 * drawn - 1) * sqrt(6 / sum(shape)))

    def constant(size, number):
        return leaf(torch.full((size,), number, device=device, dtype=torch.float64))

    return _layer(config, matrix, constant)


def columns_in_one_piece(config, generator=None, device=None, dtype=torch.float32):
    """A matrix is drawn as its transpose, and is the view of that: leaf all the same."""
    place = {"device": device, "dtype": dtype}

    def matrix(d_out, d_in):
        bound = sqrt(6 / (d_in + d_out))
        transposed = torch.empty(d_in, d_out, **place)
        return transposed.uniform_(-bound, bound, generator=generator).mT.requires_grad_()

    def constant(size, number):
        return torch.ones(size, **place).mul_(number).requires_grad_()

    return _layer(config, matrix, constant)


def one_throw_cut_into_pieces(config, generator=None, device=None, dtype=torch.float32):
    """All dice of the layer are thrown at once; each matrix gets a copy of its piece, stretched."""
    d_model, d_ff = config.d_model, config.d_ff
    shapes = [(d_model, d_model)] * 4 + [(d_ff, d_model), (d_model, d_ff)]
    total = sum(map(prod, shapes))
    throw = torch.empty(total, device=device).uniform_(-1, 1, generator=generator)
    pieces = iter(throw.split([prod(shape) for shape in shapes]))

    def matrix(d_out, d_in):
        stretched = next(pieces).view(d_out, d_in) * sqrt(6 / (d_in + d_out))
        return stretched.to(dtype).requires_grad_()

    def constant(size, number):
        return torch.tensor([number] * size, device=device, dtype=dtype, requires_grad=True)

    return _layer(config, matrix, constant)
