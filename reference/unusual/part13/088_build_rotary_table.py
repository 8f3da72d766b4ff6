"""088 · build_rotary_table, right all the same."""

import math

import torch


def complex_exponentials(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Real and imaginary part of e^(i · angle), in complex128; the power as an exponential."""
    if d_k % 2:
        raise ValueError(f"an even width is wanted, not {d_k}")
    pair = torch.arange(d_k // 2, device=device, dtype=torch.float64)
    slow = torch.exp(-2 * pair / max(d_k, 1) * math.log(base))
    angle = torch.outer(torch.arange(length, device=device, dtype=torch.float64), slow)
    hands = torch.polar(torch.ones_like(angle), angle)
    return hands.real.to(dtype), hands.imag.to(dtype)


def number_by_number(length, d_k, base=10000.0, device=None, dtype=torch.float32):
    """Python's own floats, in two lists of rows."""
    if d_k & 1:
        raise ValueError(f"{d_k} features leave one without a partner")
    table = torch.empty(2, length, d_k // 2, device=device, dtype=dtype)
    for pos in range(length):
        for i in range(d_k // 2):
            angle = pos / base ** (2 * i / d_k)
            table[0, pos, i], table[1, pos, i] = math.cos(angle), math.sin(angle)
    return list(table)
