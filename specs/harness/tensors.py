"""The tensors inside a value: what a step takes or gives, however deep it is nested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from torch import Tensor


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield every tensor in nested sequences, mappings and dataclasses, in order.

    With a stack instead of recursion, and each container once: an answer may hold itself.
    """
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
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in fields(value)]
    return []
