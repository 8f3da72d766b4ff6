"""A race: all rivals for one piece of work, timed in turn, round after round."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.memory import peak_bytes
from benchmarks.ratio import FEWEST_ROUNDS, Ratio, Times, paired_ratio
from benchmarks.runner import Absent, Call, Runner

MOST_ROUNDS = 1000  # the interval is as narrow as it gets
WARM_UPS = 3


@dataclass
class Result:
    """What a race came to: seconds per call in every round, peak memory, and who did not start."""

    times: dict[str, Times] = field(default_factory=dict)
    events: dict[str, Times] = field(default_factory=dict)  # the same by the device's own clock
    peak: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    calls: int = 1  # in a lap

    def seconds(self, name: str) -> float:
        """A runner's median time for one call."""
        return float(np.median(self.times[name]))

    def ratio(self, name: str, baseline: str) -> Ratio | None:
        """How many times as long as the baseline it takes; None where either is absent."""
        if name == baseline and name in self.times:
            return Ratio(1.0, 1.0, 1.0)
        if name not in self.times or baseline not in self.times:
            return None
        return paired_ratio(self.times[name], self.times[baseline])


class Race:
    """The rivals, made ready; those that cannot start are told why, and left out."""

    def __init__(self, runners: Sequence[Runner], clock: Clock) -> None:
        self.clock = clock
        self.result = Result()
        self.answers: dict[str, Any] = {}
        self.ready: list[tuple[Runner, Call]] = []
        self.laps: dict[str, list[float]] = {}
        self.events: dict[str, list[float]] = {}
        # By lot, for where a rival's tensors come to lie in memory moves its time by some percent.
        for runner in random.sample(runners, len(runners)):
            self._make_ready(runner)

    def _make_ready(self, runner: Runner) -> None:
        """Prepare a runner and let it run once, to see that it can."""
        try:
            with runner.on_trial(), runner.entered():
                call = runner.prepare()
                self.answers[runner.name] = call()
        except Absent as absent:
            self.result.absent[runner.name] = str(absent)
        else:
            self.ready.append((runner, call))
            self.laps[runner.name], self.events[runner.name] = [], []

    def leave_out(self, name: str, why: str) -> None:
        """Take a runner out of the race, and keep why."""
        self.ready = [(runner, call) for runner, call in self.ready if runner.name != name]
        self.result.absent[name] = why

    def weigh(self, device: str) -> None:
        """Note the peak memory of one call of each."""
        for runner, call in self.ready:
            with runner.entered():
                self.result.peak[runner.name] = peak_bytes(call, device)

    def run(self, seconds: float, longest: float, is_decided: Callable[[Result], bool]) -> Result:
        """Run for so many seconds, and up to the longest while it is not decided."""
        self.answers.clear()  # they may be large
        if not self.ready:
            return self.result
        with _no_collections():
            self.result.calls = self._calls_in_a_lap()
            start = perf_counter()
            self._rounds_until(start + seconds)
            while not self._is_over(start + longest) and not is_decided(self._summed()):
                self._rounds_until(perf_counter() + seconds / 2)
        return self._summed()

    def _calls_in_a_lap(self) -> int:
        """As many for each: one count for all keeps rivals that are the same code alike."""
        count = 1
        for _ in range(2):  # a single call tells little of a short one
            best = [
                min(self._lap(runner, call, count) for _ in range(WARM_UPS))
                for runner, call in self.ready
            ]
            a_call = sum(best) / len(best) / count
            count = max(1, round(self.clock.target / max(a_call, 1e-9)))
        self._forget()
        return count

    def _rounds_until(self, end: float) -> None:
        """Run rounds until it is time, and enough of them for an interval."""
        while not self._is_over(end):
            for runner, call in random.sample(self.ready, len(self.ready)):
                self._lap(runner, call, self.result.calls)

    def _is_over(self, end: float) -> bool:
        rounds = min(map(len, self.laps.values()))
        return rounds >= FEWEST_ROUNDS and (perf_counter() >= end or rounds >= MOST_ROUNDS)

    def _lap(self, runner: Runner, call: Call, count: int) -> float:
        with runner.entered():
            lap = self.clock.lap(call, count)
        self.laps[runner.name].append(lap.seconds / count)
        if lap.events is not None:
            self.events[runner.name].append(lap.events / count)
        return lap.seconds

    def _forget(self) -> None:
        for laps in [*self.laps.values(), *self.events.values()]:
            laps.clear()

    def _summed(self) -> Result:
        self.result.times = {name: np.array(laps) for name, laps in self.laps.items() if laps}
        self.result.events = {name: np.array(laps) for name, laps in self.events.items() if laps}
        return self.result


@contextmanager
def _no_collections() -> Iterator[None]:
    """Keep Python's garbage collector from running in somebody's lap."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
