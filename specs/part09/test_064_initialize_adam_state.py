"""064 · initialize_adam_state. Lesson: 064_initialize_adam_state.md."""

import pytest
import torch
from torch import nn

from kata.part09_adam import initialize_adam_state
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal


def test_two_pages_of_zeros_for_one_parameter():
    """A parameter (1, 2, 3) has two moments (0, 0, 0), whatever it holds itself."""
    state = initialize_adam_state([torch.tensor([1.0, 2.0, 3.0], requires_grad=True)])
    assert_close(state.first, expected=[[0.0, 0.0, 0.0]])
    assert_close(state.second, expected=[[0.0, 0.0, 0.0]])


def test_no_step_is_taken_yet():
    """The counter is the number of updates so far: 0."""
    assert_equal(initialize_adam_state([torch.ones(2)]).step, 0)


def test_each_parameter_has_moments_of_its_own_shape():
    """A matrix, a vector and a single number, in the order they came in."""
    state = initialize_adam_state([torch.ones(2, 3), torch.ones(4), torch.ones(())])
    shapes = [(2, 3), (4,), ()]
    assert_equal([tuple(moment.shape) for moment in state.first], shapes)
    assert_equal([tuple(moment.shape) for moment in state.second], shapes)


def test_no_two_moments_share_memory():
    """Two calls, eight moments: write 0 to 7 into their first places, and nothing else changes."""
    parameters = [torch.ones(2), torch.ones(2)]
    states = initialize_adam_state(parameters), initialize_adam_state(parameters)
    moments = [moment for state in states for moment in (*state.first, *state.second)]
    for number, moment in enumerate(moments):
        moment[0] = number
    assert_equal([moment.tolist() for moment in moments], [[float(n), 0.0] for n in range(8)])


def test_moments_are_not_the_parameters():
    """Overwriting the moments leaves the parameter at 5."""
    parameter = torch.tensor([5.0], requires_grad=True)
    state = initialize_adam_state([parameter])
    state.first[0].fill_(9.0)
    state.second[0].fill_(9.0)
    assert_equal(parameter, [5.0])


def test_moments_take_no_gradient():
    """They are bookkeeping: nothing is ever learned about them."""
    state = initialize_adam_state([torch.ones(2, requires_grad=True)])
    assert_equal([moment.requires_grad for moment in (*state.first, *state.second)], [False, False])


def test_gradients_that_lie_there_do_not_count():
    """A parameter may carry a gradient already: the moments are 0 all the same."""
    parameter = torch.ones(2, requires_grad=True)
    parameter.grad = torch.tensor([3.0, 4.0])
    state = initialize_adam_state([parameter])
    assert_close([*state.first, *state.second], [[0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")], ids=str)
def test_zeros_whatever_the_parameter_holds(bad):
    """0 · NaN would be NaN: the zeros are made, not computed."""
    state = initialize_adam_state([torch.tensor([bad, 1.0])])
    assert_close([*state.first, *state.second], [[0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_moments_are_as_precise_as_their_parameter(dtype):
    """Beside a float32 parameter stands one of another type: each has moments of its own type."""
    state = initialize_adam_state([torch.ones(1, dtype=torch.float32), torch.ones(1, dtype=dtype)])
    assert_equal([moment.dtype for moment in state.first], [torch.float32, dtype])
    assert_equal([moment.dtype for moment in state.second], [torch.float32, dtype])


def test_module_parameters_have_plain_tensors_for_moments():
    """What comes out of an ``nn.Module`` is a parameter as good as any."""
    state = initialize_adam_state([nn.Parameter(torch.ones(2, 2))])
    assert_close([*state.first, *state.second], [[[0.0, 0.0], [0.0, 0.0]]] * 2)


def test_nothing_to_train_has_nothing_to_remember():
    """No parameters: two empty lists."""
    state = initialize_adam_state([])
    assert_equal((state.first, state.second, state.step), ([], [], 0))


@pytest.mark.parametrize("size", draw.sizes("batch length d_model"), ids=str)
def test_zeros_for_every_number(size):
    """As many zeros as there are numbers, twice over, for parameters of any layout."""
    parameters = [draw.floats(size.length, size.d_model).T, draw.floats(size.batch, size.length, 1)]
    state = initialize_adam_state(parameters)
    expected = [torch.zeros(size.d_model, size.length), torch.zeros(size.batch, size.length, 1)]
    assert_close(state.first, expected)
    assert_close(state.second, expected)
