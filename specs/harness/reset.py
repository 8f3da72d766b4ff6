"""The stub back in its place: of one step, or of a whole part."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from specs.harness.kept import keep_copy, replace_file
from specs.harness.source import (
    Missing,
    Source,
    Unreadable,
    decode,
    parse_source,
    read_bytes,
    read_source,
)
from specs.harness.steps import House, Step, UserError
from specs.harness.stubs import make_stubs, stub_of
from specs.harness.surgery import Entangled, cut_by_lines, with_stub


def reset(
    house: House, asked: str, kata_dir: Path | None = None, when: datetime | None = None
) -> str:
    """Put back what was asked for (``22``, a step's name, ``part03``); return what to print."""
    kata = kata_dir or house.kata
    if not kata.is_dir():
        raise UserError(f"there is no folder {kata}: nothing to reset")
    if asked.startswith("part"):
        return _reset_part(house, house.find_part(asked), kata, when)
    return _reset_step(house, house.find(asked), kata, when)


def write_stubs(house: House, kata_dir: Path | None = None) -> str:
    """Put back every part."""
    return "\n".join(reset(house, part, kata_dir) for part in house.modules)


def _reset_part(house: House, part: str, kata: Path, when: datetime | None) -> str:
    """Make the part's whole module anew."""
    path = kata / f"{house.modules[part]}.py"
    steps = house.in_module(path.stem)
    fresh = make_stubs(_reference(house, path.name).text, steps).encode()
    name = _from(house, path)
    try:
        written = read_bytes(path)
    except Missing:
        replace_file(path, fresh)
        return f"{name} is made anew, with its {len(steps)} stubs"
    if written == fresh:
        return f"{name} holds its {len(steps)} stubs already: nothing was written"
    return _replaced(
        house, path, written, fresh, f"{name} holds its {len(steps)} stubs again", when
    )


def _reset_step(house: House, step: Step, kata: Path, when: datetime | None) -> str:
    """Put one step's stub back, and leave every other byte of its module alone."""
    path = kata / step.file
    try:
        written = read_bytes(path)
    except Missing:
        written = b""
    if not written.strip():
        return _reset_part(house, step.part, kata, when)
    try:
        text, encoding = decode(written, path)
    except Unreadable as slip:
        raise UserError(f"{slip}, or {_offer(step)}") from None
    fresh = _encoded(_with_stub(house, step, path, written, text), encoding)
    if fresh is None or _encoded(text, encoding) != written:
        told = f"{_from(house, path)} is {encoding}, in which it cannot be saved with the stub"
        raise UserError(f"{told}: save it as UTF-8, or {_offer(step)}")
    if fresh == written:
        return f"{step.tag} {step.name} is the stub already: nothing was written"
    return _replaced(house, path, written, fresh, f"{step.tag} {step.name} is the stub again", when)


def _with_stub(house: House, step: Step, path: Path, written: bytes, text: str) -> str:
    """The module's text with the step's stub in it."""
    stub = stub_of(_reference(house, step.file).text, step)
    order = [each.name for each in house.in_module(step.module)]
    try:
        return with_stub(parse_source(written, path), step.name, stub, order)
    except Unreadable as slip:
        cut = cut_by_lines(text, step.name, stub)
        if cut is None:
            raise UserError(f"{slip}; mend that, or {_offer(step)}") from None
        return cut
    except Entangled as knot:
        where = f"{_from(house, path)}:{knot.line}"
        told = f"{where}: {step.name} is bound together with something else"
        raise UserError(f"{told}; untie that, or {_offer(step)}") from None


def _reference(house: House, file: str) -> Source:
    return read_source(house.reference / file)


def _replaced(
    house: House, path: Path, old: bytes, fresh: bytes, said: str, when: datetime | None
) -> str:
    """Keep a copy of the old bytes, write the new ones, and tell where the copy lies."""
    copy = keep_copy(path, old, when)
    replace_file(path, fresh)
    return f"{said}\nwhat was written before is kept in {_from(house, copy)}"


def _offer(step: Step) -> str:
    return f"make the whole part anew: pytest --reset {step.part}"


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None


def _from(house: House, path: Path) -> str:
    """The path from the house's root, where it lies below."""
    return (path.relative_to(house.root) if path.is_relative_to(house.root) else path).as_posix()
