"""Wrong versions of step 068, one slip each."""

import torch

from kata.part09_adam import correct_moment_bias, update_first_moment, update_second_moment
from kata.weights import AdamState


def no_bias_correction(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The moments are not corrected: the first steps are too short or too long."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, 0.0, 0.0, eps)


def first_moment_not_corrected(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Only the second moment is corrected: the first steps are a tenth of what they should be."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, 0.0, beta2, eps)


def second_moment_not_corrected(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Only the first moment is corrected: the first steps are seven times too long."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, 0.0, eps)


def complement_twice(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The complement is taken twice: m is divided by βᵗ in place of 1 − βᵗ."""
    state = _remember(parameters, state, beta1, beta2)
    rate = learning_rate / beta1**state.step if beta1 else learning_rate
    return _walk(parameters, state, rate, 0.0, beta2, eps)


def epsilon_inside_the_root(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """ε stands inside the root: √(v̂ + ε)."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, lambda v: (v + eps).sqrt())


def no_epsilon(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """ε is left out: a gradient of zero gives 0 / 0, which is NaN."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, 0.0)


def epsilon_as_floor(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """ε is a floor under the root: the larger of the two is taken, not their sum."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, lambda v: v.sqrt().clamp(min=eps))


def epsilon_written_out(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """10⁻⁹ is written out: the ε that is asked for is never read."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, 1e-9)


def epsilon_of_torch(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-8):
    """ε is 10⁻⁸ by default, as in torch; the paper has 10⁻⁹."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def beta_of_torch(parameters, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-9):
    """β₂ is 0.999 by default, as in torch; the paper has 0.98."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def betas_swapped(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The betas have changed places."""
    state = _remember(parameters, state, beta2, beta1)
    return _walk(parameters, state, learning_rate, beta2, beta1, eps)


def no_root(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The root is not taken: large gradients make short steps."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, lambda v: v + eps)


def gradient_for_moment(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The step follows the newest gradient, not the first moment: no momentum."""
    state = _remember(parameters, state, beta1, beta2)
    newest = state._replace(first=[_gradient(parameter) for parameter in parameters])
    _walk(parameters, newest, learning_rate, 0.0, beta2, eps)
    return state


def moment_of_before(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The step follows the first moment of before, which has not heard this gradient yet."""
    before = list(state.first)
    state = _remember(parameters, state, beta1, beta2)
    _walk(parameters, state._replace(first=before), learning_rate, beta1, beta2, eps)
    return state


def zero_stands_still(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """A number whose gradient is 0 stands still: what it remembers would carry it on."""
    places = [parameter.detach().clone() for parameter in parameters]
    state = _remember(parameters, state, beta1, beta2)
    _walk(parameters, state, learning_rate, beta1, beta2, eps)
    with torch.no_grad():
        for parameter, place in zip(parameters, places, strict=True):
            if parameter.grad is not None:
                parameter.copy_(torch.where(parameter.grad == 0, place, parameter))
    return state


def never_beyond_the_rate(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """No step is longer than the rate: the ratio is cut off at −1 and 1."""
    places = [parameter.detach().clone() for parameter in parameters]
    state = _remember(parameters, state, beta1, beta2)
    _walk(parameters, state, learning_rate, beta1, beta2, eps)
    with torch.no_grad():
        for parameter, place in zip(parameters, places, strict=True):
            parameter.clamp_(place - learning_rate, place + learning_rate)
    return state


def uphill(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The sign is wrong: the parameters walk uphill."""
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, -learning_rate, beta1, beta2, eps)


def weight_decay(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """A hundredth of every parameter is taken away as well: weight decay that nobody ordered."""
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.mul_(0.99)
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def moments_never_stored(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The moments start from zero at every step: nothing is remembered."""
    forgotten = AdamState(
        [torch.zeros_like(moment) for moment in state.first],
        [torch.zeros_like(moment) for moment in state.second],
        state.step,
    )
    state = _remember(parameters, forgotten, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def moments_left_behind(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The new moments are used and left behind: the old ones come back with the state."""
    after = _remember(parameters, state, beta1, beta2)
    _walk(parameters, after, learning_rate, beta1, beta2, eps)
    return state._replace(step=after.step)


def corrected_moments_stored(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The corrected moments are stored, and corrected again at the next step."""
    state = _walk(
        parameters, _remember(parameters, state, beta1, beta2), learning_rate, beta1, beta2, eps
    )
    return state._replace(
        first=[correct_moment_bias(moment, beta1, state.step) for moment in state.first],
        second=[correct_moment_bias(moment, beta2, state.step) for moment in state.second],
    )


def counter_never_moves(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The counter stays where it was: every step is corrected as if it were the first."""
    after = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, after, learning_rate, beta1, beta2, eps)._replace(step=state.step)


def counter_of_parameters(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The counter goes up for every parameter, not for every step."""
    after = _remember(parameters, state, beta1, beta2)
    after = _walk(parameters, after, learning_rate, beta1, beta2, eps)
    return after._replace(step=state.step + len(parameters))


def counted_afterwards(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The counter goes up after the step, not before: the first step is corrected as step 0."""
    after = _remember(parameters, state, beta1, beta2)
    _walk(parameters, after._replace(step=state.step), learning_rate, beta1, beta2, eps)
    return after


def new_tensors(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """New tensors are made and forgotten: the caller's parameters stay where they were."""
    state = _remember(parameters, state, beta1, beta2)
    copies = [_twin(parameter) for parameter in parameters]
    return _walk(copies, state, learning_rate, beta1, beta2, eps)


def inside_autograd(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Autograd is not switched off: torch refuses to change a leaf that it watches."""
    state = _remember(parameters, state, beta1, beta2)
    for index, parameter in enumerate(parameters):
        if parameter.grad is not None:
            parameter -= _update(state, index, learning_rate, beta1, beta2, eps)
    return state


def frozen_afterwards(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """``requires_grad_(False)`` gets past autograd, and the parameters never learn again."""
    for parameter in parameters:
        parameter.requires_grad_(False)
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def missing_gradient_as_zero(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """A missing gradient counts as zero: the parameter drifts on, and its moments fade."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def stops_at_a_missing_gradient(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The loop ends at the first parameter without a gradient: those behind it are not trained."""
    state = _remember(parameters, state, beta1, beta2)
    have = [parameter.grad is not None for parameter in parameters]
    count = have.index(False) if False in have else len(have)
    return _walk(parameters[:count], state, learning_rate, beta1, beta2, eps)


def missing_gradient_is_an_error(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """A parameter without a gradient is not provided for."""
    if any(parameter.grad is None for parameter in parameters):
        raise TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'")
    state = _remember(parameters, state, beta1, beta2)
    return _walk(parameters, state, learning_rate, beta1, beta2, eps)


def gradients_cleared(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The gradients are cleared on the way: that is step 069."""
    state = _remember(parameters, state, beta1, beta2)
    _walk(parameters, state, learning_rate, beta1, beta2, eps)
    for parameter in parameters:
        parameter.grad = None
    return state


def torch_does_it(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Torch's own optimiser does the work that this step is there to build."""
    judge = torch.optim.Adam(parameters, learning_rate, (beta1, beta2), eps)
    for index, parameter in enumerate(parameters):
        judge.state[parameter] = {
            "step": torch.tensor(float(state.step)),
            "exp_avg": state.first[index],
            "exp_avg_sq": state.second[index],
        }
    judge.step()
    return state._replace(step=state.step + 1)


def torch_does_it_below(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Torch's fused operation does the work, called where it is kept."""
    have = [index for index, parameter in enumerate(parameters) if parameter.grad is not None]
    with torch.no_grad():
        torch._fused_adam_(
            [parameters[index] for index in have],
            [parameters[index].grad for index in have],
            [state.first[index] for index in have],
            [state.second[index] for index in have],
            [],
            [torch.tensor(float(state.step + 1)) for _ in have],
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            weight_decay=0.0,
            eps=eps,
            amsgrad=False,
            maximize=False,
        )
    return state._replace(step=state.step + 1)


def _gradient(parameter):
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _twin(parameter):
    twin = parameter.detach().clone().requires_grad_()
    twin.grad = parameter.grad
    return twin


def _remember(parameters, state, beta1, beta2):
    """The state after steps 065 and 066."""
    first, second = list(state.first), list(state.second)
    for index, parameter in enumerate(parameters):
        if parameter.grad is not None:
            first[index] = update_first_moment(first[index], parameter.grad, beta1)
            second[index] = update_second_moment(second[index], parameter.grad, beta2)
    return AdamState(first, second, state.step + 1)


def _walk(parameters, state, learning_rate, beta1, beta2, eps):
    with torch.no_grad():
        for index, parameter in enumerate(parameters):
            if parameter.grad is not None:
                parameter -= _update(state, index, learning_rate, beta1, beta2, eps)
    return state


def _update(state, index, learning_rate, beta1, beta2, eps):
    """``eps`` is a number, or what makes the denominator of v̂."""
    first = correct_moment_bias(state.first[index], beta1, state.step)
    second = correct_moment_bias(state.second[index], beta2, state.step)
    denominator = eps(second) if callable(eps) else second.sqrt() + eps
    return learning_rate * first / denominator
