"""012 · build_sinusoidal_positional_encoding, the ways it goes wrong."""

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


def trainable(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The table asks for a gradient: it is fixed, nothing in it should learn."""
    angles = _angles(length, d_model, base, device, dtype)
    return _take_turns(angles.sin(), angles.cos(), d_model, dtype).requires_grad_()
