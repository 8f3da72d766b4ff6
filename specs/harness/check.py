"""The assertions that specs make: every comparison shows both sides where they differ.

Nothing here imports torch by itself, so that steps without tensors stay quick.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from specs.harness.failure import Red
from specs.harness.values import is_tensor, show

SHOWN_WHOLE = 16  # values; of more, only the first that differs is shown

# By the answer's dtype: a few units in its last place, summed over the few values a spec works with.
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
    """Assert that numbers agree within the answer's precision; NaN agrees only with NaN."""
    if is_tensor(answer) or is_tensor(expected):
        _assert_tensor_close(answer, expected, rtol, atol)
        return
    if isinstance(answer, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(answer) != len(expected):
            raise _difference(answer, expected, f"{len(answer)} entries, not {len(expected)}")
        for mine, wanted in zip(answer, expected, strict=True):
            assert_close(mine, wanted, rtol=rtol, atol=atol)
        return
    default_rtol, default_atol = TOLERANCE["float64"]
    if not _is_number(answer) or not _numbers_close(
        answer,
        expected,
        default_rtol if rtol is None else rtol,
        default_atol if atol is None else atol,
    ):
        raise _difference(answer, expected, None)


def assert_equal(answer: Any, expected: Any) -> None:
    """Assert that two values are the same, in type, order and every entry."""
    if is_tensor(answer) or is_tensor(expected):
        _assert_tensor_equal(answer, expected)
        return
    place = _first_difference(answer, expected)
    if place is not None:
        raise _difference(answer, expected, place or None)


@contextmanager
def rejects(error: type[Exception], naming: object = ()) -> Iterator[None]:
    """Assert that the block raises ``error`` with a message that names the offending values."""
    names = naming if isinstance(naming, tuple) else (naming,)
    wanted = error.__name__ + "".join(f", naming {name}" for name in names)
    last_answer.clear()
    try:
        yield
    except error as raised:
        missing = [str(name) for name in names if str(name) not in str(raised)]
        if missing:
            message = f"{type(raised).__name__}: {raised}"
            raise Red(
                "message",
                "The error does not say what was wrong.",
                rows=[("yours", message), ("expected", wanted)],
                yours=message,
            ) from None
    except Red:
        raise
    except Exception as raised:
        message = f"raised {type(raised).__name__}: {_first_line(raised)}"
        raise Red(
            "error", rows=[("yours", message), ("expected", f"raise {wanted}")], yours=message
        ) from raised
    else:
        answer = last_answer[-1] if last_answer else None
        raise Red(
            "no error",
            rows=[("yours", f"returned {_short(answer)}"), ("expected", f"raise {wanted}")],
            yours=answer,
        )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]


def _short(answer: Any) -> str:
    text = show(answer)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers_close(answer: float, expected: float, rtol: float, atol: float) -> bool:
    if math.isnan(answer) or math.isnan(expected):
        return math.isnan(answer) and math.isnan(expected)
    return answer == expected or abs(answer - expected) <= atol + rtol * abs(expected)


def _first_difference(answer: Any, expected: Any, path: str = "") -> str | None:
    """Say where two plain values part: None where they do not, "" for the values themselves."""
    if type(answer) is not type(expected):
        return path or f"a {type(answer).__name__}, not a {type(expected).__name__}"
    if isinstance(expected, dict):
        return _first_difference(list(answer.items()), list(expected.items()), path)
    if isinstance(expected, (list, tuple)):
        for index, (mine, wanted) in enumerate(zip(answer, expected, strict=False)):
            inner = _first_difference(mine, wanted, f"{path}[{index}]")
            if inner is not None:
                return inner
        if len(answer) != len(expected):
            return f"{len(answer)} entries, not {len(expected)}" + (f", at {path}" if path else "")
        return None
    return None if answer == expected or answer is expected else path


def _difference(answer: Any, expected: Any, place: str | None) -> Red:
    mine, wanted = _tell_apart(answer, expected)
    rows = [("yours", mine), ("expected", wanted)]
    if place:
        rows.append(("differ", f"first at {place}" if place.startswith("[") else place))
    return Red("values", rows=rows, yours=answer)


def _tell_apart(answer: Any, expected: Any) -> tuple[str, str]:
    """Show both with as many digits as it takes to see a difference."""
    for digits in (4, 6, 9, 17):
        mine, wanted = show(answer, digits), show(expected, digits)
        if mine != wanted:
            break
    if mine == wanted and type(answer) is not type(expected):
        return f"{mine} ({type(answer).__name__})", f"{wanted} ({type(expected).__name__})"
    return mine, wanted


def _sides(answer: Any, expected: Any, dtype: Any) -> Any:
    """Return what is expected as a tensor; an answer that is none is wrong already."""
    if not is_tensor(answer):
        raise _difference(answer, expected, f"a {type(answer).__name__}, not a tensor")
    if is_tensor(expected):
        return expected.detach()
    return sys.modules["torch"].tensor(expected, dtype=dtype)


def _same_shape(answer: Any, expected: Any) -> None:
    if answer.shape != expected.shape:
        mine, wanted = tuple(answer.shape), tuple(expected.shape)
        raise Red(
            "shape",
            rows=[("yours", f"shape {mine}"), ("expected", f"shape {wanted}")],
            yours=answer,
        )


def _assert_tensor_close(
    answer: Any, expected: Any, rtol: float | None, atol: float | None
) -> None:
    torch = sys.modules["torch"]
    expected = _sides(answer, expected, torch.float64)
    answer = answer.detach()
    _same_shape(answer, expected)
    name = str(answer.dtype).removeprefix("torch.")
    default_rtol, default_atol = TOLERANCE.get(name, (0.0, 0.0))
    close = torch.isclose(
        answer.double(),
        expected.double(),
        rtol=default_rtol if rtol is None else rtol,
        atol=default_atol if atol is None else atol,
        equal_nan=True,
    )
    _raise_where(~close, answer, expected)


def _assert_tensor_equal(answer: Any, expected: Any) -> None:
    expected = _sides(answer, expected, getattr(answer, "dtype", None))
    answer = answer.detach()
    _same_shape(answer, expected)
    if answer.dtype != expected.dtype:
        rows = [("yours", f"{answer.dtype}"), ("expected", f"{expected.dtype}")]
        raise Red("dtype", rows=rows, yours=answer)
    same = (answer == expected) | ((answer != answer) & (expected != expected))
    _raise_where(~same, answer, expected)


def _raise_where(differs: Any, answer: Any, expected: Any) -> None:
    torch = sys.modules["torch"]
    count = int(differs.sum())
    if not count:
        return
    first = tuple(torch.nonzero(differs)[0].tolist()) if differs.dim() else ()
    whole = answer.numel() <= SHOWN_WHOLE
    mine, wanted = _tell_apart(
        answer if whole else answer[first], expected if whole else expected[first]
    )
    at = f" at {list(first)}" if first else ""
    rows = [("yours", mine if whole else f"{mine}{at}"), ("expected", wanted)]
    if answer.numel() > 1:
        rows.append(("differ", f"{count} of {answer.numel()} values, the first{at}"))
    raise Red("values", rows=rows, yours=answer)
