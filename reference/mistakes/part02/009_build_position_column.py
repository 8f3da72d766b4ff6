"""009 · build_position_column, the ways it goes wrong."""

import torch


def starts_at_one(length, device=None, dtype=torch.float32):
    """Counting starts at 1 instead of 0."""
    return torch.arange(1, length + 1, device=device, dtype=dtype).unsqueeze(1)


def flat(length, device=None, dtype=torch.float32):
    """The positions are a plain list of numbers, not a column."""
    return torch.arange(length, device=device, dtype=dtype)


def row(length, device=None, dtype=torch.float32):
    """The positions stand side by side in a row, not one below the other."""
    return torch.arange(length, device=device, dtype=dtype).unsqueeze(0)


def one_too_many(length, device=None, dtype=torch.float32):
    """There is one position too many: the length itself is counted too."""
    return torch.arange(length + 1, device=device, dtype=dtype).unsqueeze(1)


def stretched(length, device=None, dtype=torch.float32):
    """The last position is the length: linspace was told where to end, and ends there."""
    return torch.linspace(0, length, length, device=device, dtype=dtype).unsqueeze(1)


def fractions_of_the_length(length, device=None, dtype=torch.float32):
    """Positions are fractions of the length, so the same place differs between sentences."""
    return (torch.arange(length, device=device, dtype=dtype) / length).unsqueeze(1)


def integers(length, device=None, dtype=torch.float32):
    """The positions are integers: the dtype asked for is forgotten."""
    return torch.arange(length, device=device).unsqueeze(1)


def always_float32(length, device=None, dtype=torch.float32):
    """The positions are float32, whatever dtype was asked for."""
    return torch.arange(length, device=device, dtype=torch.float32).unsqueeze(1)


def on_the_cpu(length, device=None, dtype=torch.float32):
    """The column is built on the CPU, whatever device was asked for."""
    return torch.arange(length, dtype=dtype).unsqueeze(1)


def none_means_cpu(length, device=None, dtype=torch.float32):
    """Without a device the column is forced onto the CPU, whatever torch's default is."""
    return torch.arange(length, device=device or "cpu", dtype=dtype).unsqueeze(1)


def counted_in_the_type(length, device=None, dtype=torch.float32):
    """The places are counted in the half type, from 1 up and then down by 1: 256 comes out 255."""
    return torch.ones(length, 1, device=device, dtype=dtype).cumsum(0) - 1
