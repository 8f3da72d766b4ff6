"""Right but unusual versions of step 069."""

from collections import deque


def deleted(parameters):
    """``del`` leaves ``None`` behind."""
    for parameter in parameters:
        del parameter.grad


def wiped_first(parameters):
    """Where a gradient lies, it is filled with zeros before it goes."""
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.detach_()
            parameter.grad.zero_()
            parameter.grad = None


def set_by_name(parameters):
    """``setattr`` on all of them, without a loop to be seen."""
    deque((setattr(parameter, "grad", None) for parameter in parameters), maxlen=0)
