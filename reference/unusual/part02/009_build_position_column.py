"""Right but unusual versions of step 009."""

import torch


def places_of_ones(length, device=None, dtype=torch.float32):
    """``nonzero`` names the places of a line of ones, one a row."""
    return torch.ones(length, device=device).nonzero().to(dtype)


def combinations_of_one(length, device=None, dtype=torch.float32):
    """``combinations`` chooses one number out of 0 … length − 1, in every way."""
    return torch.combinations(torch.arange(length, device=device), r=1).to(dtype)


def counted_by_cumsum(length, device=None, dtype=torch.float32):
    """Whole ones are added up down the column, less one."""
    return (torch.full((length, 1), 1, device=device).cumsum(0) - 1).to(dtype=dtype)


def numbers_of_python(length, device=None, dtype=torch.float32):
    """A list comprehension, made a tensor."""
    rows = [[float(position)] for position in range(length)]
    return torch.tensor(rows, dtype=dtype, device=device).reshape(length, 1)


def evenly_spaced(length, device=None, dtype=torch.float32):
    """``linspace`` from 0 to length − 1 in float64, cast last."""
    line = torch.linspace(0, max(length - 1, 0), length, dtype=torch.float64, device=device)
    return line.to(dtype)[:, None]


def on_the_device_for_a_while(length, device=None, dtype=torch.float32):
    """The device is made torch's default for three lines."""
    with torch.device(torch.get_default_device() if device is None else device):
        ones = torch.ones(length, dtype=torch.int32)
        line = ones.cumsum(0, dtype=torch.int32) - ones
    return torch.atleast_2d(line).T.type(dtype)
