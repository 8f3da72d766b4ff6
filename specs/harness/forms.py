"""The form of an answer: types, dtypes, shapes by name, and whether a gradient can flow back."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from specs.harness.failure import Red
from specs.harness.values import (
    HOLDS_ITSELF,
    holds_itself,
    is_tensor,
    kind_of,
    parts,
    plain_type,
    tensors,
)

SHAPE = re.compile(r"""\w+\[(?:torch\.)?Tensor,\s*["']([^"']*)["']\]""")

ELSEWHERE = "The result lies on another device than its inputs."
CUT_OFF = "The result is cut off from its inputs: no gradient flows back."
ASKS = "The result asks for a gradient that nothing needs."


def shape_names(function: Callable[..., Any]) -> list[list[str]]:
    """Read the size names of each tensor that a function returns from its annotation."""
    annotation = str(getattr(function, "__annotations__", {}).get("return", ""))
    return [names.split() for names in SHAPE.findall(annotation)]


def assert_form(answer: Any, model: Any, names: list[list[str]], gradients: bool = True) -> None:
    """Assert that an answer has the form of the reference's answer to the same call.

    Without ``gradients`` it may be cut off from its inputs.
    """
    if holds_itself(answer):
        raise Red("type", HOLDS_ITSELF, yours=HOLDS_ITSELF)
    queue = list(names)
    for path, mine, wanted in list(_tensor_pairs(answer, model, "result")):
        sizes = queue.pop(0) if queue else []
        _assert_tensor_form(mine, wanted, sizes, path)
        if gradients:
            _assert_graph(mine, wanted, path)


def _tensor_pairs(answer: Any, model: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Go through both at once: types must fit, and tensors that stand for each other come out."""
    if not _fits(answer, model):
        missing = ": is a `return` missing?" if answer is None else ""
        raise _form("type", kind_of(answer) + missing, kind_of(model), path, answer)
    if is_tensor(model):
        yield path, answer, model
    elif isinstance(model, dict):
        if tensors(model) and answer.keys() != model.keys():
            raise _form("type", f"keys {[*answer]}", f"keys {[*model]}", path, answer)
        for key in answer.keys() & model.keys():
            yield from _tensor_pairs(answer[key], model[key], f"{path}[{key!r}]")
    elif (inside := parts(model)) is not None:
        own = [part for _, part in parts(answer) or ()]
        results = path == "result" and not isinstance(model, list)
        exact = results or tensors(model)  # how many words there are is the spec's to compare
        if exact and len(own) != len(inside):
            mine, wanted = (f"{len(side)} result{'s'[: len(side) != 1]}" for side in (own, inside))
            raise _form("type", mine, wanted, path, answer)
        for mine, (way, wanted) in zip(own, inside, strict=False):
            yield from _tensor_pairs(mine, wanted, path + way)


def _fits(answer: Any, model: Any) -> bool:
    """Whether the types fit: any list or tuple stands for a plain tuple."""
    if is_tensor(model):
        torch = sys.modules["torch"]
        return type(answer) in (torch.Tensor, torch.nn.Parameter)
    if isinstance(model, tuple) and not hasattr(model, "_fields"):
        return isinstance(answer, (tuple, list))
    return plain_type(answer) is plain_type(model)


def _form(kind: str, mine: str, wanted: str, path: str, answer: Any, sentence: str = "") -> Red:
    rows = [("yours", mine), ("expected", wanted)]
    if path != "result":
        rows.append(("where", path))
    return Red(kind, sentence, rows=rows, yours=answer)


def _assert_tensor_form(answer: Any, model: Any, names: list[str], path: str) -> None:
    if answer.shape != model.shape:
        label = f"({' '.join(names)}) = ".replace("...", "…") if names else "shape "
        mine, wanted = f"shape {tuple(answer.shape)}", f"{label}{tuple(model.shape)}"
        raise _form("shape", mine, wanted, path, answer)
    for kind in ("dtype", "layout"):
        mine, wanted = str(getattr(answer, kind)), str(getattr(model, kind))
        if mine != wanted:
            raise _form(kind, mine, wanted, path, answer)
    if answer.device != model.device:
        mine, wanted = f"on {answer.device}", f"on {model.device}"
        raise _form("device", mine, wanted, path, answer, ELSEWHERE)


def _assert_graph(answer: Any, model: Any, path: str) -> None:
    if answer.requires_grad != model.requires_grad:
        mine, wanted = (f"requires_grad {side.requires_grad}" for side in (answer, model))
        raise _form(
            "gradient", mine, wanted, path, answer, CUT_OFF if model.requires_grad else ASKS
        )
