"""Right but unusual versions of step 066."""

import torch


def interpolated(second, gradient, beta2=0.98):
    """``lerp`` goes a part of the way from the old moment to the square."""
    return torch.lerp(second, gradient.square(), 1 - beta2)


def added_as_a_product(second, gradient, beta2=0.98):
    """``addcmul`` multiplies the gradient with itself on its way."""
    return torch.addcmul(second * beta2, gradient, gradient, value=1 - beta2)


def size_squared(second, gradient, beta2=0.98):
    """The gradient's size is squared: it has no sign to lose."""
    return beta2 * second + (1 - beta2) * torch.pow(gradient.abs(), 2)
