"""What a run has to say at its end."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import environment
from benchmarks.session import Benchmarks, Line
from benchmarks.tables import scaling, table


def report(benchmarks: Benchmarks) -> Iterator[str]:
    """The tables, and under which conditions they came about."""
    lines = benchmarks.lines
    yield ""
    yield f"ratio to {_baseline(benchmarks)}, rivals timed in turn"
    yield ", ".join(f"{key} {value}" for key, value in environment.describe().items())
    yield f"load {environment.load()}"
    why = environment.why_no_cuda()
    if why is not None:
        yield f"cuda: skipped, {why}"
    yield ""
    yield from table(lines)
    yield ""
    grows = scaling(lines)
    if grows:
        yield "how attention grows with the length T, forward"
        yield from grows
        yield ""
    yield from _verdict(benchmarks, lines)


def _baseline(benchmarks: Benchmarks) -> str:
    baseline = benchmarks.baseline
    told = baseline.label
    if baseline.codes:
        told += " (kata and reference as they were then; torch is compared with the reference)"
    if baseline.run is not None:
        told += f", saved {baseline.run.when} at {baseline.run.revision}"
    return told


def _verdict(benchmarks: Benchmarks, lines: list[Line]) -> Iterator[str]:
    """In one line: how many rows were held against the limit, and how many are slower."""
    baseline = benchmarks.baseline
    judged = [line for line in lines if baseline.judges(line.impl) and line.ratio is not None]
    if baseline.limit is None:
        yield f"No limit was set for {baseline.label}: nothing could fail."
        return
    slower = [line for line in judged if line.regressed]
    limit = f"{100 * benchmarks.limit:g} %"
    yield f"{len(slower)} of {len(judged)} rows are slower than {baseline.label} by {limit}."
