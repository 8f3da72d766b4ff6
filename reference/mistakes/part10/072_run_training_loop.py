"""Wrong versions of step 072, one slip each."""

from itertools import islice

import torch

from kata.part07_weights import gather_parameters
from kata.part09_adam import initialize_adam_state
from kata.part10_training import run_training_step


def fresh_state_for_each_batch(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Adam's state is made inside the loop: every step is the first."""
    records = []
    for batch in batches:
        records += _train([batch], weights, config, smoothing, warmup_steps, factor, generator)
    return records


def moments_forgotten(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The counter goes on, but the moments start afresh with every batch."""
    parameters, records = gather_parameters(weights), []
    for step, batch in enumerate(batches):
        state = initialize_adam_state(parameters)._replace(step=step)
        _, record = run_training_step(
            batch, weights, parameters, state, config, smoothing, warmup_steps, factor, generator
        )
        records.append(record)
    return records


def counter_forgotten(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The moments go on, but the counter does not: every step is the first."""
    parameters = gather_parameters(weights)
    state, records = initialize_adam_state(parameters), []
    for batch in batches:
        state, record = run_training_step(
            batch, weights, parameters, state._replace(step=0), config, smoothing, warmup_steps,
            factor, generator,
        )  # fmt: skip
        records.append(record)
    return records


def only_the_first(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The loop returns after its first batch."""
    for batch in batches:
        return _train([batch], weights, config, smoothing, warmup_steps, factor, generator)
    return []


def ten_batches(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The loop ends after ten batches, as it was left when it was tried out."""
    batches = islice(batches, 10)
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def ends_when_all_is_right(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The loop ends with the first batch of which every token was guessed."""
    records = []
    for record in _steps(batches, weights, config, smoothing, warmup_steps, factor, generator):
        records.append(record)
        if record.accuracy == 1.0:
            break
    return records


def padding_passed_over(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """A batch of padding alone is passed over: it has no record."""
    batches = (batch for batch in batches if (batch[1] != config.pad_id).any())
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def bad_batch_passed_over(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The error of a bad batch is caught: nobody hears that the loss is no number."""
    parameters = gather_parameters(weights)
    state, records = initialize_adam_state(parameters), []
    for batch in batches:
        try:
            state, record = run_training_step(
                batch, weights, parameters, state, config, smoothing, warmup_steps, factor,
                generator,
            )  # fmt: skip
        except FloatingPointError:
            continue
        records.append(record)
    return records


def only_the_last_record(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Only the last record is kept."""
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)[-1:]


def only_the_losses(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The losses are returned, not the records."""
    records = _train(batches, weights, config, smoothing, warmup_steps, factor, generator)
    return [record.loss for record in records]


def nothing_returned(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Nothing is returned."""
    _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def two_passes(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The batches are gone through twice."""
    batches = list(batches)
    return _train(batches * 2, weights, config, smoothing, warmup_steps, factor, generator)


def counted_first(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The batches are counted first: a generator is used up by then."""
    count = sum(1 for _ in batches)
    batches = [batch for batch, _ in zip(batches, range(count), strict=False)]
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def length_wanted(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The batches are asked for by number: a generator has no length."""
    batches = [batches[index] for index in range(len(batches))]
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def one_batch_at_least(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The first batch is taken unasked: without batches there is none."""
    batches = iter(batches)
    batches = [next(batches), *batches]
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def longest_first(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The batches are sorted by length: they are not taken in the order given."""
    batches = sorted(batches, key=lambda batch: -batch[1].numel())
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def copies_trained(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """A copy of the weights is trained: the caller's stay as they were."""
    twins = {id(leaf): _twin(leaf) for leaf in _leaves(weights)}
    copy = _rebuilt(weights, twins)
    return _train(batches, copy, config, smoothing, warmup_steps, factor, generator)


def frozen_trained(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Frozen tensors are switched on and trained: who froze them did so for a reason."""
    for leaf in _leaves(weights):
        leaf.requires_grad_()
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator)


def only_the_output(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Only embeddings and output are trained: the layers stay as they were drawn."""
    shallow = [weights.token_embedding, *weights.output_projection]
    parameters = list(
        {id(leaf): leaf for leaf in shallow if leaf is not None and leaf.requires_grad}.values()
    )
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator, parameters)


def tied_table_twice(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """A tied table is listed twice: it walks two steps at a time."""
    parameters = [leaf for leaf in _leaves(weights) if leaf.requires_grad]
    return _train(batches, weights, config, smoothing, warmup_steps, factor, generator, parameters)


def smoothing_not_handed_on(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The smoothing is not handed on: it is 0.1, whatever is asked for."""
    return _train(batches, weights, config, 0.1, warmup_steps, factor, generator)


def warm_up_not_handed_on(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The warm-up is not handed on: it takes 4000 steps, whatever is asked for."""
    return _train(batches, weights, config, smoothing, 4000, factor, generator)


def factor_not_handed_on(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The factor is not handed on: it is 1, whatever is asked for."""
    return _train(batches, weights, config, smoothing, warmup_steps, 1.0, generator)


def schedule_not_handed_on(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Warm-up and factor are not handed on: the paper's are used, whatever is asked for."""
    return _train(batches, weights, config, smoothing, 4000, 1.0, generator)


def schedule_swapped(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Warm-up and factor have changed places on their way."""
    return _train(batches, weights, config, smoothing, factor, warmup_steps, generator)


def generator_not_handed_on(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The generator is not handed on: dropout draws from torch's default one."""
    return _train(batches, weights, config, smoothing, warmup_steps, factor, None)


def dropout_only_at_first(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """Dropout is on for the first step only, and off from then on."""
    parameters = gather_parameters(weights)
    state, records = initialize_adam_state(parameters), []
    for batch in batches:
        state, record = run_training_step(
            batch, weights, parameters, state, config, smoothing, warmup_steps, factor, generator
        )
        records.append(record)
        config = config._replace(dropout_rate=0.0)
    return records


def same_dice_each_time(
    batches, weights, config, smoothing=0.1, warmup_steps=4000, factor=1.0, generator=None
):
    """The generator is set back before every batch: the same is dropped at every step."""
    start = generator.get_state() if generator else None

    def again():
        for batch in batches:
            if start is not None:
                generator.set_state(start)
            yield batch

    return _train(again(), weights, config, smoothing, warmup_steps, factor, generator)


def _train(*settings):
    return list(_steps(*settings))


def _steps(batches, weights, config, smoothing, warmup_steps, factor, generator, parameters=None):
    parameters = gather_parameters(weights) if parameters is None else parameters
    state = initialize_adam_state(parameters)
    for batch in batches:
        state, record = run_training_step(
            batch, weights, parameters, state, config, smoothing, warmup_steps, factor, generator
        )
        yield record


def _leaves(weights):
    if isinstance(weights, torch.Tensor):
        return [weights]
    return [leaf for part in weights or () for leaf in _leaves(part)]


def _twin(leaf):
    return leaf.detach().clone().requires_grad_(leaf.requires_grad)


def _rebuilt(weights, twins):
    if isinstance(weights, torch.Tensor):
        return twins[id(weights)]
    if weights is None:
        return None
    parts = [_rebuilt(part, twins) for part in weights]
    return type(weights)(*parts) if hasattr(weights, "_fields") else tuple(parts)
