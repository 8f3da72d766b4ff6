"""Wrong versions of step 052, one slip each."""

import math

import torch

from kata.weights import (
    AttentionWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)


def deviation_for_bound(config, generator=None, device=None, dtype=torch.float32):
    """The standard deviation √(2 / (d_in + d_out)) is taken for the bound."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, d_out: 2 / (d_in + d_out))


def bound_for_deviation(config, generator=None, device=None, dtype=torch.float32):
    """The bound √(6 / (d_in + d_out)) is taken for the standard deviation of normal numbers."""
    return _layer(config, generator, device, dtype, draw=_normal)


def normal_numbers(config, generator=None, device=None, dtype=torch.float32):
    """The numbers are normal, with the right deviation: some lie far outside the bound."""

    def bound(d_in, d_out):
        return 2 / (d_in + d_out)

    return _layer(config, generator, device, dtype, bound=bound, draw=_normal)


def deviation_002(config, generator=None, device=None, dtype=torch.float32):
    """The numbers are normal with deviation 0.02, as GPT-2 draws them: the sizes do not count."""
    return _layer(config, generator, device, dtype, bound=lambda *_: 0.02**2, draw=_normal)


def brackets_missing(config, generator=None, device=None, dtype=torch.float32):
    """Brackets are missing: √(6 / d_in + d_out)."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, d_out: 6 / d_in + d_out)


def three_for_six(config, generator=None, device=None, dtype=torch.float32):
    """The bound is √(3 / (d_in + d_out)): the 6 was halved."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, d_out: 3 / (d_in + d_out))


def bound_stretched(config, generator=None, device=None, dtype=torch.float32):
    """The bound is √2 times too large: the sum was halved under the root, or a gain put before."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, d_out: 12 / (d_in + d_out))


def root_missing(config, generator=None, device=None, dtype=torch.float32):
    """The root is missing: the bound is 6 / (d_in + d_out)."""

    def bound(d_in, d_out):
        return (6 / (d_in + d_out)) ** 2

    return _layer(config, generator, device, dtype, bound=bound)


def inputs_only(config, generator=None, device=None, dtype=torch.float32):
    """The bound is 1/√d_in, that of torch's own linear layers: outputs do not count."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, _: 1 / d_in)


def kaiming(config, generator=None, device=None, dtype=torch.float32):
    """The bound is Kaiming's, √(6 / d_in): outputs do not count."""
    return _layer(config, generator, device, dtype, bound=lambda d_in, _: 6 / d_in)


def one_packed_matrix(config, generator=None, device=None, dtype=torch.float32):
    """Query, key and value are drawn as one packed matrix: its three-fold d_out shrinks them."""
    weights = _layer(config, generator, device, dtype)
    packed = math.sqrt(6 / (4 * config.d_model))
    projections = [
        LinearWeights(_drawn(linear.weight.shape, packed, generator, device, dtype), linear.bias)
        for linear in weights.self_attention[:3]
    ]
    attention = AttentionWeights(*projections, weights.self_attention.output)
    return weights._replace(self_attention=attention)


def one_sided(config, generator=None, device=None, dtype=torch.float32):
    """The numbers run from 0 to the bound: the lower half is missing."""

    def from_zero(tensor, bound, generator):
        return tensor.uniform_(0.0, bound, generator=generator)

    return _layer(config, generator, device, dtype, draw=from_zero)


def biases_drawn(config, generator=None, device=None, dtype=torch.float32):
    """The biases are drawn too, where they should be 0."""
    weights = _layer(config, generator, device, dtype)
    return _each_linear(
        weights,
        lambda linear: linear._replace(
            bias=_drawn(linear.bias.shape, 0.1, generator, device, dtype)
        ),
    )


def gains_zero(config, generator=None, device=None, dtype=torch.float32):
    """The gains are 0: whatever passes through a norm is gone."""
    return _each_norm(
        _layer(config, generator, device, dtype),
        lambda norm: norm._replace(gain=torch.zeros_like(norm.gain).requires_grad_()),
    )


def norm_biases_one(config, generator=None, device=None, dtype=torch.float32):
    """The biases of the norms are 1, like the gains."""
    return _each_norm(
        _layer(config, generator, device, dtype),
        lambda norm: norm._replace(bias=torch.ones_like(norm.bias).requires_grad_()),
    )


def lying_down(config, generator=None, device=None, dtype=torch.float32):
    """The matrices are (d_in, d_out): their rows are inputs."""
    return _each_linear(
        _layer(config, generator, device, dtype),
        lambda linear: linear._replace(
            weight=linear.weight.detach().T.contiguous().requires_grad_()
        ),
    )


def one_throw_copied(config, generator=None, device=None, dtype=torch.float32):
    """Query, key, value and output are copies of one throw."""
    weights = _layer(config, generator, device, dtype)
    query = weights.self_attention.query.weight
    attention = AttentionWeights(
        *(
            linear._replace(weight=query.detach().clone().requires_grad_())
            for linear in weights.self_attention
        )
    )
    return weights._replace(self_attention=attention)


def one_projection_for_all(config, generator=None, device=None, dtype=torch.float32):
    """Query, key, value and output are one and the same projection."""
    weights = _layer(config, generator, device, dtype)
    query = weights.self_attention.query
    return weights._replace(self_attention=AttentionWeights(query, query, query, query))


