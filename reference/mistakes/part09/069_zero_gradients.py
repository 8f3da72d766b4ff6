"""Wrong versions of step 069, one slip each."""

import torch


def filled_with_zeros(parameters):
    """The gradients are filled with zeros, not removed: Adam takes them for gradients of zero."""
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad = torch.zeros_like(parameter.grad)


def missing_gradient_is_an_error(parameters):
    """A parameter without a gradient is not provided for."""
    for parameter in parameters:
        parameter.grad.zero_()
        parameter.grad = None


def name_for_attribute(parameters):
    """The gradients stay where they are: to set a name to None changes no parameter."""
    for parameter in parameters:
        gradient = parameter.grad
        gradient = None  # noqa: F841


def zeros_stay(parameters):
    """A gradient of 0 counts as none, and stays: Adam will take it for a gradient of zero."""
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.any():
            parameter.grad = None


def frozen_passed_over(parameters):
    """Frozen parameters are passed over: what lay there when they were frozen stays."""
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.grad = None


def only_the_first(parameters):
    """The loop ends after the first parameter: the others keep their gradients."""
    for parameter in parameters:
        parameter.grad = None
        return


def stops_at_a_missing_gradient(parameters):
    """The loop ends at a parameter without a gradient: those behind it keep theirs."""
    for parameter in parameters:
        if parameter.grad is None:
            break
        parameter.grad = None


def list_emptied(parameters):
    """The list is emptied as well: there is nothing left to train."""
    for parameter in parameters:
        parameter.grad = None
    parameters.clear()


def parameters_zeroed(parameters):
    """The parameters are zeroed along with their gradients: all that was learned is gone."""
    with torch.no_grad():
        for parameter in parameters:
            parameter.grad = None
            parameter.zero_()


def new_tensors(parameters):
    """Copies without a gradient are put into the list: the model's own tensors keep theirs."""
    parameters[:] = [parameter.detach().clone().requires_grad_() for parameter in parameters]


def gradients_switched_off(parameters):
    """``requires_grad`` is switched off: no gradient will ever come again."""
    for parameter in parameters:
        parameter.grad = None
        parameter.requires_grad_(False)
