"""Draws the history: a row for each race, its ratios over the revisions, and memory beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # no window: a file is wanted
from matplotlib import pyplot as plt

from benchmarks.history import Histories, Point
from benchmarks.ratio import Ratio

WIDE, HIGH = 12.0, 1.9  # inches, of the whole and of one row
COLOURS = {"kata": "tab:green", "reference": "tab:blue"}
MEBIBYTE = 2**20


def draw(histories: Histories, path: Path) -> None:
    """Draw every race of the saved runs into one file."""
    races = list(dict.fromkeys(race for race, _ in histories))
    figure, axes = plt.subplots(
        len(races),
        2,
        figsize=(WIDE, HIGH * len(races) + 0.6),
        squeeze=False,
        sharex="col",
        layout="constrained",
        width_ratios=(2, 1),
    )
    marks = _places(histories)
    for (left, right), race in zip(axes, races, strict=True):
        left.set_title(race, fontsize=8, loc="left")
        for (name, impl), points in histories.items():
            if name == race:
                _draw_one(left, right, impl, points, [marks[point.run.number] for point in points])
    _label(axes, histories, marks)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _places(histories: Histories) -> dict[str, int]:
    """Where each run stands from left to right."""
    numbers = sorted({point.run.number for points in histories.values() for point in points})
    return {number: place for place, number in enumerate(numbers)}


def _draw_one(left: Any, right: Any, impl: str, points: list[Point], places: list[int]) -> None:
    ratios = [point.ratio for point in points]
    certain = [ratio if ratio.low else Ratio(*[ratio.value] * 3) for ratio in ratios]
    below = [ratio.value - ratio.low for ratio in certain]
    above = [ratio.high - ratio.value for ratio in certain]
    look = {"label": impl, "color": COLOURS.get(impl), "marker": "o", "markersize": 3}
    left.errorbar(places, [ratio.value for ratio in ratios], yerr=(below, above), capsize=3, **look)
    right.plot(places, [(point.peak or 0) / MEBIBYTE for point in points], **look)


def _label(axes: Any, histories: Histories, places: dict[str, int]) -> None:
    """Say what is drawn, and at which revision."""
    runs = {point.run.number: point.run for points in histories.values() for point in points}
    ticks = [f"{number}\n{runs[number].revision}" for number in places]
    for axis in axes[-1]:
        axis.set_xticks(range(len(ticks)), ticks, fontsize=7)
    for left, right in axes:
        left.set_ylabel("ratio to torch", fontsize=7)
        right.set_ylabel("peak, MiB", fontsize=7)
        for axis in (left, right):
            axis.tick_params(axis="y", labelsize=7)
            axis.margins(y=0.2)
    axes[0][0].legend(fontsize=7)
