"""Right but unusual versions of step 010."""

import math

import torch


def exp_of_a_logarithm(d_model, base=10000.0, device=None, dtype=torch.float32):
    """exp(−2i · ln(base) / D), as most code has it."""
    precise = dtype if dtype == torch.float64 else torch.float32
    columns = torch.arange(0, d_model, 2, dtype=precise, device=device)
    return torch.exp(columns * (-math.log(base) / d_model)).to(dtype)


def one_over_a_power(d_model, base=10000.0, device=None, dtype=torch.float32):
    """1 / base^(2i/D)."""
    precise = torch.promote_types(torch.float32, dtype)
    pairs = torch.arange((d_model + 1) // 2, device=device)
    return (1.0 / torch.pow(base, 2 * pairs.to(precise) / d_model)).to(dtype)


def always_in_float64(d_model, base=10000.0, device=None, dtype=torch.float32):
    """Computed in float64 whatever is asked for, by ``float_power``."""
    pairs = torch.arange(math.ceil(d_model / 2), device=device)
    return torch.float_power(base, pairs.double() * -2 / d_model).type(dtype)


def powers_of_python(d_model, base=10000.0, device=None, dtype=torch.float32):
    """Python's own powers in a list, rounded once by ``torch.tensor``."""
    frequencies = [base ** -(column / d_model) for column in range(0, d_model, 2)]
    return torch.tensor(frequencies, dtype=dtype, device=device)


def spaced_by_logarithm(d_model, base=10000.0, device=None, dtype=torch.float32):
    """``logspace`` goes from base^0 to the last frequency."""
    count = -(-d_model // 2)
    last = 2 * (count - 1) / d_model
    precise = torch.float64 if dtype is torch.float64 else torch.float32
    return torch.logspace(0, -last, count, base=base, dtype=precise, device=device).to(dtype)


def each_from_the_one_before(d_model, base=10000.0, device=None, dtype=torch.float32):
    """A running product of one ratio, in float64."""
    ratios = torch.full((math.ceil(d_model / 2),), base ** (-2 / d_model), dtype=torch.float64)
    ratios[0] = 1
    return ratios.cumprod(0).to(dtype=dtype, device=device or torch.get_default_device())
