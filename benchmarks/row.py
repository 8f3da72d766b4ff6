"""The fixture that a benchmark works with: one row of the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, repeat
from typing import Any

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture
from torch import Tensor

from benchmarks.clock import clock_of
from benchmarks.codes import Code, Steps, explained, unchanged
from benchmarks.models import config_of, sentences
from benchmarks.race import Race
from benchmarks.ratio import Ratio
from benchmarks.rows import params_of, race_of
from benchmarks.runner import Around, Call, Runner
from benchmarks.session import Benchmarks, Line, Outcome
from benchmarks.tables import told_seconds
from specs.harness.tensors import tensors_in

BACKWARD = "forward+backward"
both_ways = pytest.mark.parametrize("way", ["forward", BACKWARD])
TOLERANCE = {"float32": 1e-3, "bfloat16": 1e-1}  # a rival is to do the same work, not the same bits

Ours = Callable[[Steps], Call]
Torchs = Callable[[], Call]


class Playback:
    """Plays recorded times back to pytest-benchmark, by the clock that it is told to read."""

    now = 0.0

    def __init__(self, seconds: Sequence[float], calls: int) -> None:
        self.seconds = chain.from_iterable(repeat(each, calls) for each in seconds)

    def __call__(self) -> None:
        """Let the time of one call pass."""
        Playback.now += next(self.seconds, 0.0)


def playback_clock() -> float:
    """The time in a playback, in seconds."""
    return Playback.now


class Row:
    """Whose code is timed on what, and the means to set the work up."""

    def __init__(self, benchmarks: Benchmarks, fixture: BenchmarkFixture, item: Any) -> None:
        self.benchmarks = benchmarks
        self.fixture = fixture
        self.params = params_of(item)
        self.impl: str = self.params["impl"]
        self.device: str = self.params["device"]
        self.dtype: torch.dtype = getattr(torch, self.params["dtype"])
        self.way: str | None = self.params.get("way")
        self.race = race_of(item)
        marker = item.get_closest_marker("step")
        self.step = marker.args[0] if marker else None
        self.generator = torch.Generator().manual_seed(0)
        fixture.group = self.race

    @property
    def reference(self) -> Code:
        """The reference as it is now, to set things up with."""
        return self.benchmarks.codes["reference"]

    @property
    def containers(self) -> Any:
        """The containers of ``kata.weights``."""
        return self.reference.module("weights")

    def config(self, size: str) -> Any:
        """The settings of a model."""
        return config_of(size, self.containers)

    def weights(self, config: Any) -> Any:
        """A model's first weights, the same for all who copy them."""
        dice = torch.Generator(self.device).manual_seed(0)
        make = self.reference.steps.initialize_transformer_weights
        return make(config, dice, device=self.device, dtype=self.dtype)

    def sentences(self, config: Any, count: int, length: int) -> Tensor:
        """Some sentences to read."""
        return sentences(config, count, length, self.device)

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        """A tensor of made-up numbers, which takes a gradient where the row goes backward."""
        drawn = torch.randn(shape, generator=self.generator) * scale
        return drawn.to(self.device, self.dtype).requires_grad_(self.way == BACKWARD)

    def time(
        self,
        ours: Ours,
        torchs: Torchs,
        *,
        leaves: Sequence[Tensor] = (),
        torch_leaves: Sequence[Tensor] = (),
        also: dict[str, Ours] | None = None,
        comparable: bool = True,
    ) -> None:
        """Race our steps against torch, and report this row.

        ``ours`` and ``torchs`` make a call ready. Backward goes to the leaves; torch's are ours
        unless they are given. ``also`` names more rivals among the reference's own steps. Answers
        that chance decides are not ``comparable``.
        """
        runners = [self._runner(name, ours, leaves) for name in self._names()]
        runners += [self._torch(torchs, torch_leaves or leaves)]
        steps = self.reference.steps
        runners += [
            Runner(name, partial(make, steps), self._around(self.reference))
            for name, make in (also or {}).items()
        ]
        if self.fixture.disabled:
            self._only_once(next(each for each in runners if each.name == self.impl))
            return
        start = partial(self._race, runners, comparable)
        outcome = self.benchmarks.outcome(self.race, start, self.device)
        self._report(outcome, list(also or {}))

    def _names(self) -> list[str]:
        """Our runners in this race: the rows asked for, and what they are compared with."""
        wanted = self.benchmarks.impls[self.race]
        rivals = {self.benchmarks.baseline.rival(impl) for impl in wanted}
        return [name for name in self._codes() if name in wanted | rivals]

    def _codes(self) -> dict[str, Code]:
        """Every code that may run, by the name of its runner."""
        baseline = self.benchmarks.baseline
        then = {baseline.rival(name): code for name, code in baseline.codes.items()}
        return {**self.benchmarks.codes, **then}

    def _runner(self, name: str, ours: Ours, leaves: Sequence[Tensor]) -> Runner:
        code = self._codes()[name]
        on_trial: Around = partial(_on_trial, name)
        if name == "reference":  # what is wrong with it is the repository's fault, and shown whole
            on_trial = ExitStack
        prepare = partial(self._prepared, partial(ours, code.steps), leaves)
        return Runner(name, prepare, self._around(code), on_trial)

    def _torch(self, torchs: Torchs, leaves: Sequence[Tensor]) -> Runner:
        return Runner("torch", partial(self._prepared, torchs, leaves), self._around(None))

    def _around(self, code: Code | None) -> tuple[Around, ...]:
        """The code's own world, and no graph where nobody goes back."""
        world: tuple[Around, ...] = (code.world.entered,) if code else ()
        return (*world, torch.no_grad) if self.way == "forward" else world

    def _prepared(self, make: Callable[[], Call], leaves: Sequence[Tensor]) -> Call:
        """The call to be timed, the way back included."""
        call = make()
        if self.way != BACKWARD:
            return call
        sent_back = torch.ones_like(call())

        def there_and_back() -> Any:
            return torch.autograd.grad(call(), leaves, sent_back)

        return there_and_back

    def _race(self, runners: Sequence[Runner], comparable: bool) -> Race:
        race = Race(runners, clock_of(self.device))
        answers = race.answers
        if comparable and "reference" in answers:
            for name in [name for name in answers if name.startswith("kata")]:
                if not self._alike(answers[name], answers["reference"]):
                    race.leave_out(name, "its answer is not the reference's")
        return race

    def _alike(self, answer: Any, wanted: Any) -> bool:
        """Say whether two answers are one, up to rounding."""
        near = TOLERANCE[self.params["dtype"]]
        given, expected = list(tensors_in(answer)), list(tensors_in(wanted))
        return len(given) == len(expected) and all(
            one.shape == other.shape and torch.allclose(one, other, rtol=near, atol=near)
            for one, other in zip(given, expected, strict=True)
        )

    def _only_once(self, runner: Runner) -> None:
        """With ``--benchmark-disable``, see that it runs."""
        race = Race([runner], clock_of(self.device))
        self._play_back([], 1)
        if race.result.absent:
            pytest.skip(race.result.absent[self.impl])

    def _report(self, outcome: Outcome, also: Sequence[str]) -> None:
        """Hand this row to pytest-benchmark and to the closing tables, and judge it."""
        line = self._line(self.impl, outcome)
        self.benchmarks.lines.append(line)
        if self.impl == "torch":  # the last of a race
            self.benchmarks.lines += [self._line(name, outcome) for name in also]
        result = outcome.result
        if self.impl in result.absent:
            pytest.skip(result.absent[self.impl])
        self.fixture.extra_info.update(self._kept(line, outcome))
        self._play_back(result.times[self.impl].tolist(), result.calls)
        if line.regressed:
            pytest.fail(self._slower(outcome), pytrace=False)

    def _play_back(self, seconds: Sequence[float], calls: int) -> None:
        """Let pytest-benchmark time the times again, for its own table and its files."""
        playback, rounds = Playback(seconds, calls), max(1, len(seconds))
        self.fixture.pedantic(playback, rounds=rounds, iterations=calls)  # type: ignore[no-untyped-call]

    def _line(self, name: str, outcome: Outcome) -> Line:
        result, baseline = outcome.result, self.benchmarks.baseline
        line = Line(self.race, name, self.params, note=result.absent.get(name, ""))
        if name not in result.times:
            return line
        rival = baseline.rival(name)
        line.seconds, line.peak = result.seconds(name), result.peak.get(name)
        line.ratio, line.is_baseline = result.ratio(name, rival), name == rival
        line.regressed = name in outcome.regressed
        if name in result.events:
            line.events = float(sorted(result.events[name])[len(result.events[name]) // 2])
        if line.ratio is None:
            line.note = f"nothing to compare with: {result.absent.get(rival, 'it was not timed')}"
        elif name in outcome.doubts and not line.regressed:
            line.note = f"a first race said {outcome.doubts[name]}, which a second did not confirm"
        return line

    def _kept(self, line: Line, outcome: Outcome) -> dict[str, Any]:
        """What stands in the JSON."""
        result, baseline = outcome.result, self.benchmarks.baseline
        ratios = {name: result.ratio(self.impl, name) for name in result.times if name != self.impl}
        return {
            "race": self.race,
            "impl": self.impl,
            "step": self.step,
            "seconds": line.seconds,
            "event_seconds": line.events,
            "peak_bytes": line.peak,
            "baseline": baseline.label,
            "limit": baseline.limit if baseline.judges(self.impl) else None,
            "ratio": line.ratio.value if line.ratio else None,
            "ratio_interval": _interval(line.ratio) if line.ratio else None,
            "ratios": {
                name: {"ratio": ratio.value, "interval": _interval(ratio)}
                for name, ratio in ratios.items()
                if ratio is not None
            },
        }

    def _slower(self, outcome: Outcome) -> str:
        """A regression in one line, with both figures."""
        result, baseline = outcome.result, self.benchmarks.baseline
        rival = baseline.rival(self.impl)
        now, then = (told_seconds(result.seconds(name)) for name in (self.impl, rival))
        ratio = result.ratio(self.impl, rival)
        return (
            f"{self.race}, {self.impl}: {now} a call, {then} at {baseline.label}:"
            f" {ratio} times as long, limit {1 + self.benchmarks.limit:.2f}"
        )


def _on_trial(label: str) -> ExitStack:
    """Stand around somebody's first call: what it raises, or changes, is why it does not start."""
    stack = ExitStack()
    stack.enter_context(explained(label))
    stack.enter_context(unchanged(label))
    return stack


def _interval(ratio: Ratio) -> list[float] | None:
    """The interval as JSON can hold it: none where there were too few rounds."""
    return None if ratio.low == 0 else [ratio.low, ratio.high]
