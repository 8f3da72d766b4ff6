"""Saved runs, one after the other: each benchmark's ratio to torch and its memory over revisions.

Torch's functions are the same in every revision, and were timed in turn with ours in every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ratio import Ratio
from benchmarks.saved import Run, folder_of, saved_runs
from benchmarks.tables import told_bytes, told_seconds
from specs.harness.steps import UserError

YARDSTICK = "torch"
PICTURE = "history.png"


class Point(NamedTuple):
    """One benchmark in one run."""

    run: Run
    seconds: float
    ratio: Ratio
    peak: int | None


Histories = dict[tuple[str, str], list[Point]]


def show(storage: str, keyword: str, width: int) -> str:
    """The history as text; draws it too, where matplotlib is installed."""
    runs, folder = saved_runs(storage), folder_of(storage)
    if not runs:
        raise UserError(
            f"no saved runs in {folder}: `pytest benchmarks --benchmark-autosave` makes one"
        )
    histories = {
        what: points for what, points in histories_of(runs).items() if _is_meant(what, keyword)
    }
    if not histories:
        raise UserError(f"no benchmark of the saved runs is called {keyword!r}")
    told = [f"ratio to {YARDSTICK}, with its 99 % interval", *_conditions(runs), ""]
    for (race, impl), points in histories.items():
        told += [f"{race}  {impl}"[:width], *map(_told, points)]
    return "\n".join([*told, "", _drawn(histories, folder)])


def histories_of(runs: Sequence[Run]) -> Histories:
    """Each benchmark's points, in the order of the runs."""
    found: Histories = {}
    for run in runs:
        for what, info in run.rows.items():
            point = _point(run, info)
            if point is not None:
                found.setdefault(what, []).append(point)
    return found


def _point(run: Run, info: dict[str, Any]) -> Point | None:
    """One row's point; None where torch did not run along."""
    kept = info["ratios"].get(YARDSTICK)
    if kept is None:
        return None
    ratio = Ratio(kept["ratio"], *(kept["interval"] or (0.0, math.inf)))
    return Point(run, info["seconds"], ratio, info["peak_bytes"])


def _is_meant(what: tuple[str, str], keyword: str) -> bool:
    """Whether every word of ``-k`` stands in the benchmark's name."""
    return all(word in " ".join(what) for word in keyword.replace(" and ", " ").split())


def _told(point: Point) -> str:
    ratio, peak = point.ratio, told_bytes(point.peak) if point.peak is not None else ""
    return (
        f"  {point.run.number}  {point.run.revision:8}  {point.run.when:16}"
        f"  {told_seconds(point.seconds):>8}  {ratio.value:7.3f}  {ratio.ends:>15}  {peak:>8}"
    )


def _conditions(runs: Sequence[Run]) -> list[str]:
    """What the runs depend on: once if it was alike for all, else for each."""
    told = {run.number: ", ".join(f"{k} {v}" for k, v in run.environment.items()) for run in runs}
    if len(set(told.values())) == 1:
        return [f"all runs: {told[runs[0].number]}"]
    return ["The runs differ in more than code:", *(f"  {n}  {what}" for n, what in told.items())]


def _drawn(histories: Histories, folder: Path) -> str:
    try:
        from benchmarks import picture
    except ImportError:
        return "no picture: matplotlib is not installed"
    picture.draw(histories, folder / PICTURE)
    return f"picture: {folder / PICTURE}"
