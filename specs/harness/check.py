"""The assertions that specs make: every comparison shows both sides where they differ.

Nothing here imports torch by itself, so that steps without tensors stay quick.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from specs.harness.failure import Red, in_one_line, message_of
from specs.harness.values import (
    HOLDS_ITSELF,
    holds_itself,
    is_tensor,
    kind_of,
    leaves,
    parts,
    plain_type,
    show,
    tensors,
)

SHOWN_WHOLE = 16  # values; of more, only the first that differs is shown
LONGEST = 200  # letters of one side

# By the answer's dtype: a few units in its last place, summed over a spec's few values.
TOLERANCE = {
    "float64": (1e-10, 1e-12),
    "float32": (1e-5, 1e-6),
    "float16": (2e-3, 2e-3),  # 11 bits
    "bfloat16": (1.6e-2, 1.6e-2),  # 8 bits
}

last_answer: list[Any] = []  # what the function under test gave last, for `rejects` to show


def assert_close(
    answer: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Assert that floats agree within the answer's precision, and all else exactly.

    NaN agrees with NaN only. A list may stand for a tuple, and 3.0 for 3, but not 3 for 3.0.
    """
    _compare(answer, expected, _Close(rtol, atol))


def assert_equal(answer: Any, expected: Any) -> None:
    """Assert that two values are the same, in type and every entry.

    In a dict an entry's place means nothing.
    """
    _compare(answer, expected, _Equal())


@contextmanager
def rejects(error: type[Exception], naming: object = ()) -> Iterator[None]:
    """Assert that the block raises ``error`` with a message that names the offending values."""
    names = naming if isinstance(naming, tuple) else (naming,)
    wanted = error.__name__ + "".join(f", naming {name}" for name in names)
    last_answer.clear()
    try:
        yield
    except Red:
        raise
    except error as raised:
        if not all(_names(message_of(raised), name) for name in names):
            rows = [("yours", in_one_line(raised)), ("expected", wanted)]
            sentence = "The error does not say what was wrong."
            raise Red("message", sentence, rows=rows, yours=in_one_line(raised)) from None
    except Exception as raised:
        message = f"raised {in_one_line(raised)}"
        rows = [("yours", message), ("expected", f"raise {wanted}")]
        raise Red("error", rows=rows, yours=message) from raised
    else:
        answer = last_answer[-1] if last_answer else None
        rows = [("yours", f"returned {_short(answer)}"), ("expected", f"raise {wanted}")]
        raise Red("no error", rows=rows, yours=answer)


def _names(message: str, name: object) -> bool:
    """Say whether a message names a value; a number must stand alone: 13 and 3.5 do not name 3."""
    if isinstance(name, (int, float)):
        return re.search(rf"(?<!\d)(?<!\d\.){re.escape(str(name))}(?!\.?\d)", message) is not None
    return str(name) in message


def _short(answer: Any, digits: int = 4) -> str:
    text = show(answer, digits)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


class _Rule(Protocol):
    """When two leaves count as the same."""

    strict: bool  # whether a list may not stand for a tuple, nor 3.0 for 3

    def numbers(self, mine: float, wanted: float) -> bool:
        """Compare two numbers."""

    def tensors(self, mine: Any, wanted: Any) -> Any:
        """Compare two tensors of one shape, place by place."""


@dataclass
class _Close:
    rtol: float | None
    atol: float | None
    strict = False

    def _tolerance(self, dtype: str) -> tuple[float, float]:
        rtol, atol = TOLERANCE.get(dtype, (0.0, 0.0))
        return rtol if self.rtol is None else self.rtol, atol if self.atol is None else self.atol

    def numbers(self, mine: float, wanted: float) -> bool:
        if mine == wanted or (mine != mine and wanted != wanted):
            return True
        if isinstance(mine, int) or not math.isfinite(wanted):
            return False
        rtol, atol = self._tolerance("float64")
        return abs(mine - wanted) <= atol + rtol * abs(wanted)

    def tensors(self, mine: Any, wanted: Any) -> Any:
        torch = sys.modules["torch"]
        if not mine.is_floating_point():
            return mine == wanted
        rtol, atol = self._tolerance(str(mine.dtype).removeprefix("torch."))
        return torch.isclose(mine.double(), wanted.double(), rtol=rtol, atol=atol, equal_nan=True)


