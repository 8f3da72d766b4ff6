"""Right but unusual versions of step 107."""

import math

import torch


def as_torch_does(parameters, max_norm):
    """A millionth is added to the norm before it divides, and the factor is a tensor, at most 1."""
    if not max_norm > 0:
        raise ValueError(f"max_norm {max_norm}")
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    norms = [torch.linalg.vector_norm(gradient.float()) for gradient in gradients]
    norm = torch.linalg.vector_norm(torch.stack(norms))
    if not norm.isfinite():
        raise ValueError(f"norm {norm.item()}")
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.dtype) if gradient.dtype.itemsize > 2 else factor.item())
    return norm.item()


def one_long_vector(parameters, max_norm):
    """All numbers are laid in one long vector, in float64, and copied back."""
    if max_norm <= 0:
        raise ValueError(f"{max_norm} is no limit")
    owners = [parameter for parameter in parameters if parameter.grad is not None]
    if not owners:
        return 0.0
    flat = torch.cat([parameter.grad.double().reshape(-1) for parameter in owners])
    norm = flat.square().sum().sqrt().item()
    if norm - norm != 0:
        raise ValueError(f"the gradients' norm is {norm}")
    if norm >= max_norm:
        pieces = (flat / (norm / max_norm)).split([parameter.numel() for parameter in owners])
        for parameter, piece in zip(owners, pieces, strict=True):
            parameter.grad.copy_(piece.view(parameter.shape))
    return norm


def new_gradients(parameters, max_norm):
    """Squares are added up in Python, and shorter gradients take the place of the long ones."""
    if max_norm <= 0:
        raise ValueError(f"max_norm must be positive: {max_norm}")
    total = 0.0
    for parameter in parameters:
        if parameter.grad is not None:
            total += (parameter.grad.to(torch.float64) ** 2).sum().item()
    norm = math.sqrt(total)
    if math.isnan(norm) or math.isinf(norm):
        raise ValueError(f"cannot clip a norm of {norm}")
    for parameter in parameters:
        if parameter.grad is not None and norm > max_norm:
            parameter.grad = parameter.grad * (max_norm / norm)
    return norm
