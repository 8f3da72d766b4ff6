"""010 · compute_inverse_frequencies, the ways it goes wrong."""

import math

import torch


def _even_columns(d_model, device, dtype):
    precise = torch.promote_types(dtype, torch.float32)
    return torch.arange(0, d_model, 2, device=device, dtype=precise)


def channel_number_as_i(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The column's number, already even, is doubled once more: frequencies fall twice as fast."""
    return (base ** (-2 * _even_columns(d_model, device, dtype) / d_model)).to(dtype)


def two_is_missing(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The 2 of 2i is missing: frequencies fall half as fast."""
    pairs = _even_columns(d_model, device, dtype) / 2
    return (base ** (-pairs / d_model)).to(dtype)


def minus_is_missing(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The minus sign is missing: frequencies rise instead of falling."""
    return (base ** (_even_columns(d_model, device, dtype) / d_model)).to(dtype)


def floor_takes_the_exponent(d_model, base=10000.0, device=None, dtype=torch.float32):
    """In −log(base) / d // 2 the floor takes the whole quotient, so it cuts to whole numbers."""
    pairs = _even_columns(d_model, device, dtype) / 2
    return (pairs * (-math.log(base) / d_model // 2)).exp().to(dtype)


def spread_to_the_last(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The last frequency is 1/base itself: the exponent was divided by one pair too few."""
    even_columns = _even_columns(d_model, device, dtype)
    return (base ** (-even_columns / max(2 * (len(even_columns) - 1), 1))).to(dtype)


def width_made_even(d_model, base=10000.0, device=None, dtype=torch.float32):
    """An odd width is rounded up before dividing, so its frequencies fall too slowly."""
    even_width = d_model + d_model % 2
    return (base ** (-_even_columns(d_model, device, dtype) / even_width)).to(dtype)


def odd_width_loses_one(d_model, base=10000.0, device=None, dtype=torch.float32):
    """An odd width loses its last frequency: d // 2 rounds down."""
    even_columns = _even_columns(d_model, device, dtype)[: d_model // 2]
    return (base ** (-even_columns / d_model)).to(dtype)


def one_for_each_column(d_model, base=10000.0, device=None, dtype=torch.float32):
    """There is a frequency for every column, not one for each pair."""
    precise = torch.promote_types(dtype, torch.float32)
    return (base ** (-torch.arange(d_model, device=device, dtype=precise) / d_model)).to(dtype)


def base_is_fixed(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The base is always 10000, whatever was asked for."""
    return (10000.0 ** (-_even_columns(d_model, device, dtype) / d_model)).to(dtype)


def log10_for_log(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The exponent of e uses the logarithm to base 10."""
    return (_even_columns(d_model, device, dtype) * (-math.log10(base) / d_model)).exp().to(dtype)


def cast_first(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The power is computed in the half type asked for, not in float32 and cast last."""
    return base ** (-torch.arange(0, d_model, 2, device=device, dtype=dtype) / d_model)


def float32_at_most(d_model, base=10000.0, device=None, dtype=torch.float32):
    """Float64 was asked for, but the power is computed in float32."""
    even_columns = torch.arange(0, d_model, 2, device=device, dtype=torch.float32)
    return (base ** (-even_columns / d_model)).to(dtype)


def always_float32(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The frequencies are float32, whatever dtype was asked for."""
    return (base ** (-_even_columns(d_model, device, dtype) / d_model)).float()


def on_the_cpu(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The frequencies are built on the CPU, whatever device was asked for."""
    return (base ** (-_even_columns(d_model, None, dtype) / d_model)).to(dtype)


def exponent_cast_first(d_model, base=10000.0, device=None, dtype=torch.float32):
    """The exponent of e is computed in the half type, and exp makes much of what it lost."""
    even_columns = torch.arange(0, d_model, 2, device=device, dtype=dtype)
    return (even_columns * (-math.log(base) / d_model)).exp()


def none_means_cpu(d_model, base=10000.0, device=None, dtype=torch.float32):
    """Without a device the frequencies are forced onto the CPU, whatever torch's default is."""
    return (base ** (-_even_columns(d_model, device or "cpu", dtype) / d_model)).to(dtype)