class _Equal:
    strict = True

    def numbers(self, mine: float, wanted: float) -> bool:
        return mine == wanted or (mine != mine and wanted != wanted)

    def tensors(self, mine: Any, wanted: Any) -> Any:
        return (mine == wanted) | ((mine != mine) & (wanted != wanted))


@dataclass
class _Parted(Exception):  # where two values part company
    path: str
    mine: Any
    wanted: Any
    how: str = ""  # where seeing both does not say it
    kind: str = "values"
    rows: list[tuple[str, str]] = field(default_factory=list)  # of a tensor


def _compare(answer: Any, expected: Any, rule: _Rule) -> None:
    if holds_itself(answer):
        raise Red("values", HOLDS_ITSELF, yours=HOLDS_ITSELF)
    try:
        _walk(answer, expected, rule, "")
    except _Parted as parted:
        where = [("where", parted.path.removeprefix("."))] if parted.path else []
        rows = [*parted.rows, *where] if parted.rows else _rows(answer, expected, parted)
        raise Red(parted.kind, rows=rows, yours=answer) from None


def _walk(mine: Any, wanted: Any, rule: _Rule, path: str) -> None:
    """Compare two values part by part, and raise where they part."""
    if is_tensor(mine):
        _walk_tensor(mine, wanted, rule, path)
        return
    if not _same_type(mine, wanted, rule.strict):
        raise _Parted(path, mine, wanted, f"{kind_of(mine)}, not {kind_of(wanted)}")
    ours, theirs = parts(mine), parts(wanted) or []
    if ours is None:
        number = isinstance(wanted, (int, float))
        if not (rule.numbers(mine, wanted) if number else mine == wanted):
            raise _Parted(path, mine, wanted)
    elif isinstance(wanted, dict):
        _walk_dict(mine, wanted, rule, path)
    else:
        for (way, part), (_, model) in zip(ours, theirs, strict=False):
            _walk(part, model, rule, path + way)
        if len(ours) != len(theirs):
            raise _Parted(path, mine, wanted, f"{len(ours)} entries, not {len(theirs)}")


def _same_type(mine: Any, wanted: Any, strict: bool) -> bool:
    if plain_type(mine) is plain_type(wanted):
        return True
    both = (mine, wanted)
    rows = all(isinstance(side, (list, tuple)) for side in both)
    return not strict and (rows or (isinstance(mine, float) and type(wanted) is int))


def _walk_dict(mine: Any, wanted: Any, rule: _Rule, path: str) -> None:
    for key, model in wanted.items():
        if key not in mine:
            raise _Parted(path, mine, wanted, f"{key!r} is missing")
        _walk(mine[key], model, rule, f"{path}[{key!r}]")
    for key in mine:
        if key not in wanted:
            raise _Parted(path, mine, wanted, f"{key!r} is one too many")
    own = {key: key for key in mine}
    for model in wanted:
        if type(own[model]) is not type(model):  # 1, 1.0 and True find the same entry
            ours, theirs = kind_of(own[model]), kind_of(model)
            raise _Parted(path, mine, wanted, f"a key is {ours}, not {theirs}")


def _rows(answer: Any, expected: Any, parted: _Parted) -> list[tuple[str, str]]:
    """Show both sides, of long ones only the parts that differ, and say where."""
    whole = max(_size(answer), _size(expected)) <= SHOWN_WHOLE
    mine, wanted = (answer, expected) if whole else (parted.mine, parted.wanted)
    digits = _digits(parted.mine, parted.wanted)
    at = f" at {parted.path.removeprefix('.')}" if parted.path else ""
    ours, theirs = _short(mine, digits), _short(wanted, digits)
    rows = [("yours", ours if whole else ours + at), ("expected", theirs)]
    told = ": ".join(filter(None, [f"first{at}" if at and whole else "", parted.how]))
    return rows + ([("differ", told)] if told else [])


