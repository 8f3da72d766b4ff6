"""069 · zero_gradients. Lesson: 069_zero_gradients.md."""

import pytest
import torch
from torch import nn

from kata.part09_adam import zero_gradients
from specs.harness.check import assert_equal

CHANGES = ("parameters",)


def with_gradient(value, gradient):
    """A parameter of one number, and the gradient that lies there."""
    parameter = torch.tensor([value], requires_grad=True)
    parameter.grad = torch.tensor([gradient])
    return parameter


def test_every_gradient_is_gone():
    """Gradients of 3, 0 and 4 lay there: now there is none, which is not the same as 0."""
    parameters = [with_gradient(5.0, 3.0), with_gradient(6.0, 0.0), with_gradient(7.0, 4.0)]
    zero_gradients(parameters)
    assert_equal([parameter.grad is None for parameter in parameters], [True, True, True])


def test_parameters_stay_as_they_are():
    """Only the slate is wiped: 5 and 6 are still 5 and 6."""
    parameters = [with_gradient(5.0, 3.0), with_gradient(6.0, 4.0)]
    zero_gradients(parameters)
    assert_equal([parameter.item() for parameter in parameters], [5.0, 6.0])


def test_parameters_can_still_be_trained():
    """They take gradients as before."""
    parameter = with_gradient(5.0, 3.0)
    zero_gradients([parameter])
    assert_equal(parameter.requires_grad, True)


def test_parameter_that_was_frozen_is_cleared_too():
    """It takes no gradient any more, but one lies there from before."""
    parameter = with_gradient(5.0, 3.0).requires_grad_(False)
    zero_gradients([parameter])
    assert parameter.grad is None, "The gradient is still there."


def test_next_gradient_stands_alone():
    """d (3x) / dx = 3, twice: with the slate wiped in between it is 3, and not 6."""
    parameter = torch.tensor([5.0], requires_grad=True)
    (3 * parameter).backward()
    zero_gradients([parameter])
    (3 * parameter).backward()
    assert_equal(parameter.grad, [3.0])


def test_parameter_without_a_gradient_may_stand_between():
    """There is nothing to clear in the middle; the last one is cleared all the same."""
    first, last = with_gradient(5.0, 3.0), with_gradient(7.0, 4.0)
    fresh = torch.tensor([6.0], requires_grad=True)
    zero_gradients([first, fresh, last])
    assert_equal([x.grad is None for x in (first, fresh, last)], [True, True, True])


def test_list_keeps_its_parameters():
    """The very same tensors are in it, in the same order."""
    first, last = with_gradient(5.0, 3.0), with_gradient(7.0, 4.0)
    parameters = [first, last]
    zero_gradients(parameters)
    same = [id(parameter) for parameter in parameters] == [id(first), id(last)]
    assert same, "Other tensors stand in the list now."


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """A gradient is cleared in half and in double precision, in a module's parameter too."""
    parameter = nn.Parameter(torch.ones(2, 3, dtype=dtype))
    parameter.grad = torch.ones(2, 3, dtype=dtype)
    zero_gradients([parameter])
    assert parameter.grad is None, "The gradient is still there."


def test_nothing_to_clear_is_fine():
    """An empty list: nothing happens, and nothing comes back."""
    assert_equal(zero_gradients([]), None)