def pieces_of_one_matrix(config, generator=None, device=None, dtype=torch.float32):
    """Query, key, value and output are pieces of one matrix: its gradient is not theirs."""
    weights = _layer(config, generator, device, dtype)
    bound = math.sqrt(6 / (2 * config.d_model))
    whole = _drawn((4 * config.d_model, config.d_model), bound, generator, device, dtype)
    attention = AttentionWeights(
        *(
            linear._replace(weight=piece)
            for linear, piece in zip(weights.self_attention, whole.chunk(4), strict=True)
        )
    )
    return weights._replace(self_attention=attention)


def one_zero_bias(config, generator=None, device=None, dtype=torch.float32):
    """All projections of the attention share one bias."""
    weights = _layer(config, generator, device, dtype)
    bias = weights.self_attention.query.bias
    attention = AttentionWeights(*(linear._replace(bias=bias) for linear in weights.self_attention))
    return weights._replace(self_attention=attention)


def one_zero_spread_out(config, generator=None, device=None, dtype=torch.float32):
    """A bias is one zero spread out: all of it is a single number in memory."""

    def spread(linear):
        bias = torch.zeros(1, device=device, dtype=dtype).expand(len(linear.weight))
        return linear._replace(bias=bias.requires_grad_())

    return _each_linear(_layer(config, generator, device, dtype), spread)


def one_norm_twice(config, generator=None, device=None, dtype=torch.float32):
    """Both norms are one and the same."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(feed_forward_norm=weights.self_attention_norm)


def no_gradient(config, generator=None, device=None, dtype=torch.float32):
    """The matrices do not ask for a gradient: nothing learns."""
    return _each_linear(
        _layer(config, generator, device, dtype),
        lambda linear: linear._replace(weight=linear.weight.detach()),
    )


def computed(config, generator=None, device=None, dtype=torch.float32):
    """The gradient is asked for first, and the numbers are stretched after: no matrix is a leaf."""

    def stretched(tensor, bound, generator):
        return tensor.uniform_(-1, 1, generator=generator).requires_grad_() * bound

    return _layer(config, generator, device, dtype, draw=stretched)


def cast_late(config, generator=None, device=None, dtype=torch.float32):
    """The layer is made in float32 and cast afterwards: in another dtype nothing is a leaf."""
    made = _layer(config, generator, device, torch.float32)
    made = _each_norm(made, lambda norm: norm._make(part.to(dtype) for part in norm))
    return _each_linear(made, lambda linear: linear._make(part.to(dtype) for part in linear))


def generator_left_out(config, generator=None, device=None, dtype=torch.float32):
    """The generator is not used for every matrix: torch's default one is drawn from."""
    return _layer(config, None, device, dtype)


def its_own_seed(config, generator=None, device=None, dtype=torch.float32):
    """A seed of its own is set: every layer is the same, whatever the generator."""
    return _layer(config, torch.Generator().manual_seed(0), device, dtype)


def generator_copied(config, generator=None, device=None, dtype=torch.float32):
    """Each call starts from a copy of the generator: every layer is the same as the one before."""
    return _layer(config, generator and generator.clone_state(), device, dtype)


def seed_without_a_generator(config, generator=None, device=None, dtype=torch.float32):
    """Where no generator is given, a seed of its own is set: every layer is the same."""
    return _layer(config, generator or torch.Generator().manual_seed(0), device, dtype)


def on_the_cpu(config, generator=None, device=None, dtype=torch.float32):
    """The layer is made on the CPU, whatever device was asked for."""
    return _layer(config, generator, None, dtype)


def always_float32(config, generator=None, device=None, dtype=torch.float32):
    """The layer is float32, whatever dtype was asked for."""
    return _layer(config, generator, device, torch.float32)


def _layer(config, generator, device, dtype, bound=None, draw=None):
    def linear(d_in, d_out):
        limit = math.sqrt(bound(d_in, d_out) if bound else 6 / (d_in + d_out))
        weight = _drawn((d_out, d_in), limit, generator, device, dtype, draw or _even)
        return LinearWeights(weight, _filled(d_out, 0.0))

    def norm():
        return LayerNormWeights(_filled(config.d_model, 1.0), _filled(config.d_model, 0.0))

    def _filled(size, value):
        return torch.full((size,), value, device=device, dtype=dtype, requires_grad=True)

    d_model, d_ff = config.d_model, config.d_ff
    return EncoderLayerWeights(
        AttentionWeights(*(linear(d_model, d_model) for _ in range(4))),
        norm(),
        FeedForwardWeights(linear(d_model, d_ff), linear(d_ff, d_model)),
        norm(),
    )


def _even(tensor, bound, generator):
    return tensor.uniform_(-bound, bound, generator=generator)


def _normal(tensor, deviation, generator):
    return tensor.normal_(std=deviation, generator=generator)


def _drawn(shape, bound, generator, device, dtype, draw=_even):
    made = draw(torch.empty(shape, device=device, dtype=dtype), bound, generator)
    return made.requires_grad_() if made.is_leaf else made


def _each_linear(weights, change):
    return weights._replace(
        self_attention=AttentionWeights(*map(change, weights.self_attention)),
        feed_forward=FeedForwardWeights(*map(change, weights.feed_forward)),
    )


def _each_norm(weights, change):
    return weights._replace(
        self_attention_norm=change(weights.self_attention_norm),
        feed_forward_norm=change(weights.feed_forward_norm),
    )
