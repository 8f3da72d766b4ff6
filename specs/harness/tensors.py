"""The tensors inside a value: what a step takes or gives, however deep it is nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from torch import Tensor


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
    find = _container(type(value))  # type: ignore[arg-type]  # a type can be hashed
    return [] if find is None else find(value)


@cache
def _container(kind: type) -> Callable[[Any], list[object]] | None:
    """How to find what a container of this type holds; None for anything else."""
    if issubclass(kind, (tuple, list)):
        return list
    if issubclass(kind, Mapping):
        return lambda value: list(value.values())
    if is_dataclass(kind):
        return lambda value: [getattr(value, field.name, None) for field in fields(value)]
    return None
