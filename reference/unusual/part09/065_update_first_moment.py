"""Right but unusual versions of step 065."""

import torch


def interpolated(first, gradient, beta1=0.9):
    """``lerp`` goes a part of the way from the old moment to the gradient."""
    return torch.lerp(first, gradient, 1 - beta1)


def moved_by_the_difference(first, gradient, beta1=0.9):
    """The old moment moves by a part of what it is off."""
    return first + (1 - beta1) * (gradient - first)


def added_with_alpha(first, gradient, beta1=0.9):
    """``add`` multiplies on its way."""
    return first.mul(beta1).add(gradient, alpha=1 - beta1)


def weighted_sum_of_a_stack(first, gradient, beta1=0.9):
    """Both are stacked, and a row of weights takes their sum."""
    shares = torch.tensor([beta1, 1 - beta1], dtype=first.dtype, device=first.device)
    return torch.einsum("k...,k->...", torch.stack([first, gradient]), shares)
