"""What parts of some weights share memory, or have too little of it, told by their paths."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from specs.harness.values import is_tensor, leaves


def shared(weights: Any) -> list[str]:
    """The paths of tensors that lie where an earlier one lies."""
    places = [(path, leaf.untyped_storage().data_ptr()) for path, leaf in _named(weights)]
    first = {place: path for path, place in reversed(places)}
    return [path for path, place in places if first[place] != path]


def spread(weights: Any) -> list[str]:
    """The paths of tensors that hold more numbers than they have memory for."""
    return [
        path
        for path, leaf in _named(weights)
        if leaf.untyped_storage().nbytes() < leaf.numel() * leaf.element_size()
    ]


def computed(weights: Any) -> list[str]:
    """The paths of tensors that are no leaves of the graph: training does not reach them."""
    return [path for path, leaf in _named(weights) if not leaf.is_leaf]


def _named(weights: Any) -> list[tuple[str, Tensor]]:
    return [(path, leaf) for path, leaf in leaves(weights) if is_tensor(leaf)]
