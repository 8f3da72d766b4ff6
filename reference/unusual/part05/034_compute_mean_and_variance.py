"""Right but unusual versions of step 034."""

import torch


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def both_at_once(x):
    """``var_mean`` measures both, without Bessel's correction."""
    variance, mean = torch.var_mean(_wide(x), dim=-1, keepdim=True, correction=0)
    return mean, variance


def mean_square_minus_squared_mean(x):
    """E[x²] − E[x]², which rounding must not push below 0."""
    numbers = _wide(x)
    mean = numbers.mean(dim=-1, keepdim=True)
    variance = numbers.square().mean(dim=-1, keepdim=True) - mean.square()
    return mean, torch.where(variance < 0, 0, variance)


def letters_for_the_axes(x):
    """``einsum`` adds up the numbers, and then their deviations times themselves."""
    numbers = _wide(x)
    d_model = numbers.shape[-1]
    mean = torch.einsum("...d->...", numbers).unsqueeze(-1) / d_model
    apart = numbers - mean
    variance = torch.einsum("...d,...d->...", apart, apart).unsqueeze(-1) / d_model
    return mean, variance


def product_with_a_column(x):
    """A matrix product with a column of 1/D is a mean."""
    numbers = _wide(x)
    d_model = numbers.shape[-1]
    column = numbers.new_full((d_model, 1), 1 / d_model)
    mean = numbers @ column
    return mean, (numbers - mean).square() @ column


def all_pairs(x):
    """The variance is half the mean squared difference of all pairs of numbers."""
    numbers = _wide(x)
    differences = numbers.unsqueeze(-1) - numbers.unsqueeze(-2)
    variance = differences.square().mean(dim=(-1, -2)).unsqueeze(-1) / 2
    return numbers.mean(dim=-1, keepdim=True), variance


def one_number_after_the_other(x):
    """Welford's way: mean and spread are corrected with every number that comes in."""
    numbers = x.double()
    mean = torch.zeros_like(numbers[..., :1])
    spread = torch.zeros_like(mean)
    for seen, number in enumerate(numbers.split(1, dim=-1), start=1):
        surprise = number - mean
        mean = mean + surprise / seen
        spread = spread + surprise * (number - mean)
    return mean.to(_wide(x).dtype), (spread / numbers.shape[-1]).to(_wide(x).dtype)
