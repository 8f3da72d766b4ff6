"""Right but unusual versions of step 064."""

import torch

from kata.weights import AdamState


def made_from_what_is_known(parameters):
    """``torch.zeros`` is told shape, type and device one by one."""
    first, second = (
        [torch.zeros(p.shape, dtype=p.dtype, device=p.device) for p in parameters] for _ in range(2)
    )
    return AdamState(first, second, 0)


def copies_wiped(parameters):
    """Detached copies of the parameters are filled with zeros."""
    twice = [[p.detach().clone().zero_() for p in parameters] for _ in "mv"]
    return AdamState(*twice, step=0)


def rows_of_one_tensor(parameters):
    """Both moments of a parameter are halves of one tensor, side by side."""
    pairs = [parameter.new_zeros((2, *parameter.shape)) for parameter in parameters]
    return AdamState([pair[0] for pair in pairs], [pair[1] for pair in pairs], 0)


def grown_one_by_one(parameters):
    """Two lists grow in one loop."""
    first, second = [], []
    for parameter in parameters:
        first.append(torch.zeros_like(parameter.data))
        second.append(torch.full_like(parameter.data, 0.0))
    return AdamState(first=first, second=second, step=0)
