"""Right but unusual versions of step 037."""

from math import log1p

import torch


def _check(dropout_rate):
    if not 0 <= dropout_rate <= 1:
        raise ValueError(f"the rate must lie within [0, 1], got {dropout_rate}")


def _share_out(x, silenced, dropout_rate):
    """What is left when the silenced numbers are 0 and the others stand in for them."""
    left = x.masked_fill(silenced, 0)
    return left if dropout_rate == 1 else left / (1 - dropout_rate)


def drawn_with_rand(x, dropout_rate, generator=None):
    """``rand`` draws in float64; a number survives that comes out above the rate."""
    _check(dropout_rate)
    if not dropout_rate:
        return x.view_as(x)
    chance = torch.rand(x.shape, generator=generator, device=x.device, dtype=torch.float64)
    return _share_out(x, chance < dropout_rate, dropout_rate)


def drawn_with_rand_like(x, dropout_rate, generator=None):
    """``rand_like`` draws, in float32 since a half has few steps between 0 and 1."""
    _check(dropout_rate)
    if dropout_rate == 0:
        return x
    if generator is None:
        chance = torch.rand_like(x, dtype=torch.float32)
    else:
        chance = torch.empty_like(x, dtype=torch.float32).uniform_(generator=generator)
    return _share_out(x, chance < dropout_rate, dropout_rate)


def drawn_with_bernoulli(x, dropout_rate, generator=None):
    """``bernoulli`` draws zeros and ones: 0 is silence."""
    _check(dropout_rate)
    if dropout_rate == 0:
        return x
    chances = torch.full(x.shape, 1 - dropout_rate, device=x.device)
    survives = torch.bernoulli(chances, generator=generator)
    return _share_out(x, survives == 0, dropout_rate)


def drawn_as_whole_numbers(x, dropout_rate, generator=None):
    """``randint`` throws a die of 2³⁰ sides."""
    _check(dropout_rate)
    if dropout_rate == 0:
        return x
    sides = 2**30
    die = torch.randint(sides, x.shape, generator=generator, device=x.device)
    return _share_out(x, die < dropout_rate * sides, dropout_rate)


def clocks_that_run_out(x, dropout_rate, generator=None):
    """A number survives when its exponential clock runs longer than −ln(1 − p)."""
    _check(dropout_rate)
    if dropout_rate == 0:
        return x
    if dropout_rate == 1:
        return torch.where(torch.ones_like(x, dtype=torch.bool), 0, x)
    clock = torch.empty(x.shape, device=x.device).exponential_(generator=generator)
    return torch.where(clock > -log1p(-dropout_rate), x / (1 - dropout_rate), 0)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, silenced, scale):
        ctx.save_for_backward(silenced)
        ctx.scale = scale
        return x.masked_fill(silenced, 0) * scale

    @staticmethod
    def backward(ctx, gradient):
        (silenced,) = ctx.saved_tensors
        return gradient.masked_fill(silenced, 0) * ctx.scale, None, None


def own_function(x, dropout_rate, generator=None):
    """An ``autograd.Function`` that keeps one bool for each number, and uses it both ways."""
    _check(dropout_rate)
    if dropout_rate == 0:
        return x
    silenced = torch.rand(x.shape, generator=generator, device=x.device) < dropout_rate
    scale = 1 / (1 - dropout_rate) if dropout_rate < 1 else 0.0
    return _Dropout.apply(x, silenced, scale)
