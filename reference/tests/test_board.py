"""The board tells at a glance how far one is, and what to type next."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.tiny_house import build
from specs.harness.board import board, next_step, part_board
from specs.harness.steps import House

VERDICTS = {21: "green", 22: "wrong", 23: "broken", 31: "green"}


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house of two parts."""
    return build(tmp_path)


def test_the_board_has_a_line_a_part(house: House) -> None:
    """Bar, count and XP; the sum of it all; the first step that is not green."""
    assert board(house, VERDICTS, 80, colour=False).splitlines() == [
        " 3  Sums and Halves  ██████░░░░░░░░░░░░░░  1/3     5 XP",
        " 4  Words            ████████████████████  1/1     5 XP",
        "    in all           ██████████░░░░░░░░░░  2/4    10 XP",
        "",
        "next  022 halve  pytest specs/part03/test_022*",
    ]


def test_a_plain_terminal_gets_plain_bars(house: House) -> None:
    """Where the encoding has no blocks."""
    shown = board(house, VERDICTS, 80, colour=False, encoding="ascii")
    assert "######--------------" in shown
    assert shown.isascii()


@pytest.mark.parametrize("encoding", [None, "klingon"])
def test_an_unknown_encoding_is_taken_for_plain(house: House, encoding: str | None) -> None:
    """Better plain than wrong."""
    assert board(house, VERDICTS, 80, colour=False, encoding=encoding).isascii()


@pytest.mark.parametrize("width", [10, 40, 50, 60, 80, 200])
def test_the_board_keeps_to_its_width(house: House, width: int) -> None:
    """As far as a title of ten columns and a bar of five allow."""
    lines = board(house, VERDICTS, width, colour=False).splitlines()[:3]
    assert max(map(len, lines)) <= max(width, 33)


def test_long_titles_are_cut(house: House) -> None:
    """The cut shows."""
    assert board(house, VERDICTS, 30, colour=False).startswith(" 3  Sums …  ")


@pytest.mark.parametrize(("done", "bar"), [(0, "░░░░░"), (1, "█░░░░"), (2, "███░░"), (3, "█████")])
def test_a_bar_is_full_only_when_all_is_done(house: House, done: int, bar: str) -> None:
    """And empty only when nothing is."""
    verdicts = dict.fromkeys(range(21, 21 + done), "green")
    assert f" {bar} " in board(house, verdicts, 10, colour=False)


def test_colour_adds_colour_only(house: House) -> None:
    """The words stand by themselves."""
    coloured = board(house, VERDICTS, 80, colour=True)
    for code in ("\x1b[32m", "\x1b[39m", "\x1b[1m", "\x1b[22m"):
        coloured = coloured.replace(code, "")
    assert coloured == board(house, VERDICTS, 80, colour=False)


def test_all_green_is_said(house: House) -> None:
    """There is no next step."""
    verdicts = dict.fromkeys((21, 22, 23, 31), "green")
    assert next_step(house.steps, verdicts) is None
    assert board(house, verdicts, 80, colour=False).endswith("\n\nevery step is green")


@pytest.mark.parametrize(
    "verdict", ["wrong", "broken", "not started", "changed since", "not run yet"]
)
def test_everything_but_green_comes_next(house: House, verdict: str) -> None:
    """A stale green does not count."""
    step = next_step(house.steps, {21: verdict, 22: "green"})
    assert step is not None
    assert step.number == 21


def test_a_part_has_a_line_a_step(house: House) -> None:
    """Letter, number, name and word."""
    verdicts = {21: "green", 22: "not started", 23: "changed since"}
    assert part_board(house, "part03", verdicts).splitlines() == [
        "Part 3 · Sums and Halves  1/3  5 XP",
        "  . 021 add    green",
        "  o 022 halve  not started",
        "  ~ 023 root   changed since",
        "",
        "next  022 halve  pytest specs/part03/test_022*",
    ]


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        ("green", "\x1b[32m. 031 shout  green\x1b[39m"),
        ("not started", "\x1b[33mo 031 shout  not started\x1b[39m"),
        ("wrong", "\x1b[31mx 031 shout  wrong\x1b[39m"),
        ("broken", "\x1b[35m! 031 shout  broken\x1b[39m"),
    ],
)
def test_each_verdict_has_its_colour(house: House, verdict: str, line: str) -> None:
    """Beside its letter and its word."""
    assert line in part_board(house, "part04", {31: verdict}, colour=True)


def test_a_house_without_steps_has_an_empty_board(tmp_path: Path) -> None:
    """No crash, and no praise either."""
    assert board(House(tmp_path), {}, 80, colour=False).endswith("there are no steps here")
