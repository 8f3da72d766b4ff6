"""Right but unusual versions of step 071."""

import math

import torch

from kata.part08_objective import compute_noam_learning_rate
from kata.part09_adam import take_adam_step, zero_gradients
from kata.part10_training import compute_batch_loss
from kata.weights import AdamState, StepRecord


def _look(batch, weights, config, smoothing, generator, step):
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"step {step}: a loss of {loss.item()}")
    return loss, accuracy


def _record(batch, config, state, loss, accuracy, rate):
    tokens = len(batch[1][batch[1] != config.pad_id])
    return StepRecord(state.step, float(loss.detach()), accuracy, rate, tokens)


def cleared_at_the_end(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The gradients are cleared when they have been used."""
    loss, accuracy = _look(batch, weights, config, smoothing, generator, state.step + 1)
    loss.backward()
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    state = take_adam_step(parameters, state, rate)
    zero_gradients(parameters)
    return state, _record(batch, config, state, loss, accuracy, rate)


def cleared_before_backward(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The gradients are cleared between forward and backward, by filling them with zeros."""
    loss, accuracy = _look(batch, weights, config, smoothing, generator, state.step + 1)
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.zero_()
    torch.autograd.backward(loss)
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    state = take_adam_step(parameters, state, rate)
    return state, _record(batch, config, state, loss, accuracy, rate)


def gradients_asked_for(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """``autograd.grad`` hands the gradients over, and they are put where step 068 looks."""
    loss, accuracy = _look(batch, weights, config, smoothing, generator, state.step + 1)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    state = take_adam_step(parameters, state, rate)
    return state, _record(batch, config, state, loss, accuracy, rate)


def written_out(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Rate and Adam are written out, with ε as in Kingma and Ba's fast form."""
    step = state.step + 1
    loss, accuracy = _look(batch, weights, config, smoothing, generator, step)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    rate = factor / math.sqrt(config.d_model) * min(1 / math.sqrt(step), step / warmup_steps**1.5)
    by = rate * math.sqrt(1 - 0.98**step) / (1 - 0.9**step)
    first, second = list(state.first), list(state.second)
    for i, (x, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        if gradient is not None:
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.98 * second[i] + 0.02 * gradient.square()
            x.data -= by * first[i] / (second[i].sqrt() + 1e-9)
    state = AdamState(first, second, step)
    return state, _record(batch, config, state, loss, accuracy, rate)
