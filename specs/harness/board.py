"""The board: how far the kata is done, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specs.harness.failure import BROKEN, NOT_STARTED, WRONG
from specs.harness.ink import columns, fits, paint
from specs.harness.progress import CHANGED, GREEN, UNTRIED
from specs.harness.steps import XP_PER_STEP, House, Step

# verdict: letter, style
SIGNS = {
    GREEN: (".", "green"),
    NOT_STARTED: ("o", "yellow"),
    WRONG: ("x", "red"),
    BROKEN: ("!", "magenta"),
    CHANGED: ("~", "yellow"),
    UNTRIED: ("?", "yellow"),
}
BARS = (("█", "░"), ("#", "-"))
Verdicts = Mapping[int, str]  # by step number


def board(
    house: House, verdicts: Verdicts, width: int, colour: bool, encoding: str | None = "utf-8"
) -> str:
    """One line a part, the sum of it all, and the next step."""
    parts = list(dict.fromkeys(step.part for step in house.steps))
    labels = [f"{int(part[4:]):>2}  {house.part_title(part)}" for part in parts] + ["    in all"]
    groups = [[step for step in house.steps if step.part == part] for part in parts]
    room = max(map(columns, labels))
    tally_room = len(f"{len(house.steps)}/{len(house.steps)}")
    long = max(5, min(20, width - room - tally_room - 14))
    room = min(room, max(10, width - long - tally_room - 14))
    lines = []
    for label, steps in zip(labels, [*groups, house.steps], strict=True):
        done, tally, points = _count(steps, verdicts)
        bar = _bar(done, len(steps), long, encoding, colour)
        lines.append(f"{_fitted(label, room)}  {bar}  {tally:>{tally_room}}  {points:>4} XP")
    return "\n".join([*lines, "", next_line(house.steps, verdicts, colour)])


def part_board(
    house: House, part: str, verdicts: Verdicts, width: int = 80, colour: bool = False
) -> str:
    """One line a step, the part's sum on top, and the next step below."""
    steps = [step for step in house.steps if step.part == part]
    _, tally, points = _count(steps, verdicts)
    sums = f"{tally}  {points} XP"
    title = f"Part {int(part[4:])} · {house.part_title(part)}"
    head = _fitted(title, max(10, width - len(sums) - 2)).rstrip()
    room = max([len(step.name) for step in steps], default=0)
    lines = [f"{paint(head, 'bold', colour)}  {sums}"]
    for step in steps:
        verdict = verdicts.get(step.number, UNTRIED)
        letter, style = SIGNS.get(verdict, SIGNS[UNTRIED])
        line = f"{letter} {step.tag} {step.name:<{room}}  {verdict}"
        lines.append(f"  {paint(line, style, colour)}")
    return "\n".join([*lines, "", next_line(steps, verdicts, colour)])


def next_step(steps: Sequence[Step], verdicts: Verdicts) -> Step | None:
    """The first step that is not green."""
    return next((step for step in steps if verdicts.get(step.number) != GREEN), None)


def next_line(steps: Sequence[Step], verdicts: Verdicts, colour: bool) -> str:
    """What to do next, as one types it."""
    step = next_step(steps, verdicts)
    if step is None:
        done = "every step is green" if steps else "there are no steps here"
        return paint(done, "green", colour)
    name = paint(f"{step.tag} {step.name}", "bold", colour)
    return f"next  {name}  pytest specs/{step.part}/test_{step.tag}*"


def _count(steps: Sequence[Step], verdicts: Verdicts) -> tuple[int, str, int]:
    """How many are green, as a number, as ``5/9`` and in XP."""
    done = sum(verdicts.get(step.number) == GREEN for step in steps)
    return done, f"{done}/{len(steps)}", done * XP_PER_STEP


def _bar(done: int, total: int, long: int, encoding: str | None, colour: bool) -> str:
    """A bar that is full only when all is done, and empty only when nothing is."""
    full, empty = BARS[0] if fits("".join(BARS[0]), encoding) else BARS[1]
    filled = done * long // total if total else 0
    filled = max(filled, 1) if done else 0
    return paint(full * filled, "green", colour) + empty * (long - filled)


def _fitted(label: str, room: int) -> str:
    """The label, cut or filled to a room."""
    while columns(label) > room and len(label) > 1:
        label = label[:-2] + "…"
    return label + " " * (room - columns(label))
