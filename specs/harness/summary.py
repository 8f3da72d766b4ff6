"""What ends a run: the first red step in full, the others in a line each, the board."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import pytest
from _pytest.config import create_terminal_writer

from specs.harness.board import board, next_line, part_board
from specs.harness.capstone import ranges
from specs.harness.commands import is_coloured, width
from specs.harness.digest import digests
from specs.harness.failure import COLOURS, Verdict
from specs.harness.progress import GREEN, Progress, standings
from specs.harness.session import Dojo, by_step, progress_of
from specs.harness.steps import House
from specs.harness.supervisor import Ending


class Writer(Protocol):
    """What a terminal writer does."""

    def write_line(self, line: str, **markup: bool) -> None:
        """Write a line."""


def show(config: pytest.Config, writer: Writer, dojo: Dojo) -> None:
    """Write the end of a run: what is red, and where the learner stands."""
    verdicts = by_step(dojo.verdicts)
    if not verdicts:
        return
    red = [verdict for verdict in verdicts.values() if verdict.state != GREEN]
    if red:
        writer.write_line("")
        _in_full(writer, red[0])
        _in_brief(writer, dojo.house, red)
    for note in dojo.notes:
        writer.write_line(f"note  {note}")
    if dojo.is_learner:
        progress = progress_of(config)
        remember(progress, dojo, verdicts)
        _show_board(config, writer, dojo, verdicts, progress)


def remember(progress: Progress, dojo: Dojo, verdicts: dict[int, Verdict]) -> None:
    """Keep the verdicts for `--board`; a green step counts only if its whole spec was run."""
    now = digests(dojo.house, dojo.package)
    for step in dojo.house.steps:
        verdict = verdicts.get(step.number)
        if verdict is not None and (verdict.state != GREEN or step.number in dojo.whole):
            progress.judge(step, verdict.state, now[step.number])
    progress.save()


def _show_board(
    config: pytest.Config,
    writer: Writer,
    dojo: Dojo,
    verdicts: dict[int, Verdict],
    progress: Progress,
) -> None:
    """After one part its steps, after several the parts."""
    house = dojo.house
    standing = standings(house, progress, dojo.package)
    parts = {step.part for step in house.steps if step.number in verdicts}
    coloured, room = is_coloured(config), width()
    if len(verdicts) == 1:
        (verdict,) = verdicts.values()
        shown = next_line(house.steps, standing, coloured) if verdict.state == GREEN else ""
    elif len(parts) == 1:
        shown = part_board(house, parts.pop(), standing, room, coloured)
    else:
        shown = board(house, standing, room, coloured, sys.stdout.encoding)
    for line in ("", *shown.splitlines()):
        writer.write_line(line)


def _in_full(writer: Writer, verdict: Verdict) -> None:
    heading, *rest = verdict.lines
    writer.write_line(heading, **{COLOURS[verdict.state]: True})
    for line in rest:
        writer.write_line(line)


def _in_brief(writer: Writer, house: House, verdicts: list[Verdict]) -> None:
    """One line a red step after the first; a reason that several share is told once."""
    first, *others = verdicts
    told_before = {first.brief}
    steps = {step.number: step for step in house.steps}
    for verdict in others:
        if not verdict.brief or verdict.brief in told_before:  # the board tells the stubs
            continue
        told_before.add(verdict.brief)
        step = steps[verdict.step]
        line = f"{step.tag} {step.name}  {verdict.state}: {verdict.brief}"
        writer.write_line(line, **{COLOURS[verdict.state]: True})


def count_the_missing(session: pytest.Session, dojo: Dojo) -> None:
    """Let no step go by in silence: one that was to run and said nothing makes the run fail."""
    option = session.config.option
    if session.shouldstop or session.shouldfail or option.collectonly or option.shapes:
        return
    heard = {verdict.step for verdict in dojo.verdicts}
    missing = [number for number in dojo.chosen if number not in heard]
    if missing and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def checked(ending: Ending) -> int:
    """In the parent: the child's exit status, unless what it said on the way tells otherwise."""
    verdicts = by_step([Verdict(**content) for content in ending.verdicts])
    red = [number for number, verdict in verdicts.items() if verdict.state != GREEN]
    unheard = sorted(set(ending.chosen or []) - verdicts.keys())
    if ending.status == 0 and (red or unheard):
        print(f"not green: {ranges([*red, *unheard])}", flush=True)
        return int(pytest.ExitCode.TESTS_FAILED)
    assert ending.status is not None
    return ending.status


def close(config: pytest.Config, ending: Ending, lost: dict[int, Verdict]) -> int:
    """In the parent: show the results so far of a run that was ended, by a step or from outside."""
    dojo = Dojo(config)
    dojo.chosen = ending.chosen or []
    verdicts = [Verdict(**content) for content in ending.verdicts]
    dojo.verdicts = [v for v in verdicts if v.step not in lost or v.state != GREEN]
    dojo.verdicts += lost.values()
    writer: Any = create_terminal_writer(config)
    writer.write_line = writer.line
    show(config, writer, dojo)
    if not lost:
        writer.write_line(f"\nThe run {ending.why}.")
    unheard = sorted(set(dojo.chosen) - {verdict.step for verdict in dojo.verdicts})
    if unheard:
        writer.write_line(f"not run: {ranges(unheard)}")
    stopped = pytest.ExitCode.INTERRUPTED if ending.signalled else pytest.ExitCode.TESTS_FAILED
    return int(stopped)
