"""The closing tables: time, ratio and memory of every row, and how attention grows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.session import Line

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
NAME, TIME, RATIO, RANGE, PEAK = 22, 12, 9, 16, 12  # the columns' widths
FROM = 512  # shorter than this, most of the time is not attention's
HEADER = (
    f"  {'':{NAME}}{'time':>{TIME}}{'ratio':>{RATIO}}{'99 % interval':>{RANGE}}{'peak':>{PEAK}}"
)


def told_seconds(seconds: float) -> str:
    """A time with three figures: ``1.23 ms``."""
    return _told(seconds, UNITS)


def told_bytes(count: float) -> str:
    """A size with three figures: ``512 MiB``."""
    return _told(count, BYTES)


def _told(number: float, units: Iterable[tuple[float, str]]) -> str:
    fitting = [unit for unit in units if number >= unit[0]]
    size, name = fitting[0] if fitting else [*units][-1]
    figures = number / size
    digits = max(0, 2 - int(math.log10(figures))) if figures >= 1 else 2
    return f"{figures:.{digits}f} {name}"


def table(lines: Sequence[Line]) -> list[str]:
    """Every race with its runners below it."""
    told = [HEADER]
    for race, runners in groupby(lines, key=lambda line: line.race):
        told += [race, *map(_row, runners)]
    return told


def _row(line: Line) -> str:
    if line.seconds is None:
        return f"  {line.impl:{NAME}}  {line.note}"
    peak = "" if line.peak is None else told_bytes(line.peak)
    told = f"  {line.impl:{NAME}}{told_seconds(line.seconds):>{TIME}}{_ratio(line)}{peak:>{PEAK}}"
    if line.events is not None:
        told += f"  ({told_seconds(line.events)} by its events)"
    return told + ("  SLOWER" if line.regressed else "") + (f"  {line.note}" if line.note else "")


def _ratio(line: Line) -> str:
    ratio = line.ratio
    if line.is_baseline or ratio is None:
        return f"{'baseline' if line.is_baseline else '':>{RATIO}}{'':{RANGE}}"
    return f"{ratio.value:>{RATIO}.3f}{ratio.ends:>{RANGE}}"


def scaling(lines: Sequence[Line]) -> list[str]:
    """Time and memory over the length, and the exponents that they grow with."""
    kept = [line for line in lines if "T" in line.params and line.params.get("way") == "forward"]
    told = []
    for what in dict.fromkeys(map(_curve, kept)):
        curve = sorted((line for line in kept if _curve(line) == what), key=_length)
        curve = [line for line in curve if line.seconds is not None]
        if len(curve) >= 3:
            told += [" ".join(what), *_drawn_out(curve)]
    return told


def _curve(line: Line) -> tuple[str, ...]:
    """What a curve is of: everything but the length."""
    name, *_ = line.race.split(" ")
    return name, line.impl, str(line.params["device"]), str(line.params["dtype"])


def _length(line: Line) -> int:
    return int(str(line.params["T"]))


def _drawn_out(curve: Sequence[Line]) -> list[str]:
    seconds = [(_length(line), line.seconds) for line in curve if line.seconds is not None]
    peaks = [(_length(line), float(line.peak)) for line in curve if line.peak]
    lengths = "".join(f"{length:>10}" for length, _ in seconds)
    times = "".join(f"{told_seconds(each):>10}" for _, each in seconds)
    sizes = "".join(f"{told_bytes(each):>10}" for _, each in peaks)
    return [
        f"  T       {lengths}",
        f"  time    {times}   grows as T^{exponent(seconds):.2f}",
        f"  peak    {sizes}   grows as T^{exponent(peaks):.2f}" if peaks else "",
    ]


def exponent(points: Sequence[tuple[float, float]], start: float = FROM) -> float:
    """The slope of a straight line through the logarithms, by least squares, from a start on."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x >= start and y > 0]
    if len(logs) < 2:
        return math.nan
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    across = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    return across / sum((x - mean_x) * (x - mean_x) for x, _ in logs)
