"""Right but unusual versions of step 012."""

import math

import torch

from kata.part02_embeddings import (
    build_position_column,
    compute_inverse_frequencies,
    compute_position_angles,
)


def _angles(length, d_model, base, device, dtype):
    """Angles by exp of a logarithm, in float32 or float64."""
    precise = torch.float64 if dtype == torch.float64 else torch.float32
    pairs = torch.arange(0, d_model, 2, dtype=precise, device=device)
    places = torch.arange(length, dtype=precise, device=device)
    return torch.outer(places, torch.exp(pairs * -(math.log(base) / d_model)))


def every_second_column(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Sines and cosines are written into every second column of zeros, cast on the way."""
    angles = _angles(length, d_model, base, device, dtype)
    table = torch.zeros(length, d_model, device=device, dtype=dtype)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)[:, : d_model // 2]
    return table


def cosine_is_a_sine_ahead(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """All sines, of angles that are a quarter turn ahead in odd columns."""
    precise = torch.promote_types(dtype, torch.float32)
    columns = torch.arange(d_model, device=device)
    odd = columns % 2
    slow = base ** ((columns - odd).to(precise) / d_model)
    places = torch.arange(length, device=device, dtype=precise).unsqueeze(-1)
    return torch.sin(places / slow + odd.to(precise) * (math.pi / 2)).to(dtype)


def hands_of_complex_numbers(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """A complex number on the unit circle is a cosine and a sine; the two are turned round."""
    angles = _angles(length, d_model, base, device, dtype)
    circle = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(circle).flip(-1).flatten(1).narrow(1, 0, d_model).to(dtype)


def numbers_of_python(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """``math.sin`` and ``math.cos`` for every number, rounded once by ``torch.tensor``."""
    table = []
    for place in range(length):
        for column in range(d_model):
            angle = place / base ** (column // 2 * 2 / d_model)
            table.append(math.cos(angle) if column % 2 else math.sin(angle))
    return torch.tensor(table, dtype=dtype, device=device).reshape(length, d_model)


def turned_step_by_step(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """Each row is the row before, turned by one step: a running product of complex128 numbers."""
    speeds = compute_inverse_frequencies(d_model, base, device, torch.float64)
    steps = torch.polar(torch.ones_like(speeds), speeds).repeat(length, 1)
    steps[:1] = 1
    hands = steps.cumprod(0)
    return torch.stack([hands.imag, hands.real], dim=2).flatten(1)[:, :d_model].to(dtype)


def steps_in_float64(length, d_model, base=10000.0, device=None, dtype=torch.float32):
    """The earlier steps in float64, whatever is asked for, and a column of ``d_model`` a wave."""
    positions = build_position_column(length, device=device, dtype=torch.float64)
    speeds = compute_inverse_frequencies(d_model, base, device=device, dtype=torch.float64)
    angles = compute_position_angles(positions, speeds)
    waves = [
        (torch.cos if column % 2 else torch.sin)(angles[:, column // 2])
        for column in range(d_model)
    ]
    return torch.stack(waves, dim=-1).to(dtype)
