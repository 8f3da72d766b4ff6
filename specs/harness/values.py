"""Nested values: walking, copying and naming the tensors inside tuples, lists and dicts.

Nothing here imports torch: where it was never loaded, there are no tensors to find.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

PLAIN = (int, float, complex, str, bytes, bool, type(None), range)


class NotCopyable(Exception):
    """A value, such as an iterator, that can be used only once."""


def is_tensor(value: object) -> bool:
    """Say whether the value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_generator(value: object) -> bool:
    """Say whether the value is a torch random generator."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Generator)


def rebuild(value: Any, change: Callable[[Any], Any], memo: dict[int, Any] | None = None) -> Any:
    """Copy a nested value, passing every leaf through ``change``; a leaf met twice stays one leaf."""
    memo = {} if memo is None else memo
    if isinstance(value, tuple):
        parts = [rebuild(part, change, memo) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        return [rebuild(part, change, memo) for part in value]
    if isinstance(value, dict):
        return {key: rebuild(part, change, memo) for key, part in value.items()}
    if id(value) not in memo:
        memo[id(value)] = change(value)
    return memo[id(value)]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of a nested value with its path: ``weights.query.bias``, ``[1]``."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        for name, part in zip(value._fields, value, strict=True):
            yield from leaves(part, f"{path}.{name}" if path else name)
    elif isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}[{key!r}]" if path else str(key))
    else:
        yield path, value


def tensors(value: Any) -> list[Any]:
    """List the tensors inside a nested value."""
    return [leaf for _, leaf in leaves(value) if is_tensor(leaf)]


def containers(value: Any) -> Iterator[Any]:
    """Yield the lists and dicts inside a nested value, the inner ones last."""
    if isinstance(value, (list, dict)):
        yield value
    if isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)


def copy(value: Any) -> Any:
    """Copy a nested value so deep that nothing done to the copy shows in the original."""
    return rebuild(value, _copy_leaf)


def _copy_leaf(leaf: Any) -> Any:
    if is_tensor(leaf):
        twin = leaf.detach().clone().requires_grad_(leaf.requires_grad)
        return twin if leaf.grad is None else _with_grad(twin, leaf.grad)
    if is_generator(leaf):
        return leaf.clone_state()
    if hasattr(leaf, "__next__"):
        raise NotCopyable(type(leaf).__name__)
    return leaf


def _with_grad(twin: Any, grad: Any) -> Any:
    twin.grad = grad.detach().clone()
    return twin


def show(value: Any, digits: int = 4) -> str:
    """Write a value as a person would: nested lists, few digits."""
    if is_tensor(value):
        return show(value.detach().cpu().tolist(), digits)
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        text = f"{value:.{digits}g}"
        return text if any(mark in text for mark in ".en") else f"{text}.0"
    if isinstance(value, list):
        return "[" + ", ".join(show(part, digits) for part in value) + "]"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        inside = ", ".join(show(part, digits) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v, digits)}" for k, v in value.items()) + "}"
    text = repr(value)
    return text if len(text) < 300 else f"{text[:297]}..."
