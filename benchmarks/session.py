"""One run of the benchmarks: whose codes, against what, and what came of it so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from benchmarks.baseline import BETWEEN_REVISIONS, OURS, Baseline, find_baseline
from benchmarks.codes import Code
from benchmarks.race import Race, Result
from benchmarks.ratio import Ratio, is_decided, is_regression, is_suspect
from specs.harness.session import chosen_package
from specs.harness.steps import House

SECONDS, QUICK_SECONDS = 6.0, 0.8  # for one race, whatever number of runners
UNDECIDED = 18.0, 6.0  # … and where a regression can neither be told nor ruled out before


@dataclass
class Line:
    """One line of the closing tables: what a runner came to."""

    race: str
    impl: str
    params: dict[str, object]
    seconds: float | None = None
    ratio: Ratio | None = None
    is_baseline: bool = False
    peak: int | None = None
    events: float | None = None  # seconds by the device's own clock
    note: str = ""  # why there is no time, or what else is to be said
    regressed: bool = False


@dataclass
class Outcome:
    """A race's result, and the rows that it found slower, twice over."""

    result: Result
    regressed: frozenset[str] = frozenset()
    doubts: dict[str, Ratio] = field(default_factory=dict)  # what a second race did not confirm


class Benchmarks:
    """What the hooks and the rows share."""

    def __init__(self, config: pytest.Config) -> None:
        """Read what was asked for; a wrong ``--against`` is told here."""
        self.house = House(config.rootpath)
        package = chosen_package(self.house, config.getoption("impl"))
        # First, so that the containers of `kata.weights` are today's for every code.
        self.codes = {
            "kata": Code(self.house, package),
            "reference": Code(self.house, self.house.reference),
        }
        self.quick = bool(config.getoption("quick"))
        self.baseline = self._baseline(config)
        self.impls: dict[str, set[str]] = {}
        self.lines: list[Line] = []
        self._outcomes: dict[str, Outcome] = {}

    def _baseline(self, config: pytest.Config) -> Baseline:
        asked, limit = config.getoption("against"), config.getoption("limit")
        storage = config.getoption("benchmark_storage")
        return find_baseline(self.house, asked, limit, storage, config.add_cleanup)

    @property
    def seconds(self) -> tuple[float, float]:
        """How long a race is meant to last, and how long at most while it is not decided."""
        return (QUICK_SECONDS if self.quick else SECONDS), UNDECIDED[self.quick]

    def outcome(self, race: str, start: Callable[[], Race], device: str) -> Outcome:
        """The race's outcome, run when the first of its rows asks."""
        if race not in self._outcomes:
            self._outcomes[race] = self._run(start, device)
        return self._outcomes[race]

    def _run(self, start: Callable[[], Race], device: str) -> Outcome:
        """Run a race; whoever is suspect runs again from the start, and is judged by that."""
        race = start()
        race.weigh(device)
        first = race.run(*self.seconds, self._is_decided)
        suspects = {impl for impl, ratio in self._judged(first) if is_suspect(ratio, self.limit)}
        if not suspects:
            return Outcome(first)
        race = start()
        race.result.peak = first.peak
        second = race.run(*self.seconds, self._is_decided)
        confirmed = frozenset(
            impl
            for impl, ratio in self._judged(second)
            if impl in suspects and is_regression(ratio, self.limit)
        )
        doubts = {impl: ratio for impl, ratio in self._judged(first) if impl in suspects}
        return Outcome(second, confirmed, doubts)

    def _judged(self, result: Result) -> list[tuple[str, Ratio]]:
        """The ratios that a limit is held against."""
        baseline = self.baseline
        found = [(impl, result.ratio(impl, baseline.rival(impl))) for impl in OURS]
        return [(impl, ratio) for impl, ratio in found if ratio and baseline.judges(impl)]

    def _is_decided(self, result: Result) -> bool:
        return all(is_decided(ratio, self.limit) for _, ratio in self._judged(result))

    @property
    def limit(self) -> float:
        """The slowdown that is not to be borne, as a share of 1."""
        return self.baseline.limit or BETWEEN_REVISIONS
