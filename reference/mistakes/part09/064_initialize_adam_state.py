"""Wrong versions of step 064, one slip each."""

import torch

from kata.weights import AdamState


def one_buffer_for_both(parameters):
    """Both moments are the same tensors: what is written into one stands in the other."""
    zeros = [torch.zeros_like(parameter) for parameter in parameters]
    return AdamState(list(zeros), list(zeros), 0)


def one_buffer_for_all(parameters):
    """One tensor is repeated for all parameters that have its shape."""
    made = {}
    for parameter in parameters:
        key = (parameter.shape, parameter.dtype)
        made.setdefault(key, (torch.zeros_like(parameter), torch.zeros_like(parameter)))
    pairs = [made[parameter.shape, parameter.dtype] for parameter in parameters]
    return AdamState([first for first, _ in pairs], [second for _, second in pairs], 0)


def one_zero_for_all_places(parameters):
    """A single zero stands for all places: ``expand`` gives none of them memory of its own."""
    return AdamState(*_moments(parameters, lambda p: p.new_zeros(()).expand(p.shape)), 0)


def ones(parameters):
    """The moments start at one, as if gradients had been seen already."""
    return AdamState(*_moments(parameters, torch.ones_like), 0)


def copies(parameters):
    """The moments start as copies of the parameters."""
    return AdamState(*_moments(parameters, lambda parameter: parameter.detach().clone()), 0)


def gradients_taken(parameters):
    """The first moment starts as the gradient that happens to lie there."""
    first, second = _moments(parameters, torch.zeros_like)
    for index, parameter in enumerate(parameters):
        if parameter.grad is not None:
            first[index] = parameter.grad.clone()
    return AdamState(first, second, 0)


def times_zero(parameters):
    """The zeros are computed as 0 · parameter: NaN stays NaN."""
    return AdamState(*_moments(parameters, lambda parameter: 0 * parameter.detach()), 0)


def in_the_graph(parameters):
    """The zeros hang on the parameters' graph: they ask for a gradient."""
    return AdamState(*_moments(parameters, lambda parameter: parameter - parameter.detach()), 0)


def default_dtype(parameters):
    """The zeros have torch's default type, whatever the parameter's is."""
    return AdamState(*_moments(parameters, lambda p: torch.zeros(p.shape, device=p.device)), 0)


def on_the_cpu(parameters):
    """The zeros lie on the CPU, wherever the parameter lies."""

    def zeros(parameter):
        return torch.zeros(parameter.shape, dtype=parameter.dtype)

    return AdamState(*_moments(parameters, zeros), 0)


def flattened(parameters):
    """The moments are flat: they have as many numbers as the parameter, but not its shape."""
    return AdamState(*_moments(parameters, lambda p: torch.zeros_like(p).flatten()), 0)


def counts_from_one(parameters):
    """The counter starts at 1, as if a step had been taken."""
    return AdamState(*_moments(parameters, torch.zeros_like), 1)


def second_moment_missing(parameters):
    """There is no second moment: its list is empty."""
    return AdamState([torch.zeros_like(parameter) for parameter in parameters], [], 0)


def _moments(parameters, make):
    return [make(parameter) for parameter in parameters], [
        make(parameter) for parameter in parameters
    ]
