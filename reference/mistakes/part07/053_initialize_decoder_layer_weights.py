"""Wrong versions of step 053, one slip each."""

import math

import torch

from kata.part07_weights import initialize_encoder_layer_weights
from kata.weights import AttentionWeights, DecoderLayerWeights, LinearWeights


def one_attention_for_both(config, generator=None, device=None, dtype=torch.float32):
    """Both attentions are one and the same: what one learns, the other has to do as well."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(cross_attention=weights.self_attention)


def one_throw_for_both(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention is a copy of the self-attention, number by number."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(cross_attention=_each(weights.self_attention, _copied))


def key_copied_for_value(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention's values start as a copy of its keys."""
    weights = _layer(config, generator, device, dtype)
    across = weights.cross_attention
    twin = LinearWeights(_copied(across.key.weight), across.value.bias)
    return weights._replace(cross_attention=across._replace(value=twin))


def one_norm_for_both(config, generator=None, device=None, dtype=torch.float32):
    """The norms behind the two attentions are one and the same."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(cross_attention_norm=weights.self_attention_norm)


def one_norm_for_all(config, generator=None, device=None, dtype=torch.float32):
    """The three norms are one and the same."""
    weights = _layer(config, generator, device, dtype)
    norm = weights.self_attention_norm
    return weights._replace(cross_attention_norm=norm, feed_forward_norm=norm)


def keys_and_values_packed(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention's keys and values are drawn as one packed matrix, and come out small."""
    weights = _layer(config, generator, device, dtype)
    packed = math.sqrt(6 / (3 * config.d_model))
    across = weights.cross_attention
    smaller = (
        LinearWeights(_even(linear.weight, packed, generator), linear.bias)
        for linear in (across.key, across.value)
    )
    return weights._replace(cross_attention=AttentionWeights(across.query, *smaller, across.output))


def one_packed_matrix(config, generator=None, device=None, dtype=torch.float32):
    """Query, key and value are drawn as one packed matrix, in both attentions: all are small."""
    weights = _layer(config, generator, device, dtype)

    def packed(attention):
        smaller = (_scaled(linear, math.sqrt(1 / 2)) for linear in attention[:3])
        return AttentionWeights(*smaller, attention.output)

    return weights._replace(
        self_attention=packed(weights.self_attention),
        cross_attention=packed(weights.cross_attention),
    )


