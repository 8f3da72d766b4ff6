"""A lesson: its parts, how it reads in a terminal, and its hints, one at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from specs.harness.ink import paint
from specs.harness.markdown import FENCE, render
from specs.harness.source import Unreadable, decode, read_bytes, shown
from specs.harness.steps import Step

SECTIONS = (
    "Intuition",
    "Concepts",
    "Mathematics",
    "Implementation",
    "Tests",
    "Mistakes",
    "Checkpoint",
)
DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>\s*", re.DOTALL)
TITLE = re.compile(r"# (\d{3}) · (\w+)")


@dataclass(frozen=True)
class Lesson:
    """What a lesson's file holds; the sections' texts without what is folded away."""

    path: Path
    tag: str
    title: str
    meta: str
    sections: dict[str, str]
    hints: tuple[str, ...]
    answer: str


def read_lesson(step: Step) -> Lesson:
    """Read a step's lesson, or say in one line what is wrong with it."""
    text, _ = decode(read_bytes(step.lesson), step.lesson)
    return parse_lesson(text.replace("\r\n", "\n"), step.lesson)


def parse_lesson(text: str, path: Path) -> Lesson:
    """Take a lesson's text apart."""
    opening, texts = _split(text, path)
    lines = [line.strip() for line in opening.splitlines() if line.strip()]
    title = TITLE.fullmatch(lines[0]) if lines else None
    if not title:
        raise Unreadable(path, "the first line is to read '# 022 · name_of_the_step'", 1)
    if len(lines) < 2 or not re.fullmatch(r"\*[^*]+\*", lines[1]):
        raise Unreadable(path, "under the title a line in *italics* names part, XP and paper")
    folded = {name: DETAILS.findall(body) for name, body in texts.items()}
    sections = {name: DETAILS.sub("", body).strip() for name, body in texts.items()}
    for name, body in sections.items():
        if not body:
            raise Unreadable(path, f"the section '## {name}' is empty")
    hints = _hints(folded["Implementation"], path)
    answers = [body.strip() for name, body in folded["Checkpoint"] if name.strip() == "Answer"]
    if len(answers) != 1 or not answers[0]:
        raise Unreadable(path, "the Checkpoint folds one <summary>Answer</summary> away")
    return Lesson(path, title[1], lines[0][2:], lines[1].strip("*"), sections, hints, answers[0])


def _split(text: str, path: Path) -> tuple[str, dict[str, str]]:
    """The text before the first section, and the sections, which stand in their order."""
    pieces, fenced = [("", "")], False
    for line in text.splitlines(keepends=True):
        fenced ^= bool(FENCE.match(line))
        if line.startswith("## ") and not fenced:
            pieces.append((line[3:].strip(), ""))
        else:
            name, body = pieces[-1]
            pieces[-1] = name, body + line
    names = [name for name, _ in pieces[1:]]
    for name in (name for name in SECTIONS if name not in names):
        raise Unreadable(path, f"the section '## {name}' is missing")
    for name in (name for name in names if name not in SECTIONS or names.count(name) > 1):
        raise Unreadable(path, f"there is a section '## {name}' too many")
    if names != list(SECTIONS):
        raise Unreadable(path, f"the sections stand in this order: {', '.join(SECTIONS)}")
    return pieces[0][1], dict(pieces[1:])


def _hints(folded: list[tuple[str, str]], path: Path) -> tuple[str, ...]:
    """The hints, numbered from 1."""
    for number, (name, body) in enumerate(folded, 1):
        if name.strip() != f"Hint {number}" or not body.strip():
            raise Unreadable(path, f"<summary>Hint {number}</summary> is missing or empty")
    if not folded:
        raise Unreadable(path, "the Implementation folds no <summary>Hint 1</summary> away")
    return tuple(body.strip() for _, body in folded)


def show(lesson: Lesson, width: int, colour: bool) -> str:
    """Write the lesson for a terminal; hints and answer stay folded, and say where they are."""
    parts = [paint(lesson.title, "bold", colour), render(f"*{lesson.meta}*", width, colour)]
    count = len(lesson.hints)
    after = {
        "Implementation": f"{count} hints, one at a time: pytest --hint {_number(lesson)}",
        "Checkpoint": f"The answer is folded away at the end of {shown(lesson.path)}",
    }
    for name, body in lesson.sections.items():
        parts += [paint(name, "bold", colour), render(body, width, colour)]
        if name in after:
            parts.append(paint(f"▸ {after[name]}", "faint", colour))
    return "\n\n".join(parts)


def hint(lesson: Lesson, shown_so_far: int, width: int = 80, colour: bool = False) -> str:
    """Write the next hint; once they are used up, all of them again."""
    count = len(lesson.hints)
    chosen = range(shown_so_far, shown_so_far + 1) if shown_so_far < count else range(count)
    parts = [paint(lesson.title, "bold", colour)]
    for number in chosen:
        parts.append(paint(f"Hint {number + 1} of {count}", "bold", colour))
        parts.append(render(lesson.hints[number], width, colour))
    more = hints_left(lesson, shown_so_far + 1)
    what = f"{more} more: pytest --hint" if more else "that was the last; pytest --solution"
    return "\n\n".join([*parts, paint(f"▸ {what} {_number(lesson)}", "faint", colour)])


def hints_left(lesson: Lesson, shown_so_far: int) -> int:
    """How many hints are still to come."""
    return max(0, len(lesson.hints) - shown_so_far)


def _number(lesson: Lesson) -> int:
    return int(lesson.tag)
