"""Wrong versions of step 071, one slip each."""

import math

import torch

from kata.part08_objective import compute_noam_learning_rate
from kata.part09_adam import initialize_adam_state, take_adam_step, zero_gradients
from kata.part10_training import compute_batch_loss
from kata.weights import StepRecord


def never_cleared(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The gradients are never cleared: those of all batches pile up."""
    loss, accuracy = _look(batch, weights, config, smoothing, generator, state)
    loss.backward()
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def clipped(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The gradients are clipped to a length of 1: nobody asked for it."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def cleared_before_the_walk(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Nobody walks: Adam is not called, or finds the gradients cleared already."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    zero_gradients(parameters)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def without_a_graph(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Everything runs without gradients: backward has nothing to go back through."""
    with torch.no_grad():
        loss, accuracy = _look(batch, weights, config, smoothing, generator, state)
    loss.backward()
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def plain_descent(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Rate times gradient is subtracted: that is plain gradient descent, without Adam."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    with torch.no_grad():
        for parameter in parameters:
            parameter -= rate * parameter.grad
    zero_gradients(parameters)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def copies_trained(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Copies of the parameters walk: the model stays as it was."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    copies = [parameter.detach().clone() for parameter in parameters]
    for copy, parameter in zip(copies, parameters, strict=True):
        copy.grad = parameter.grad
    return _walk(batch, copies, state, config, warmup_steps, factor, loss, accuracy)


def fresh_state_each_time(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Adam starts afresh at every step: its moments are forgotten."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    forgotten = initialize_adam_state(parameters)._replace(step=state.step)
    return _walk(batch, parameters, forgotten, config, warmup_steps, factor, loss, accuracy)


def old_state_handed_back(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The old state is handed back: the counter never moves."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    after, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return after._replace(step=state.step), record


def first_rate_twice(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The rate is that of the step before: the first one is used twice."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(max(state.step, 1), config.d_model, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy)


def rate_of_the_next(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The rate is that of the step after this one."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(state.step + 2, config.d_model, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy)


def beta_of_torch(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Adam is called with torch's β₂ of 0.999, not with the paper's 0.98."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy, beta2=0.999)


def base_rate_left_over(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The schedule multiplies a base rate of 0.001, as a scheduler does: the steps are tiny."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    return _walk_at(0.001 * rate, batch, parameters, state, config, loss, accuracy)


def width_of_the_feed_forward(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The rate is computed from ``d_ff``, not from ``d_model``."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rate = compute_noam_learning_rate(state.step + 1, config.d_ff, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy)


def size_of_the_vocabulary(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The rate is computed from the size of the vocabulary, not from ``d_model``."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    rows = len(weights.token_embedding)
    rate = compute_noam_learning_rate(state.step + 1, rows, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy)


def warm_up_not_handed_on(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The warm-up is not handed on: it takes 4000 steps, whatever is asked for."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    return _walk(batch, parameters, state, config, 4000, factor, loss, accuracy)


def factor_not_handed_on(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The factor is not handed on: it is 1, whatever is asked for."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    return _walk(batch, parameters, state, config, warmup_steps, 1.0, loss, accuracy)


def schedule_not_handed_on(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Warm-up and factor are not handed on: the paper's are used, whatever is asked for."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    return _walk(batch, parameters, state, config, 4000, 1.0, loss, accuracy)


def smoothing_not_handed_on(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The smoothing is not handed on: it is 0.1, whatever is asked for."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, 0.1, generator)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def dropout_left_out(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Dropout is switched off, as if the model were being tested."""
    tested = config._replace(dropout_rate=0.0)
    loss, accuracy = _learn(batch, weights, parameters, state, tested, smoothing, generator)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def generator_not_handed_on(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The generator is not handed on: dropout draws from torch's default one."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, None)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def dice_copied(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """A copy of the generator is used: every step drops the same."""
    dice = generator.clone_state() if generator else None
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, dice)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def any_loss_will_do(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """A loss that is no number is not noticed: one step later all weights are NaN."""
    zero_gradients(parameters)
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    loss.backward()
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def only_nan_noticed(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """Only NaN is noticed: an infinite loss goes through."""
    zero_gradients(parameters)
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    if math.isnan(loss.item()):
        raise FloatingPointError(f"the loss of step {state.step + 1} is NaN")
    loss.backward()
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def noticed_too_late(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The loss is looked at after the step: the error comes, but the weights are NaN already."""
    answer = any_loss_will_do(
        batch, weights, parameters, state, config, smoothing, warmup_steps, factor, generator
    )
    if not math.isfinite(answer[1].loss):
        raise FloatingPointError(f"the loss of step {state.step + 1} is {answer[1].loss}")
    return answer


def bad_batch_skipped(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """A loss that is no number is passed over in silence, and nobody hears of it."""
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    zero_gradients(parameters)
    if math.isfinite(loss.item()):
        loss.backward()
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def padding_passed_over(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """A batch of padding alone is passed over: the counter does not go on, and no rate is told."""
    if not (batch[1] != config.pad_id).any():
        return state, StepRecord(state.step, 0.0, 0.0, 0.0, 0)
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def last_step_named(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The error names the step before."""
    before = state._replace(step=state.step - 1)
    loss, accuracy = _learn(batch, weights, parameters, before, config, smoothing, generator)
    return _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)


def loss_of_afterwards(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record tells of the model after the step, which cost a second run of it."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    return state, record._replace(loss=loss.item(), accuracy=accuracy)


def accuracy_of_afterwards(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record tells the accuracy after the step, as if it had been so before."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    _, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    return state, record._replace(accuracy=accuracy)


def loss_with_its_graph(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record keeps the loss as a tensor, and the whole graph with it: memory fills up."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return state, record._replace(loss=loss)


def steps_taken_before(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record tells how many steps were taken before this one: its first step is number 0."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    after, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return after, record._replace(step=state.step)


def padding_counted(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record counts all places of the targets, padding too."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return state, record._replace(tokens=batch[1].numel())


def padding_is_zero(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """0 is written out for padding where the tokens are counted."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return state, record._replace(tokens=int((batch[1] != 0).sum()))


def source_counted(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The record counts the source's tokens, not the target's."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    state, record = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return state, record._replace(tokens=int((batch[0] != config.pad_id).sum()))


def record_first(
    batch, weights, parameters, state, config,
    smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None,
):  # fmt: skip
    """The two results have changed places: the state comes first, the record second."""
    loss, accuracy = _learn(batch, weights, parameters, state, config, smoothing, generator)
    answer = _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy)
    return answer[::-1]


def _look(batch, weights, config, smoothing, generator, state):
    loss, accuracy = compute_batch_loss(*batch, weights, config, smoothing, generator)
    if not math.isfinite(loss.item()):
        raise FloatingPointError(f"the loss of step {state.step + 1} is {loss.item()}")
    return loss, accuracy


def _learn(batch, weights, parameters, state, config, smoothing, generator):
    zero_gradients(parameters)
    loss, accuracy = _look(batch, weights, config, smoothing, generator, state)
    loss.backward()
    return loss, accuracy


def _walk(batch, parameters, state, config, warmup_steps, factor, loss, accuracy):
    rate = compute_noam_learning_rate(state.step + 1, config.d_model, warmup_steps, factor)
    return _walk_at(rate, batch, parameters, state, config, loss, accuracy)


def _walk_at(rate, batch, parameters, state, config, loss, accuracy, beta2=0.98):
    state = take_adam_step(parameters, state, rate, beta2=beta2)
    tokens = int((batch[1] != config.pad_id).sum())
    return state, StepRecord(state.step, loss.item(), accuracy, rate, tokens)