def keys_and_values_chunked(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention's keys and values are halves of one matrix, which are no leaves."""
    weights = _layer(config, generator, device, dtype)
    across = weights.cross_attention
    whole = torch.cat((across.key.weight, across.value.weight)).detach().requires_grad_()
    keys, values = whole.chunk(2)
    key, value = across.key._replace(weight=keys), across.value._replace(weight=values)
    return weights._replace(cross_attention=across._replace(key=key, value=value))


def deviation_for_bound(config, generator=None, device=None, dtype=torch.float32):
    """The standard deviation √(2 / (d_in + d_out)) is taken for the bound."""
    shrunk = _layer(config, generator, device, dtype)
    return _stretched(shrunk, 1 / math.sqrt(3))


def three_for_six(config, generator=None, device=None, dtype=torch.float32):
    """The bound is √(3 / (d_in + d_out)): the 6 was halved."""
    return _stretched(_layer(config, generator, device, dtype), math.sqrt(1 / 2))


def root_missing(config, generator=None, device=None, dtype=torch.float32):
    """The root is missing: the bound is 6 / (d_in + d_out)."""
    weights = _layer(config, generator, device, dtype)
    return _each_linear(
        weights, lambda linear: _scaled(linear, math.sqrt(6 / sum(linear.weight.shape)))
    )


def kaiming(config, generator=None, device=None, dtype=torch.float32):
    """The bound is Kaiming's, √(6 / d_in): outputs do not count."""
    weights = _layer(config, generator, device, dtype)
    return _each_linear(
        weights,
        lambda linear: _scaled(
            linear, math.sqrt(sum(linear.weight.shape) / linear.weight.shape[1])
        ),
    )


def inputs_only(config, generator=None, device=None, dtype=torch.float32):
    """The bound is 1/√d_in, that of torch's own linear layers: outputs do not count."""
    weights = _layer(config, generator, device, dtype)

    def inputs(linear):
        d_out, d_in = linear.weight.shape
        return _scaled(linear, math.sqrt((d_in + d_out) / d_in / 6))

    return _each_linear(weights, inputs)


def bound_doubled(config, generator=None, device=None, dtype=torch.float32):
    """The bound is √2 times too large: the sum was halved under the root, or a gain put before."""
    return _stretched(_layer(config, generator, device, dtype), math.sqrt(2))


def normal_numbers(config, generator=None, device=None, dtype=torch.float32):
    """The numbers are normal, with the right deviation: some lie far outside the bound."""
    weights = _layer(config, generator, device, dtype)

    def normal(linear):
        deviation = math.sqrt(2 / sum(linear.weight.shape))
        drawn = torch.empty_like(linear.weight).detach().normal_(std=deviation, generator=generator)
        return LinearWeights(drawn.requires_grad_(), linear.bias)

    return _each_linear(weights, normal)


def deviation_002(config, generator=None, device=None, dtype=torch.float32):
    """The numbers are normal with deviation 0.02, as GPT-2 draws them: the sizes do not count."""
    weights = _layer(config, generator, device, dtype)

    def normal(linear):
        drawn = torch.empty_like(linear.weight).detach().normal_(std=0.02, generator=generator)
        return LinearWeights(drawn.requires_grad_(), linear.bias)

    return _each_linear(weights, normal)


def biases_drawn(config, generator=None, device=None, dtype=torch.float32):
    """The biases are drawn too, where they should be 0."""
    weights = _layer(config, generator, device, dtype)
    return _each_linear(
        weights, lambda linear: LinearWeights(linear.weight, _even(linear.bias, 0.1, generator))
    )


def one_zero_spread_out(config, generator=None, device=None, dtype=torch.float32):
    """A bias is one zero spread out: all of it is a single number in memory."""

    def spread(linear):
        bias = torch.zeros(1, device=device, dtype=dtype).expand(len(linear.weight))
        return linear._replace(bias=bias.requires_grad_())

    return _each_linear(_layer(config, generator, device, dtype), spread)


def gains_zero(config, generator=None, device=None, dtype=torch.float32):
    """The gains are 0: whatever passes through a norm is gone."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(
        **{
            name: norm._replace(gain=torch.zeros_like(norm.gain).requires_grad_())
            for name, norm in weights._asdict().items()
            if name.endswith("norm")
        }
    )


def no_gradient_across(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention does not ask for a gradient."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(cross_attention=_each(weights.cross_attention, torch.Tensor.detach))


def computed(config, generator=None, device=None, dtype=torch.float32):
    """The gradient is asked for first, and the numbers are stretched after: no matrix is a leaf."""
    weights = _layer(config, generator, device, dtype)
    return _each_linear(weights, lambda linear: linear._replace(weight=linear.weight * 1))


def cast_late(config, generator=None, device=None, dtype=torch.float32):
    """The layer is made in float32 and cast afterwards: in another dtype nothing is a leaf."""
    weights = _layer(config, generator, device, torch.float32)
    return DecoderLayerWeights(*(_cast(part, dtype) for part in weights))


def generator_left_out_across(config, generator=None, device=None, dtype=torch.float32):
    """The generator is not used for every matrix: torch's default one is drawn from."""
    weights = _layer(config, generator, device, dtype)
    other = _layer(config, None, device, dtype)
    return weights._replace(cross_attention=other.cross_attention)


def its_own_seed(config, generator=None, device=None, dtype=torch.float32):
    """A seed of its own is set: every layer is the same, whatever the generator."""
    return _layer(config, torch.Generator().manual_seed(0), device, dtype)


def generator_copied(config, generator=None, device=None, dtype=torch.float32):
    """Each call starts from a copy of the generator: every layer is the same as the one before."""
    return _layer(config, generator and generator.clone_state(), device, dtype)


def seed_without_a_generator(config, generator=None, device=None, dtype=torch.float32):
    """Where no generator is given, a seed of its own is set: every layer is the same."""
    return _layer(config, generator or torch.Generator().manual_seed(0), device, dtype)


def cross_attention_on_the_cpu(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention is made on the CPU, whatever device was asked for."""
    weights = _layer(config, generator, device, dtype)
    return weights._replace(cross_attention=_layer(config, generator, None, dtype).cross_attention)


def cross_attention_in_float32(config, generator=None, device=None, dtype=torch.float32):
    """The cross-attention is float32, whatever dtype was asked for."""
    weights = _layer(config, generator, device, dtype)
    other = _layer(config, generator, device, torch.float32)
    return weights._replace(cross_attention=other.cross_attention)


def _layer(config, generator, device, dtype):
    encoder = initialize_encoder_layer_weights(config, generator, device, dtype)
    across = initialize_encoder_layer_weights(config, generator, device, dtype)
    return DecoderLayerWeights(
        encoder.self_attention,
        encoder.self_attention_norm,
        across.self_attention,
        across.self_attention_norm,
        encoder.feed_forward,
        encoder.feed_forward_norm,
    )


def _copied(tensor):
    return tensor.detach().clone().requires_grad_()


def _even(model, bound, generator):
    drawn = torch.empty_like(model).detach().uniform_(-bound, bound, generator=generator)
    return drawn.requires_grad_()


def _each(attention, change):
    return AttentionWeights(
        *(LinearWeights(change(linear.weight), change(linear.bias)) for linear in attention)
    )


def _each_linear(weights, change):
    return weights._replace(
        self_attention=AttentionWeights(*map(change, weights.self_attention)),
        cross_attention=AttentionWeights(*map(change, weights.cross_attention)),
        feed_forward=type(weights.feed_forward)(*map(change, weights.feed_forward)),
    )


def _stretched(weights, factor):
    return _each_linear(weights, lambda linear: _scaled(linear, factor))


def _cast(weights, dtype):
    if isinstance(weights, torch.Tensor):
        return weights.to(dtype)
    return type(weights)(*(_cast(part, dtype) for part in weights))


def _scaled(linear, factor):
    return LinearWeights((linear.weight.detach() * factor).requires_grad_(), linear.bias)
