"""Right but unusual versions of step 053."""

from math import sqrt

import torch
from torch import nn

from kata.part07_weights import initialize_encoder_layer_weights
from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)


def encoder_layer_and_half_another(config, generator=None, device=None, dtype=torch.float32):
    """Two encoder layers are drawn, and the second one lends its attention and its first norm."""
    own = initialize_encoder_layer_weights(config, generator, device, dtype)
    other = initialize_encoder_layer_weights(config, generator, device, dtype)
    return DecoderLayerWeights(
        cross_attention=other.self_attention,
        cross_attention_norm=other.self_attention_norm,
        **own._asdict(),
    )


def parameters_walked_through(config, generator=None, device=None, dtype=torch.float32):
    """A plan of shapes is turned into ``nn.Parameter``s, by what stands in it: depth first."""
    d_model, d_ff = config.d_model, config.d_ff
    attention = AttentionWeights(*[LinearWeights((d_model, d_model), (d_model,))] * 4)
    norm = LayerNormWeights(None, (d_model,))
    network = FeedForwardWeights(
        LinearWeights((d_ff, d_model), (d_ff,)), LinearWeights((d_model, d_ff), (d_model,))
    )
    plan = DecoderLayerWeights(attention, norm, attention, norm, network, norm)

    def build(part):
        if hasattr(part, "_fields"):
            return type(part)(*map(build, part))
        shape = part or (d_model,)
        tensor = nn.Parameter(torch.full(shape, float(part is None), device=device, dtype=dtype))
        if len(shape) == 2:
            nn.init.xavier_uniform_(tensor, generator=generator)
        return tensor

    return build(plan)


def _matrix(d_out, d_in, generator, device, dtype):
    bound = sqrt(6 / (d_in + d_out))
    drawn = torch.rand(d_out, d_in, generator=generator, device=device, dtype=torch.float64)
    low, high = torch.tensor([-bound, bound], dtype=torch.float64, device=device)
    return torch.lerp(low, high, drawn).to(dtype)


def packed_and_parted(config, generator=None, device=None, dtype=torch.float32):
    """The matrices of both attentions are drawn as one field, and each gets a copy of its part.

    The bound is that of a single matrix, not of the field.
    """
    place = {"device": device, "dtype": dtype}
    d_model, d_ff = config.d_model, config.d_ff
    bound = sqrt(6 / (2 * d_model))
    field = torch.empty(8, d_model, d_model, **place).uniform_(-bound, bound, generator=generator)

    def linear(matrix):
        bias = torch.zeros(len(matrix), **place)
        return LinearWeights(matrix.clone().requires_grad_(), bias.requires_grad_())

    def norm():
        return LayerNormWeights(
            torch.ones(d_model, **place).requires_grad_(),
            torch.zeros(d_model, **place).requires_grad_(),
        )

    linears = [linear(matrix) for matrix in field]
    network = FeedForwardWeights(
        linear(_matrix(d_ff, d_model, generator, device, dtype)),
        linear(_matrix(d_model, d_ff, generator, device, dtype)),
    )
    first, second = AttentionWeights(*linears[:4]), AttentionWeights(*linears[4:])
    return DecoderLayerWeights(first, norm(), second, norm(), network, norm())


def from_back_to_front(config, generator=None, device=None, dtype=torch.float32):
    """The last field is made first, so that the dice fall in another order."""
    d_model, d_ff = config.d_model, config.d_ff

    def constant(size, number):
        return torch.full((size,), number, device=device, dtype=dtype, requires_grad=True)

    def linear(d_out, d_in):
        weight = _matrix(d_out, d_in, generator, device, dtype)
        return LinearWeights(bias=constant(d_out, 0.0), weight=weight.requires_grad_())

    fields = {}
    for name in reversed(DecoderLayerWeights._fields):
        if name.endswith("_norm"):
            fields[name] = LayerNormWeights(constant(d_model, 1.0), constant(d_model, 0.0))
        elif name.endswith("attention"):
            fields[name] = AttentionWeights(*(linear(d_model, d_model) for _ in range(4)))
        else:
            fields[name] = FeedForwardWeights(linear(d_ff, d_model), linear(d_model, d_ff))
    return DecoderLayerWeights(**fields)
