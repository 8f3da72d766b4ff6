"""Right but unusual versions of step 057."""

from decimal import Decimal
from math import exp, log, sqrt

import torch


def _check(step, warmup_steps):
    for name, count in (("step", step), ("warmup_steps", warmup_steps)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")


def two_branches(step, d_model, warmup_steps=4000, factor=1.0):
    """Before the top a straight line, behind it a root."""
    _check(step, warmup_steps)
    if step < warmup_steps:
        return factor * step / (sqrt(d_model) * warmup_steps * sqrt(warmup_steps))
    return factor / sqrt(d_model * step)


def peak_times_shape(step, d_model, warmup_steps=4000, factor=1.0):
    """The peak, times √warmup, times what the paper has under its min."""
    _check(step, warmup_steps)
    peak = factor * (d_model * warmup_steps) ** -0.5
    return peak * warmup_steps**0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def in_logarithms(step, d_model, warmup_steps=4000, factor=1.0):
    """Powers become products; the smaller logarithm is the smaller term."""
    _check(step, warmup_steps)
    down, up = -log(step) / 2, log(step) - 1.5 * log(warmup_steps)
    return factor * exp(min(down, up) - log(d_model) / 2)


def tensor_of_two(step, d_model, warmup_steps=4000, factor=1.0):
    """A float64 tensor holds both terms, and ``amin`` finds the smaller one."""
    _check(step, warmup_steps)
    terms = torch.tensor([step**-0.5, step * warmup_steps**-1.5], dtype=torch.float64, device="cpu")
    return (terms.amin() * factor / d_model**0.5).item()


def decimal_digits(step, d_model, warmup_steps=4000, factor=1.0):
    """28 decimal digits, rounded once at the end; ``sorted`` puts the smaller term first."""
    _check(step, warmup_steps)
    t, warmup = Decimal(step), Decimal(warmup_steps)
    smaller, _ = sorted([1 / t.sqrt(), t / (warmup * warmup.sqrt())])
    return float(Decimal(factor) * smaller / Decimal(d_model).sqrt())
