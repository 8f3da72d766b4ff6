"""Wrong versions of step 015, one slip each."""

import torch


def one_step_into_the_future(length, device=None):
    """Each position sees one position too far: its next word, the one it is to predict."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(1)


def without_the_diagonal(length, device=None):
    """No position sees itself, and the first one sees nothing."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(-1)


def looks_ahead(length, device=None):
    """Queries and keys have changed places: each position sees itself and what is still to come."""
    return torch.ones(length, length, dtype=torch.bool, device=device).triu()


def turned_round(length, device=None):
    """The mask is turned round: it is True at the future, and True means may be attended to."""
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


def zeros_and_ones(length, device=None):
    """The mask is made of the numbers 0 and 1, not of False and True."""
    return torch.ones(length, length, device=device).tril()


def device_ignored(length, device=None):
    """The device that was asked for is ignored."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def none_means_cpu(length, device=None):
    """Without a device the mask is forced onto the CPU, whatever torch's default is."""
    return torch.ones(length, length, dtype=torch.bool, device=device or "cpu").tril()
