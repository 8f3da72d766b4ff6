"""The tensors inside a value: what a step takes or gives, however deep it is nested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor

from specs.harness.values import parts


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield every tensor in nested sequences, mappings and dataclasses, in order.

    With a stack instead of recursion, and each container once: an answer may hold itself.
    """
    if isinstance(value, Tensor):
        yield value
        return
    waiting, seen = [value], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            yield value
            continue
        children = _children(value)
        if children and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(reversed(children))


def _children(value: object) -> list[object]:
    """What a container holds; nothing for anything else."""
    if isinstance(value, (tuple, list)):  # without the ways that `parts` tells
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    return [part for _, part in parts(value) or ()]