def _size(value: Any) -> int:
    return sum(leaf.numel() if is_tensor(leaf) else 1 for _, leaf in leaves(value))


def _digits(mine: Any, wanted: Any) -> int:
    """How many digits it takes to see a difference."""
    enough = (digits for digits in (4, 6, 9) if show(mine, digits) != show(wanted, digits))
    return next(enough, 17)


def _family(tensor: Any) -> str:
    """Which kind of numbers a tensor holds: ``bool``, ``int``, ``float`` or ``complex``."""
    name = str(tensor.dtype).removeprefix("torch.")
    return "float" if tensor.is_floating_point() else name.strip("u0123456789")


def _walk_tensor(mine: Any, wanted: Any, rule: _Rule, path: str) -> None:
    if not is_tensor(wanted) and tensors(wanted):
        raise _Parted(path, mine, wanted, f"{kind_of(mine)}, not {kind_of(wanted)}")
    model = wanted.detach() if is_tensor(wanted) else _as_tensor(wanted, mine, rule)
    mine = mine.detach().to_dense()  # a gradient may be sparse
    if mine.shape != model.shape:
        ours, theirs = tuple(mine.shape), tuple(model.shape)
        rows = [("yours", f"shape {ours}"), ("expected", f"shape {theirs}")]
        raise _Parted(path, mine, model, kind="shape", rows=rows)
    if not _same_dtype(mine, model, rule.strict, is_tensor(wanted)):
        rows = [("yours", str(mine.dtype)), ("expected", str(model.dtype))]
        raise _Parted(path, mine, model, kind="dtype", rows=rows)
    if mine.is_meta or model.is_meta:
        if mine.is_meta != model.is_meta:
            rows = [("yours", f"on {mine.device}"), ("expected", f"on {model.device}")]
            raise _Parted(path, mine, model, kind="device", rows=rows)
        return  # they have no numbers to compare
    differs = ~rule.tensors(mine, model)
    if differs.any():
        raise _Parted(path, mine, model, rows=_tensor_rows(differs, mine, model))


def _same_dtype(mine: Any, model: Any, strict: bool, exact: bool) -> bool:
    """Nested lists and close comparisons ask for the kind of number only."""
    if strict and exact:
        return bool(mine.dtype == model.dtype)
    ours, theirs = _family(mine), _family(model)
    lenient = not strict and (ours, theirs) == ("float", "int")
    return ours == theirs or lenient or not (exact or mine.numel())  # [] has no kind


def _as_tensor(wanted: Any, mine: Any, rule: _Rule) -> Any:
    """What is expected as nested lists, as a tensor; floats as precise as it takes."""
    torch = sys.modules["torch"]
    model = torch.tensor(wanted)
    if not model.is_floating_point():
        return model
    exact = rule.strict and mine.is_floating_point()
    return torch.tensor(wanted, dtype=mine.dtype if exact else torch.float64)


def _tensor_rows(differs: Any, mine: Any, wanted: Any) -> list[tuple[str, str]]:
    place = tuple(differs.nonzero()[0].tolist())  # () for a single number
    digits = _digits(mine[place], wanted[place])
    whole = mine.numel() <= SHOWN_WHOLE
    sides = (mine, wanted) if whole else (mine[place], wanted[place])
    ours, theirs = (show(side, digits) for side in sides)
    at = f" at {list(place)}"
    rows = [("yours", ours if whole else ours + at), ("expected", theirs)]
    if mine.numel() > 1:
        rows.append(("differ", f"{int(differs.sum())} of {mine.numel()} values, the first{at}"))
    return rows
