"""012 · build_sinusoidal_positional_encoding, the ways it goes wrong."""

import math

import torch

from kata.part02_embeddings import (
    build_position_column,
    compute_inverse_frequencies,
    compute_position_angles,
)


def _angles(length, d_model, base, device, dtype):
    precise = torch.promote_types(dtype, torch.float32)
    positions = build_position_column(length, device, precise)
    inverse_frequencies = compute_inverse_frequencies(d_model, base, device, precise)
    return compute_position_angles(positions, inverse_frequencies)


def _own_angles(length, d_model, factor, base, device, dtype):
    """Angles with frequencies base^(factor · i / D) for the pairs i."""
    precise = torch.promote_types(dtype, torch.float32)
    pairs = torch.arange((d_model + 1) // 2, device=device, dtype=precise)
    return build_position_column(length, device, precise) * base ** (factor * pairs / d_model)


def _take_turns(even, odd, d_model, dtype):
    return torch.stack((even, odd), dim=-1).flatten(start_dim=1)[:, :d_model].to(dtype)


def sines_then_cosines(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """All sines come first, then all cosines: they should take turns, column by column."""
    angles = _angles(length, d_model, base, device, dtype)
    return torch.cat((angles.sin(), angles.cos()), dim=-1)[:, :d_model].to(dtype)


def cosine_first(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The even columns hold cosines and the odd ones sines: they have changed places."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.cos(), angles.sin(), d_model, dtype)


def only_sines(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The odd columns hold a second sine instead of a cosine."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.sin(), d_model, dtype)


def channel_number_as_i(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Column c uses 2c/D as its exponent: frequencies fall twice as fast, and no two are paired."""
    precise = torch.promote_types(dtype, torch.float32)
    columns = torch.arange(d_model, device=device, dtype=precise)
    angles = build_position_column(length, device, precise) * base ** (-2 * columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(dtype)


def frequency_for_each_column(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The cosine has a slower frequency of its own: it should share the angle of its sine."""
    precise = torch.promote_types(dtype, torch.float32)
    columns = torch.arange(d_model, device=device, dtype=precise)
    angles = build_position_column(length, device, precise) * base ** (-columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).to(dtype)


def even_columns_doubled(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The column's number, already even, is doubled once more: frequencies fall twice as fast."""
    angles = _own_angles(length, d_model, -4, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def two_is_missing(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The 2 of 2i is missing: frequencies fall half as fast."""
    angles = _own_angles(length, d_model, -1, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def minus_is_missing(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The minus sign is missing: each hand turns faster than the one before."""
    angles = _own_angles(length, d_model, 2, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def odd_width_breaks(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """An odd width breaks: it has one cosine column fewer than sine columns."""
    angles = _angles(length, d_model, base, device, dtype)
    encoding = torch.zeros(length, d_model, device=device, dtype=dtype)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()
    return encoding


def odd_width_grows(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """An odd width comes out one column too wide: the last cosine stays in."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model + 1, dtype)


def odd_width_ends_on_zero(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The last column of an odd width is left at zero: it should be a sine."""
    angles = _angles(length, d_model, base, device, dtype)
    encoding = _take_turns(angles.sin(), angles.cos(), d_model, dtype)
    encoding[:, d_model // 2 * 2 :] = 0.0
    return encoding


def from_position_one(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The first row belongs to position 1: counting should start at 0."""
    angles = _angles(length + 1, d_model, base, device, dtype)[1:]
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def base_is_fixed(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The base is always 10000, whatever was asked for."""
    angles = _angles(length, d_model, 10000.0, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def cast_first(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The positions are cast to the half type before they are multiplied, so they collide."""
    positions = build_position_column(length, device, dtype)
    angles = positions * compute_inverse_frequencies(d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def all_in_the_half_type(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Positions, exponents and all the rest are computed in the half type: it should come last."""
    even_columns = torch.arange(0, d_model, 2, device=device, dtype=dtype)
    inverse_frequencies = torch.exp(even_columns * -(math.log(base) / d_model))
    angles = build_position_column(length, device, dtype) * inverse_frequencies
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def angles_cast_first(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The angles are cast to the half type before sine and cosine, so large ones are far off."""
    angles = _angles(length, d_model, base, device, dtype).to(dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def float32_at_most(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Float64 was asked for, but the angles are computed in float32."""
    angles = _angles(length, d_model, base, device, torch.float32)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def always_float32(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The table is float32, whatever dtype was asked for."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, torch.float32)


def on_the_cpu(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The table is built on the CPU, whatever device was asked for."""
    angles = _angles(length, d_model, base, None, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def none_means_cpu(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Without a device the table is forced onto the CPU, whatever torch's default is."""
    angles = _angles(length, d_model, base, device or "cpu", dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype)


def trainable(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The table asks for a gradient: it is fixed, nothing in it should learn."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype).requires_grad_()
