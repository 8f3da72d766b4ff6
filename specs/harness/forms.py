"""The form of an answer: types, dtypes, shapes by name, and whether a gradient can flow back."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from specs.harness.failure import Red
from specs.harness.values import is_tensor, leaves, tensors

SHAPE = re.compile(r"""\w+\[(?:torch\.)?Tensor,\s*["']([^"']*)["']\]""")

ELSEWHERE = "The result lies on another device than its inputs."


def shape_names(function: Callable[..., Any]) -> list[list[str]]:
    """Read the size names of each tensor that a function returns from its annotation."""
    annotation = str(getattr(function, "__annotations__", {}).get("return", ""))
    return [names.split() for names in SHAPE.findall(annotation)]


def assert_form(answer: Any, model: Any, names: list[list[str]]) -> None:
    """Assert that an answer has the form of the reference's answer to the same call."""
    _assert_structure(answer, model, "")
    queue = list(names)
    for (path, mine), (_, wanted) in zip(leaves(answer), leaves(model), strict=False):
        if is_tensor(wanted):
            sizes = queue.pop(0) if queue else []
            _assert_tensor_form(mine, wanted, sizes, f"result{path}" if path else "")


def _assert_structure(answer: Any, model: Any, path: str) -> None:
    if is_tensor(model):
        torch = sys.modules["torch"]
        fits = type(answer) in (torch.Tensor, torch.nn.Parameter)
    elif isinstance(model, (tuple, list)):
        plain_tuple = isinstance(model, tuple) and not hasattr(model, "_fields")
        fits = isinstance(answer, (tuple, list)) if plain_tuple else type(answer) is type(model)
    else:
        fits = type(answer) is type(model)
    if not fits:
        raise _form("type", _kind(answer), _kind(model), path, answer)
    if isinstance(model, (tuple, list)):
        holds_tensors = bool(tensors(model))  # the length of other lists is the spec's to compare
        if len(answer) != len(model) and (isinstance(model, tuple) or holds_tensors):
            raise _form("type", f"{len(answer)} results", f"{len(model)} results", path, answer)
        for index, (mine, wanted) in enumerate(zip(answer, model, strict=False)):
            _assert_structure(mine, wanted, f"{path}[{index}]")


def _kind(value: Any) -> str:
    name = type(value).__name__
    if value is None:
        return "None: is a `return` missing?"
    if is_tensor(value):
        return "a tensor" if name in ("Tensor", "Parameter") else f"a {name}, not a plain tensor"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _form(kind: str, mine: str, wanted: str, path: str, answer: Any, sentence: str = "") -> Red:
    rows = [("yours", mine), ("expected", wanted)]
    if path:
        rows.append(("where", path if path.startswith("result") else f"result{path}"))
    return Red(kind, sentence, rows=rows, yours=answer)


def _assert_tensor_form(answer: Any, model: Any, names: list[str], path: str) -> None:
    if answer.shape != model.shape:
        label = f"({' '.join(names)}) = ".replace("...", "…") if names else "shape "
        mine, wanted = tuple(answer.shape), tuple(model.shape)
        raise _form("shape", f"shape {mine}", f"{label}{wanted}", path, answer)
    if answer.dtype != model.dtype:
        raise _form("dtype", str(answer.dtype), str(model.dtype), path, answer)
    if answer.device != model.device:
        mine, wanted = f"on {answer.device}", f"on {model.device}"
        raise _form("device", mine, wanted, path, answer, ELSEWHERE)
    if answer.requires_grad != model.requires_grad:
        sentence = (
            "The result is cut off from its inputs: no gradient flows back."
            if model.requires_grad
            else "The result asks for a gradient that nothing needs."
        )
        mine, wanted = (
            f"requires_grad {answer.requires_grad}",
            f"requires_grad {model.requires_grad}",
        )
        raise _form("gradient", mine, wanted, path, answer, sentence)
