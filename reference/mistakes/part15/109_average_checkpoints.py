"""Wrong versions of step 109, one slip each."""

import torch


def first_checkpoint_overwritten(states):
    """The first checkpoint is added to in place: it is lost."""
    average = _average(states)
    for name, tensor in states[0].items():
        tensor.data.copy_(average[name])
    return average


def summed_only(states):
    """The checkpoints are added up and never divided."""
    return _average(states, mean=lambda tensors: _wide(tensors).sum(0))


def halfway_to_each(states):
    """The average moves halfway to each checkpoint in turn: the last counts most."""

    def mean(tensors):
        average = _wide(tensors[:1])[0]
        for tensor in tensors[1:]:
            average = (average + tensor) / 2
        return average

    return _average(states, mean=mean)


def only_the_last_five(states):
    """Only the last five checkpoints are averaged, however many there are."""
    return _average(states[-5:])


def summed_in_half_precision(states):
    """Half checkpoints are added up in half precision, which soon overflows and rounds."""

    def mean(tensors):
        total = torch.zeros_like(tensors[0])
        for tensor in tensors:
            total = total + tensor
        return total / len(tensors)

    return _average(states, mean=mean)


def summed_in_float32(states):
    """All is added up in float32, double precision too."""
    return _average(states, mean=lambda tensors: torch.stack(tensors).float().mean(0))


def left_in_float32(states):
    """The average of half checkpoints stays in float32: twice as large as what was stored."""
    return _average(states, back=lambda average, _: average)


def integers_averaged(states):
    """Counters are averaged like weights, and rounded."""
    return _average(states, whole=lambda tensors: torch.stack(tensors).double().mean(0))


def integers_from_the_first(states):
    """Counters are those of the first checkpoint."""
    return _average(states, whole=lambda tensors: tensors[0].clone())


def largest_integers(states):
    """Of counters the largest is taken, and not that of the last checkpoint."""
    return _average(states, whole=lambda tensors: torch.stack(tensors).amax(0))


def integers_handed_back(states):
    """Counters are those of the last checkpoint, and not copies: to set them changes it."""
    return _average(states, whole=lambda tensors: tensors[-1])


def single_checkpoint_handed_back(states):
    """A single checkpoint is handed back as it is: to train the average changes it."""
    return states[0] if len(states) == 1 else _average(states)


def graph_kept(states):
    """The average hangs on the checkpoints' parameters by a graph."""
    return _average(states, detach=False)


def ties_broken(states):
    """Every name gets a tensor of its own: what was tied drifts apart."""
    return _average(states, tie=False)


def ties_of_the_first(states):
    """Only the first checkpoint is asked what is tied: the others may say otherwise."""
    return _average(states, places=lambda tensors: _place(tensors[0]))


def ties_of_the_last(states):
    """Only the last checkpoint is asked what is tied: the others may say otherwise."""
    return _average(states, places=lambda tensors: _place(tensors[-1]))


def tied_by_address(states):
    """Two tensors that begin at one place count as one, whatever their shapes."""
    return _average(states, places=lambda tensors: tuple(t.data_ptr() for t in tensors))


def tied_by_storage(states):
    """Two tensors in one stretch of memory count as one, be they parts of it or all of it."""
    return _average(
        states, places=lambda tensors: tuple(t.untyped_storage().data_ptr() for t in tensors)
    )


def matched_by_order(states):
    """The entries are matched by their order in the files, not by their names."""
    return _average([dict(zip(states[0], state.values(), strict=False)) for state in states])


def extra_names_ignored(states):
    """A name that the first checkpoint has not is left out, and nobody hears of it."""
    names = states[0].keys() if states else ()
    for number, state in enumerate(states):
        for name in names:
            if name not in state:
                raise ValueError(f"checkpoint {number} has no {name}")
    return _average([{name: state[name] for name in names} for state in states])


def missing_names_ignored(states):
    """Only the names that all checkpoints have are averaged: a part of the model is missing."""
    names = [name for name in (states or [{}])[0] if all(name in state for state in states)]
    return _average([{name: state[name] for name in names} for state in states])


def shapes_broadcast(states):
    """Shapes that differ are stretched to fit, where torch can do it."""
    return _average(states, check_shapes=False)


def empty_list_gives_nothing(states):
    """No checkpoint at all gives an empty model, not an error."""
    return _average(states) if states else {}


def _wide(tensors):
    return torch.stack(
        [tensor.to(torch.promote_types(tensor.dtype, torch.float32)) for tensor in tensors]
    )


def _mean(tensors):
    total = torch.zeros_like(tensors[0], dtype=torch.promote_types(tensors[0].dtype, torch.float32))
    for tensor in tensors:
        total = total + tensor
    return total / len(tensors)


def _place(tensor):
    return tensor.data_ptr(), tensor.shape, tensor.stride()


def _average(
    states,
    mean=_mean,
    back=lambda average, stored: average.to(stored.dtype),
    whole=lambda tensors: tensors[-1].clone(),
    places=lambda tensors: tuple(_place(tensor) for tensor in tensors),
    detach=True,
    tie=True,
    check_shapes=True,
):  # fmt: skip
    if not states:
        raise ValueError("0 checkpoints")
    for state in states:
        if odd := state.keys() ^ states[0].keys():
            raise ValueError(f"not in all checkpoints: {odd}")
        for name in state if check_shapes else ():
            if state[name].shape != states[0][name].shape:
                raise ValueError(f"{name} has other shapes")
    known, average = {}, {}
    for name in states[0]:
        tensors = [state[name].detach() if detach else state[name] for state in states]
        key = places(tensors) if tie else name
        if key not in known:
            floating = tensors[-1].is_floating_point()
            mixed = mean(tensors) if floating else whole(tensors)
            known[key] = back(mixed, tensors[-1]) if floating else mixed.to(tensors[-1].dtype)
        average[name] = known[key]
    return average
