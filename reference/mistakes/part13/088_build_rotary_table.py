"""088 · build_rotary_table, the ways it goes wrong."""

import torch

_kept = {}


def _angles(length, d_k, base, device, dtype):
    precise = torch.promote_types(dtype, torch.float32)
    positions = torch.arange(length, device=device, dtype=precise)
    pairs = torch.arange(0, d_k, 2, device=device, dtype=precise)
    return torch.outer(positions, base ** (-pairs / d_k))


def _check(d_k):
    if d_k % 2:
        raise ValueError(f"d_k must be even, got {d_k}")


def odd_width_let_through(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """An odd width is not refused: its last feature gets an angle and has no partner."""
    angles = _angles(length, d_k, base, device, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def odd_width_rounded_down(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """An odd width is not refused: its last feature gets no angle."""
    angles = _angles(length, d_k, base, device, dtype)[:, : d_k // 2]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def sine_first(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The two tables have changed places: cosines come first."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, dtype)
    return angles.sin().to(dtype), angles.cos().to(dtype)


def channel_for_pair(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Pair i has the exponent i/d_k, not 2i/d_k: the hands slow down half as much."""
    _check(d_k)
    angles = _angles(length, d_k, base**0.5, device, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def falling_twice_as_fast(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Pair i has the exponent 4i/d_k, not 2i/d_k: the hands slow down twice as much."""
    _check(d_k)
    angles = _angles(length, d_k, base**2, device, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def wide_as_the_heads(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Every angle is written down twice, so the tables are as wide as a head."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, dtype)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def one_table(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Cosines and sines lie in one tensor: two are asked for."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, dtype)
    return torch.stack([angles.cos(), angles.sin()]).to(dtype)


def counted_from_one(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Positions are counted from 1: the first token is turned already."""
    _check(d_k)
    angles = _angles(length + 1, d_k, base, device, dtype)[1:]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def always_ten_thousand(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """10000 is written into the code: another base changes nothing."""
    _check(d_k)
    angles = _angles(length, d_k, 10000.0, device, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def kept_by_size(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The table is kept for the next call by its size only: another base gets the old one."""
    _check(d_k)
    key = length, d_k, str(device), dtype
    if key not in _kept:
        angles = _angles(length, d_k, base, device, dtype)
        _kept[key] = angles.cos().to(dtype), angles.sin().to(dtype)
    return tuple(table.clone() for table in _kept[key])


def positions_in_half(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Positions are counted in the half type: in bfloat16 256 and 257 are one and the same."""
    _check(d_k)
    positions = torch.arange(length, device=device).to(dtype)
    pairs = torch.arange(0, d_k, 2, device=device, dtype=torch.promote_types(dtype, torch.float32))
    angles = positions[:, None] * base ** (-pairs / d_k)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def in_float32(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Float64 is computed in float32 and cast: half of its digits are wrong."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, torch.float32)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def dtype_forgotten(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The tables are float32, whatever was asked for."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, torch.float32)
    return angles.cos(), angles.sin()


def device_forgotten(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The tables lie on the CPU, whatever device was asked for."""
    _check(d_k)
    angles = _angles(length, d_k, base, None, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def trainable(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The tables ask for a gradient: from the first training step on they are no such tables."""
    _check(d_k)
    angles = _angles(length, d_k, base, device, dtype)
    return angles.cos().to(dtype).requires_grad_(), angles.sin().to(dtype).requires_grad_()


def frequencies_grow(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """The frequencies grow from pair to pair: the exponent has lost its minus."""
    _check(d_k)
    angles = _angles(length, d_k, 1 / base, device, dtype)
    return angles.cos().to(dtype), angles.sin().to(dtype)
