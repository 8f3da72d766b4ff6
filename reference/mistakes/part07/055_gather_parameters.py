"""Wrong versions of step 055, one slip each."""

import torch

from kata.weights import LinearWeights


def tied_listed_twice(weights):
    """A tensor met twice is listed twice, and would be updated twice a step."""
    return [leaf for leaf in _leaves(weights) if leaf.requires_grad]


def tied_not_listed(weights):
    """A tensor met twice is not listed at all."""
    every = [leaf for leaf in _leaves(weights) if leaf.requires_grad]
    ids = [id(leaf) for leaf in every]
    return [leaf for leaf in every if ids.count(id(leaf)) == 1]


def equal_numbers_taken_for_one(weights):
    """Tensors of equal numbers are taken for one: of all fresh biases one is left."""
    found = []
    for leaf in _once(weights):
        if not any(torch.equal(leaf, other) for other in found):
            found.append(leaf)
    return found


def asked_by_in(weights):
    """`leaf in found` compares numbers, not tensors, and ends in an error."""
    found = []
    for leaf in _leaves(weights):
        if leaf.requires_grad and leaf not in found:
            found.append(leaf)
    return found


def frozen_listed_too(weights):
    """What takes no gradient is listed too."""
    return list({id(leaf): leaf for leaf in _leaves(weights)}.values())


def missing_bias_listed(weights):
    """A missing bias is listed as None."""

    def walk(part):
        if part is None or isinstance(part, torch.Tensor):
            return [part]
        return [leaf for inner in part for leaf in walk(inner)]

    return list(
        {id(leaf): leaf for leaf in walk(weights) if leaf is None or leaf.requires_grad}.values()
    )


def biases_forgotten(weights):
    """The biases of the projections are forgotten."""

    def walk(part):
        if isinstance(part, torch.Tensor):
            return [part]
        inner = (part.weight,) if isinstance(part, LinearWeights) else part
        return [leaf for each in inner or () for leaf in walk(each)]

    return list({id(leaf): leaf for leaf in walk(weights) if leaf.requires_grad}.values())


def norms_forgotten(weights):
    """The gains and biases of the norms are forgotten."""

    def walk(part):
        if isinstance(part, torch.Tensor):
            return [part]
        if hasattr(part, "gain"):
            return []
        return [leaf for each in part or () for leaf in walk(each)]

    return list({id(leaf): leaf for leaf in walk(weights) if leaf.requires_grad}.values())


def top_level_only(weights):
    """Only the top level is looked at: what lies deeper is not found."""
    return [part for part in weights if isinstance(part, torch.Tensor) and part.requires_grad]


def first_layers_only(weights):
    """Of each stack only the first layer is listed."""

    def walk(part):
        if isinstance(part, torch.Tensor):
            return [part]
        inner = part if part is None or hasattr(part, "_fields") else part[:1]
        return [leaf for each in inner or () for leaf in walk(each)]

    return list({id(leaf): leaf for leaf in walk(weights) if leaf.requires_grad}.values())


def copies(weights):
    """Copies are listed: the optimiser improves them, and the model stays as it was."""
    return [leaf.detach().clone().requires_grad_() for leaf in _once(weights)]


def detached(weights):
    """The tensors are detached: they share their numbers, but get no gradient."""
    return [leaf.detach() for leaf in _once(weights)]


def order_of_a_set(weights):
    """The order is that of a set: another one for every model."""
    return list(set(_once(weights)))


def a_tuple(weights):
    """The answer is a tuple, not a list."""
    return tuple(_once(weights))


def _once(weights):
    return list({id(leaf): leaf for leaf in _leaves(weights) if leaf.requires_grad}.values())


def _leaves(weights):
    if isinstance(weights, torch.Tensor):
        return [weights]
    return [leaf for part in weights or () for leaf in _leaves(part)]
