"""Wrong versions of apply_relu, one slip each."""

import torch
from torch.nn import functional


def slope_one_at_zero(x):
    """At zero itself the slope is 1, as it is in clamp: it is to be 0."""
    return x.clamp(min=0)


def slope_half_at_zero(x):
    """At zero itself the slope is 1/2, as it is in maximum: it is to be 0."""
    return torch.maximum(x, torch.zeros_like(x))


def nan_becomes_zero(x):
    """NaN is not above 0, so it becomes 0: the mistake that made it is hidden."""
    return torch.where(x > 0, x, 0.0)


def times_the_gate(x):
    """The numbers are multiplied by 0 or 1, and −∞ times 0 is NaN."""
    return x * (x > 0)


def magnitude(x):
    """The sign is dropped, not the number: −3 becomes 3."""
    return torch.where(x <= 0, -x, x)


def leaky(x):
    """Below zero a hundredth leaks through."""
    return torch.where(x <= 0, 0.01 * x, x)


def gate_alone(x):
    """The gate itself comes back, 1 for open: the number that passed is gone."""
    return torch.where(x <= 0, 0.0 * x, x / x.detach())


def turned_round(x):
    """min(0, x): what is below zero gets through, and the rest is held back."""
    return x.masked_fill(x >= 0, 0.0)


def ceiling_at_six(x):
    """Above 6 the numbers are cut off."""
    return x.masked_fill(x <= 0, 0.0).masked_fill(x > 6, 6.0)


def in_place(x):
    """Zeros are written into x: the caller's tensor changes."""
    x[x <= 0] = 0.0
    return x


def detached(x):
    """x is detached: no gradient flows back."""
    return x.detach().masked_fill(x <= 0, 0.0)


def in_float32(x):
    """The result is float32, whatever x was."""
    return x.float().masked_fill(x <= 0, 0.0)


def torch_does_it(x):
    """Torch's relu does the work that this step is there to build."""
    return functional.relu(x)


def threshold_does_it(x):
    """Torch's threshold at 0 does the work: it is relu under another name."""
    return functional.threshold(x, 0.0, 0.0)
