"""Right but unusual versions of step 068."""

import math

import torch

from kata.part09_adam import correct_moment_bias, update_first_moment, update_second_moment
from kata.weights import AdamState


def step_by_step(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Steps 065 to 067 make new tensors; the old moments stay as they were."""
    step, first, second = state.step + 1, list(state.first), list(state.second)
    with torch.no_grad():
        for i, x in enumerate(parameters):
            if x.grad is not None:
                first[i] = update_first_moment(first[i], x.grad, beta1)
                second[i] = update_second_moment(second[i], x.grad, beta2)
                size = correct_moment_bias(second[i], beta2, step).sqrt() + eps
                x.sub_(learning_rate * correct_moment_bias(first[i], beta1, step) / size)
    return AdamState(first, second, step)


def epsilon_hat(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """Kingma and Ba's fast form: both corrections are in the rate, and ε is not corrected."""
    step = state.step + 1
    rate = learning_rate * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    for x, first, second in zip(parameters, state.first, state.second, strict=True):
        if x.grad is None:
            continue
        first.mul_(beta1).add_(x.grad, alpha=1 - beta1)
        second.lerp_(x.grad.square(), 1 - beta2)
        x.data.sub_(rate * first / (second.sqrt() + eps))
    return state._replace(step=step)


def data_replaced(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """The parameter stays the same tensor, and gets other ``data``."""
    step = state.step + 1
    for x, first, second in zip(parameters, state.first, state.second, strict=True):
        if x.grad is not None:
            first.copy_(update_first_moment(first, x.grad, beta1))
            second.copy_(update_second_moment(second, x.grad, beta2))
            ratio = (first / (1 - beta1**step)) / ((second / (1 - beta2**step)) ** 0.5 + eps)
            x.data = x.data - learning_rate * ratio
    return AdamState(state.first, state.second, step)


@torch.no_grad()
def all_at_once(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """``_foreach_`` operations take all tensors at once."""
    step = state.step + 1
    moved = [i for i, x in enumerate(parameters) if x.grad is not None]
    if moved:
        xs, gradients = [parameters[i] for i in moved], [parameters[i].grad for i in moved]
        first, second = [state.first[i] for i in moved], [state.second[i] for i in moved]
        torch._foreach_lerp_(first, gradients, 1 - beta1)
        torch._foreach_mul_(second, beta2)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - beta2)
        sizes = torch._foreach_sqrt(second)
        torch._foreach_div_(sizes, math.sqrt(1 - beta2**step))
        torch._foreach_add_(sizes, eps)
        torch._foreach_addcdiv_(xs, first, sizes, -learning_rate / (1 - beta1**step))
    return state._replace(step=step)


def copied_back(parameters, state, learning_rate, beta1=0.9, beta2=0.98, eps=1e-9):
    """New numbers are computed elsewhere and copied into the parameters at the end."""
    step, first, second, new = state.step + 1, list(state.first), list(state.second), []
    for i, x in enumerate(parameters):
        if x.grad is not None:
            first[i] = beta1 * first[i] + (1 - beta1) * x.grad
            second[i] = beta2 * second[i] + (1 - beta2) * x.grad * x.grad
            size = torch.sqrt(second[i] / (1 - beta2**step)) + eps
            new.append((x, x.detach() - learning_rate * first[i] / (1 - beta1**step) / size))
    with torch.inference_mode():
        for x, numbers in new:
            x.copy_(numbers)
    return AdamState(first, second, step)
