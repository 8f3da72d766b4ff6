"""From a failed case to what the learner reads."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from specs.harness.exam import Case, Exam
from specs.harness.failure import (
    BROKEN,
    NOT_STARTED,
    Red,
    Verdict,
    brief,
    labelled,
    plain,
    sentence_of,
)
from specs.harness.progress import GREEN
from specs.harness.source import Unreadable, read_source
from specs.harness.steps import House, Step

SHOWN_PRINTS = 8  # lines


def where_to_go(house: House, step: Step, package: Path, line: int | None) -> list[tuple[str, str]]:
    """What to read, edit and run next."""
    path = package / step.file
    shown = (
        path.relative_to(house.root).as_posix() if path.is_relative_to(house.root) else str(path)
    )
    return [
        ("lesson", f"pytest --lesson {step.number}"),
        ("edit", f"{shown}:{line}" if line else shown),
        ("again", f"pytest -k {step.tag}"),
    ]


def not_started(house: House, step: Step, package: Path) -> Verdict:
    """The verdict on a stub."""
    rows = where_to_go(house, step, package, line_in(package / step.file, step.name))
    heading = f"{step.tag} {step.name}: not started"
    return Verdict(step.number, NOT_STARTED, "", [heading, *labelled(rows)], "")


def broken(
    house: House, step: Step, package: Path, sentence: str, line: int | None = None
) -> Verdict:
    """The verdict on a file that cannot be run, or a run that did not come back."""
    rows = [("broken", sentence), *where_to_go(house, step, package, line)]
    heading = f"{step.tag} {step.name}: broken"
    return Verdict(step.number, BROKEN, "", [heading, *labelled(rows)], sentence)


def verdict_on(exam: Exam, case: Case, red: Red, looks_like: str | None) -> Verdict:
    """Tell a red case: the evidence, the slip if it is known, and where to go."""
    step, package = exam.step, exam.world.package
    if red.state == NOT_STARTED and step.tag in red.sentence:
        return not_started(exam.house, step, package)
    if exam.world.broken is not None:
        found = exam.line_of(exam.world.broken)
        return broken(exam.house, step, package, red.sentence, found[1] if found else None)
    title = sentence_of(case.name)
    rows = [(red.state, red.sentence)] if red.sentence else []
    rows += [("at" if label == "line" else label, text) for label, text in red.rows]
    line = exam.line_of(red)
    if line is not None and "at" not in dict(rows):
        rows.append(("at", quoted(*line, exam.house)))
    if looks_like:
        rows.append(("looks like", looks_like))
    rule = " ".join((case.function.__doc__ or "").split())
    if rule and red.state != BROKEN:
        rows.append(("rule", rule))
    rows += where_to_go(exam.house, step, package, exam.defined_at())
    heading = f"{step.tag} {step.name}: {title}"
    told = f"{title}: {brief(red)}"
    return Verdict(step.number, red.state, title, [heading, *labelled(rows)], told)


def with_prints(verdict: Verdict, printed: str) -> Verdict:
    """Add to a verdict what the learner's code printed on the way, or the beginning of it."""
    lines = [plain(line) for line in printed.splitlines() if line.strip()]
    if not lines or verdict.state == GREEN:
        return verdict
    more = len(lines) - SHOWN_PRINTS
    rest = [f"… and {more} lines more: pytest -s shows all"] if more > 0 else []
    labels = ["printed", *[""] * SHOWN_PRINTS]
    rows = list(zip(labels, [*lines[:SHOWN_PRINTS], *rest], strict=False))
    told = verdict.lines
    place = next((at for at, line in enumerate(told) if line.startswith("  lesson ")), len(told))
    return replace(verdict, lines=[*told[:place], *labelled(rows), *told[place:]])


def quoted(path: Path, line: int, house: House) -> str:
    """A line of code with its place."""
    try:
        code = path.read_text("utf-8", errors="replace").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        code = ""
    shown = (
        path.relative_to(house.root).as_posix() if path.is_relative_to(house.root) else str(path)
    )
    return f"{shown}:{line}  {code}".rstrip()


def line_in(path: Path, name: str) -> int | None:
    """The line on which a function stands in a file that can be read."""
    try:
        tree = read_source(path).tree
    except Unreadable:
        return None
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    lines = [node.lineno for node in tree.body if isinstance(node, functions) and node.name == name]
    return lines[-1] if lines else None
