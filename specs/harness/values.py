"""Nested values: walking, copying and naming what is inside tuples, lists, dicts and dataclasses.

Nothing here imports torch: where it was never loaded, there are no tensors to find.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import copy as shallow_copy
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

DEEPEST = 64  # what is nested deeper counts as one leaf
HOLDS_ITSELF = "The result holds itself, or is nested without end."


class NotCopyable(Exception):  # a fact about a value, not a mistake
    """A value, such as an iterator, that can be used only once."""


def is_tensor(value: object) -> bool:
    """Say whether the value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_generator(value: object) -> bool:
    """Say whether the value is a torch random generator."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Generator)


def plain_type(value: object) -> type:
    """A value's type; an ``OrderedDict`` counts as a dict, which keeps its order too."""
    return dict if type(value) is OrderedDict else type(value)


def kind_of(value: object) -> str:
    """Name a value's type with its article: ``an int``, ``a list``, ``None``."""
    name = type(value).__name__
    if value is None:
        return "None"
    if is_tensor(value):
        return "a tensor" if name in ("Tensor", "Parameter") else f"a {name}, not a plain tensor"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def parts(value: Any) -> list[tuple[str, Any]] | None:
    """What a container holds, and the way: ``[0]``, ``['key']``, ``.field``; None for a leaf."""
    find = _container(type(value))  # type: ignore[arg-type]  # a type can be hashed
    return None if find is None else find(value)


@cache  # asked of every tensor of every call; a type is what it is
def _container(kind: type) -> Callable[[Any], list[tuple[str, Any]]] | None:
    """How to find the parts of what is of this type; None for a leaf."""
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _of_named_tuple
    if issubclass(kind, (tuple, list)):
        return lambda value: [(f"[{index}]", part) for index, part in enumerate(value)]
    if issubclass(kind, dict):
        return lambda value: [(f"[{key!r}]", part) for key, part in value.items()]
    if is_dataclass(kind):
        return lambda value: [(f".{name}", getattr(value, name, None)) for name in _names(value)]
    return None


def _of_named_tuple(value: Any) -> list[tuple[str, Any]]:
    return [(f".{name}", part) for name, part in zip(value._fields, value, strict=True)]


def _names(value: Any) -> list[str]:
    return [field.name for field in fields(value)]


def rebuild(value: Any, change: Callable[[Any], Any], memo: dict[int, Any] | None = None) -> Any:
    """Copy a nested value, its leaves passed through ``change``; a part met twice stays one."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    inside = parts(value)
    if inside is None:
        memo[id(value)] = change(value)
    elif isinstance(value, tuple):
        twins = [rebuild(part, change, memo) for _, part in inside]
        named = hasattr(value, "_fields")
        memo[id(value)] = type(value)(*twins) if named else type(value)(twins)
    else:
        memo[id(value)] = twin = shallow_copy(value)  # before it is filled: it may hold itself
        refill(twin, value, lambda part: rebuild(part, change, memo))
    return memo[id(value)]


def refill(container: Any, source: Any, change: Callable[[Any], Any] = lambda part: part) -> None:
    """Give a list, set, dict or dataclass what another one of its kind holds."""
    if isinstance(container, list):
        container[:] = [change(part) for part in source]
    elif isinstance(container, (dict, set)):
        named = isinstance(source, dict)
        held = {key: change(part) for key, part in source.items()} if named else set(source)
        container.clear()
        container.update(held)
    else:
        for name in _names(source):
            object.__setattr__(container, name, change(getattr(source, name, None)))


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """List every leaf of a nested value with its path: ``weights.query.bias``, ``[1]``.

    A container that holds itself is a leaf where it comes round again.
    """
    found: list[tuple[str, Any]] = []
    _gather(value, path, (), found)
    return found


def _gather(value: Any, path: str, above: tuple[int, ...], found: list[tuple[str, Any]]) -> None:
    inside = parts(value)
    if inside is None or id(value) in above or len(above) == DEEPEST:
        found.append((path, value))
        return
    above = (*above, id(value))
    for way, part in inside:
        here = path + way
        if not path:  # names at the top
            here = way.removeprefix(".").removeprefix("['").removesuffix("']")
        _gather(part, here, above, found)


def holds_itself(value: Any) -> bool:
    """Say whether a value contains itself, or is nested without end."""
    return any(parts(leaf) is not None for _, leaf in leaves(value))


def tensors(value: Any) -> list[Any]:
    """List the tensors inside a nested value."""
    return [leaf for _, leaf in leaves(value) if is_tensor(leaf)]


def containers(value: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yield the lists, sets, dicts and dataclasses inside a nested value, the inner ones last."""
    seen = set() if seen is None else seen
    inside = parts(value)
    if id(value) in seen or (inside is None and not isinstance(value, set)):
        return
    seen.add(id(value))
    if not isinstance(value, tuple):
        yield value
    for _, part in inside or ():
        yield from containers(part, seen)


def copy(value: Any) -> Any:
    """Copy a nested value so deep that nothing done to the copy shows in the original."""
    return rebuild(value, _copy_leaf)


def _copy_leaf(leaf: Any) -> Any:
    if is_tensor(leaf):
        twin = leaf.detach().clone().requires_grad_(leaf.requires_grad)
        grad = gradient_of(leaf)
        twin.grad = None if grad is None else grad.detach().clone()
        return twin
    if is_generator(leaf):
        return leaf.clone_state()
    if hasattr(leaf, "__next__"):
        raise NotCopyable(type(leaf).__name__)
    return shallow_copy(leaf) if isinstance(leaf, set) else leaf


def gradient_of(tensor: Any) -> Any:
    """The gradient that a tensor has gathered; asking a tensor that gathers none would warn."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def same_bits(one: Any, other: Any) -> bool:
    """Say whether two tensors of one form hold the same bits; those without values do."""
    torch = sys.modules["torch"]
    if one.is_meta or torch.equal(one, other):
        return True
    # NaN differs from itself: compare the bytes.
    both = (side.contiguous().reshape(-1).view(torch.uint8) for side in (one, other))
    return one.dtype == other.dtype and bool(torch.equal(*both))


def show(value: Any, digits: int = 4, above: tuple[int, ...] = ()) -> str:
    """Write a value as a person would: nested lists, few digits, one line."""
    if is_tensor(value) and value.is_meta:
        return f"{tuple(value.shape)} on meta"
    if is_tensor(value):
        return show(value.detach().cpu().tolist(), digits)
    if isinstance(value, float):
        text = f"{value or 0.0:.{digits}g}"  # −0 is 0
        return text if any(mark in text for mark in ".en") else f"{text}.0"
    inside = parts(value)
    if inside is None:
        text = repr(value)
        text = " ".join(text.split()) if "\n" in text else text
        return text if len(text) < 300 else f"{text[:297]}..."
    if id(value) in above or len(above) == DEEPEST:
        return "..."
    told = [show(part, digits, (*above, id(value))) for _, part in inside]
    if isinstance(value, dict):
        entries = (f"{show(key)}: {text}" for key, text in zip(value, told, strict=True))
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(told)}]"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({told[0]},)" if len(told) == 1 else f"({', '.join(told)})"
    named = (f"{way[1:]}={text}" for (way, _), text in zip(inside, told, strict=True))
    return f"{type(value).__name__}({', '.join(named)})"
