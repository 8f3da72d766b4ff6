"""Right but unusual versions of step 072."""

from itertools import accumulate

from kata.part07_weights import gather_parameters
from kata.part09_adam import initialize_adam_state
from kata.part10_training import run_training_step


def stored_first(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """All batches are stored before the first step."""
    parameters = gather_parameters(weights)
    state, records = initialize_adam_state(parameters), []
    waiting = list(batches)
    while waiting:
        state, record = run_training_step(
            waiting.pop(0), weights, parameters, state, config, smoothing=smoothing,
            warmup_steps=warmup_steps, factor=factor, generator=generator,
        )  # fmt: skip
        records += [record]
    return records


def accumulated(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """``accumulate`` hands the state on; it shows the beginning too, which is no record."""
    parameters = gather_parameters(weights)

    def go_on(before, batch):
        return run_training_step(
            batch, weights, parameters, before[0], config, smoothing, warmup_steps, factor,
            generator,
        )  # fmt: skip

    start = initialize_adam_state(parameters), None
    _, *steps = accumulate(batches, go_on, initial=start)
    return [record for _, record in steps]


def itself_again(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """One batch is trained, and the same is done with the rest."""
    parameters = gather_parameters(weights)
    batches = iter(batches)

    def rest(state):
        for batch in batches:
            state, record = run_training_step(
                batch, weights, parameters, state, config, smoothing, warmup_steps, factor,
                generator,
            )  # fmt: skip
            return [record, *rest(state)]
        return []

    return rest(initialize_adam_state(parameters))
