"""The benchmarks: verdicts on made-up times, a device made of paper, and a newcomer's run."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.clock import DeviceClock, Lap, WallClock
from benchmarks.memory import device_peak
from benchmarks.models import copied
from benchmarks.race import Race
from benchmarks.ratio import Ratio, is_regression, paired_ratio
from benchmarks.rows import is_wanted
from benchmarks.runner import Absent, Call, Runner
from benchmarks.tables import exponent, told_bytes, told_seconds
from benchmarks.waiting import waiting_clock
from reference.tests.laws import HOUSE
from specs.harness.stubs import make_stubs

LIMIT = 0.10
SEEDS = range(300)
NOISE = np.random.default_rng


def made_up(seed: int, ratio: float, rounds: int) -> Ratio:
    """A race on a busy machine: load comes and goes, and some laps take many times as long."""
    dice = NOISE(seed)
    load = 1 + np.abs(np.cumsum(dice.normal(0, 0.1, rounds)))  # alike for neighbours
    laps = load * (1 + dice.exponential(0.02, (2, rounds)))
    laps *= np.where(dice.random((2, rounds)) < 0.15, dice.uniform(2, 20, (2, rounds)), 1)
    return paired_ratio(ratio * laps[0], laps[1])


def test_same_code_is_never_slower() -> None:
    """No false alarm in 300 races, and the interval holds 1 in at least 98 of 100."""
    races = [made_up(seed, 1.0, rounds=60) for seed in SEEDS]
    assert not any(is_regression(race, LIMIT) for race in races)
    assert sum(race.low <= 1 <= race.high for race in races) >= 0.98 * len(races)


def test_planted_tenth_is_caught() -> None:
    """A slowdown of 10 % is beyond a limit of 10 %, on the same busy machine."""
    caught = [is_regression(made_up(seed, 1.10, rounds=1000), LIMIT) for seed in SEEDS]
    assert sum(caught) >= 0.98 * len(caught)


@pytest.mark.parametrize(
    ("low", "high"), [(1.03, 1.12), (1.051, 1.099), (0.7, 1.6), (0.0, math.inf)]
)
def test_doubt_is_no_regression(low: float, high: float) -> None:
    """Nearer to no change, surely below the limit, anything at all: none of it fails."""
    assert not is_regression(Ratio((low + high) / 2, low, high), LIMIT)


def test_interval_by_hand() -> None:
    """Eight rounds, 2⁸ throws: only the outermost means may be left out, 1 in 128 < 1 in 100."""
    logs = np.array([0.1, -0.2, 0.3, 0.05, 0.0, 0.12, -0.03, 0.2])
    ratio = paired_ratio(np.exp(logs), np.ones(8))
    means = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    assert ratio == pytest.approx((math.exp(np.median(means)), math.exp(-0.2), math.exp(0.3)))


def test_interval_is_exact_on_every_throw() -> None:
    """Of all 2¹² ways in which 12 fair coins fall, the interval leaves zero out in at most 1 %."""
    sizes = NOISE(0).exponential(1.0, 12)
    missed = 0
    for signs in product((-1, 1), repeat=12):
        ratio = paired_ratio(np.exp(sizes * signs), np.ones(12))
        missed += not ratio.low <= 1 <= ratio.high
    assert 0.004 < missed / 2**12 <= 0.01


def test_few_rounds_say_nothing() -> None:
    """Seven coins fall alike in 1 of 64 throws: no interval holds 99 %."""
    assert paired_ratio(np.full(7, 2.0), np.ones(7))[1:] == (0.0, math.inf)


class ScriptedClock:
    """Times nothing: a call says itself how long it takes."""

    target = 1.0

    def lap(self, call: Callable[[], Any], times: int) -> Lap:
        """A lap of that many calls."""
        return Lap(call() * times)


def taking(seconds: float) -> Callable[[], Call]:
    """A call that says how long it takes."""
    return lambda: lambda: seconds


def test_race_times_each_in_every_round_and_tells_who_is_absent() -> None:
    """2 s against 1 s, and one whose steps are not written yet."""

    def unwritten() -> Call:
        raise Absent("not started: step 022")

    runners = [Runner("one", taking(2.0)), Runner("other", taking(1.0)), Runner("none", unwritten)]
    result = Race(runners, ScriptedClock()).run(0.01, 0.01, lambda _: True)
    assert result.ratio("one", "other") == pytest.approx((2.0, 2.0, 2.0))
    assert result.absent == {"none": "not started: step 022"}


class FakeDevice:
    """Looks like ``torch.cuda``, with a clock and an allocator of its own."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.now = 0.0  # milliseconds
        self.memory = 100
        self.peak = 1000

    def synchronize(self) -> None:
        """Wait for the work."""
        self.log.append("wait")

    def Event(self, enable_timing: bool) -> FakeEvent:  # noqa: N802  # torch's name
        """Make an event."""
        assert enable_timing
        return FakeEvent(self)

    def work(self) -> None:
        """Two milliseconds of work that claims 50 bytes."""
        self.log.append("work")
        self.now += 2.0
        self.peak = max(self.peak, self.memory + 50)

    def memory_allocated(self) -> int:
        """What is claimed now."""
        return self.memory

    def reset_peak_memory_stats(self) -> None:
        """Begin anew."""
        self.peak = self.memory

    def max_memory_allocated(self) -> int:
        """The most since the beginning."""
        return self.peak


class FakeEvent:
    """Looks like ``torch.cuda.Event``."""

    def __init__(self, device: FakeDevice) -> None:
        self.device = device
        self.at = 0.0

    def record(self) -> None:
        """Note the device's time."""
        self.device.log.append("note")
        self.at = self.device.now

    def elapsed_time(self, end: FakeEvent) -> float:
        """Milliseconds until another event."""
        return end.at - self.at


def test_device_is_waited_for_around_a_lap() -> None:
    """Three calls of 2 ms: 6 ms by the device's events, and a wait before and after."""
    device = FakeDevice()
    lap = DeviceClock(device).lap(device.work, 3)
    assert device.log == ["wait", "note", "work", "work", "work", "note", "wait"]
    assert lap.events == pytest.approx(0.006)


def test_device_memory_is_what_a_call_adds() -> None:
    """The peak of a call counts from what was there before, and the earlier peak does not count."""
    device = FakeDevice()
    assert device_peak(device.work, device) == 50


def test_wait_for_a_core_is_not_counted() -> None:
    """A lap of 20 ms, for 15 of which other processes had the core, is one of 5 ms."""
    waited = iter([1.0, 1.015])
    lap = WallClock(lambda: next(waited)).lap(lambda: spin(0.02), 1)
    assert 0.005 <= lap.seconds < 0.015


def spin(seconds: float) -> None:
    """Be busy."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def test_without_the_kernels_count_the_wall_decides(tmp_path: Path) -> None:
    """Elsewhere than on Linux there is no such file."""
    assert waiting_clock(str(tmp_path / "schedstat")) is None


@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        ({"device": "cuda", "dtype": "bfloat16", "T": 2048, "way": "forward+backward"}, True),
        ({"device": "cpu", "dtype": "bfloat16", "T": 2048, "way": "forward"}, False),
        ({"device": "cpu", "dtype": "float32", "T": 4096, "way": "forward"}, True),
        ({"device": "cpu", "dtype": "float32", "T": 4096, "way": "forward+backward"}, False),
    ],
    ids=["half on a GPU", "half on the CPU", "one way for the exponent", "both ways there"],
)
def test_rows_that_are_worth_their_time(params: dict[str, object], wanted: bool) -> None:
    """On a GPU every row is; on the CPU half precision is watched at one length."""
    assert is_wanted(params, quick=False) is wanted


def test_copied_weights_keep_their_ties() -> None:
    """The table that is also the output projection is one tensor in the copy too, and a new one."""
    table = torch.ones(2, requires_grad=True)
    first, (second, none) = copied((table, (table, None)))
    assert first is second
    assert first is not table
    assert first.requires_grad
    assert none is None


def test_exponent_of_a_parabola() -> None:
    """y = 3 x² grows as x^2; points before the start do not count."""
    points = [(x, 3.0 * x**2) for x in (512, 1024, 2048)]
    assert exponent([(128, 1e9), *points]) == pytest.approx(2.0)


def test_figures_are_told_with_their_units() -> None:
    """Three figures, whatever the size."""
    told = [told_seconds(1.5), told_seconds(0.0123), told_bytes(2**20), told_bytes(0)]
    assert told == ["1.50 s", "12.3 ms", "1.00 MiB", "0.00 B"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with fresh stubs."""
    root = tmp_path_factory.mktemp("dojo")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(HOUSE.root / name, root)
    for name in ("specs", "reference", "benchmarks"):
        ignored = shutil.ignore_patterns("__pycache__", "mistakes", "unusual", "*.md")
        shutil.copytree(HOUSE.root / name, root / name, ignore=ignored)
    (root / "kata").mkdir()
    shutil.copy(HOUSE.kata / "weights.py", root / "kata")
    for module in HOUSE.modules.values():
        text = (HOUSE.reference / f"{module}.py").read_text("utf-8")
        stubs = make_stubs(text, HOUSE.in_module(module))
        (root / "kata" / f"{module}.py").write_text(stubs, "utf-8")
    return root


def run(root: Path, *words: str) -> tuple[int, str]:
    """Run the benchmarks in the copy, as a person would."""
    command = [sys.executable, "-m", "pytest", "benchmarks", "-p", "no:cacheprovider", *words]
    env = {**os.environ, "COLUMNS": "100", "PY_COLORS": "0"}
    done = subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def saved(clone: Path) -> str:
    """What a newcomer's first run says; it is saved too."""
    words = ("--quick", "-k", "layer_norm and not backward", "--benchmark-autosave")
    status, told = run(clone, *words)
    assert status == 0, told
    return told


def test_unsolved_kata_is_not_started_and_nothing_fails(saved: str) -> None:
    """Its row says so; the reference and torch are timed all the same."""
    assert "kata                    not started: step 036" in saved
    assert "2 passed, 2 skipped" in saved
    assert "benchmark 'layer_norm forward cpu float32': 2 tests" in saved


@pytest.mark.usefixtures("saved")
def test_history_tells_each_saved_run(clone: Path) -> None:
    """One line for a run, under the benchmark's name."""
    status, told = run(clone, "--history")
    lines = told.splitlines()
    assert status == 0, told
    assert lines[lines.index("layer_norm forward cpu float32  reference") + 1].startswith("  0001")


@pytest.mark.usefixtures("saved")
def test_saved_run_is_timed_again_beside_todays(clone: Path) -> None:
    """The code kept in the run is the same as now: one row held against the limit, none slower."""
    words = ("--quick", "-k", "layer_norm and not backward and reference", "--against", "1")
    status, told = run(clone, *words)
    assert status == 0, told
    assert "0 of 1 rows are slower than run 0001 by 10 %." in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "nope"), "--against nope: give `reference`, `torch`"),
        (("--limit", "x"), "--limit x: a percentage above 0 is wanted"),
        (("--history", "--benchmark-storage", "empty"), "no saved runs in empty"),
    ],
    ids=["unknown baseline", "limit that is no number", "no history yet"],
)
def test_slips_are_told_in_one_line(clone: Path, words: tuple[str, ...], said: str) -> None:
    """What was given, and what to do."""
    status, told = run(clone, *words)
    assert status == 4
    assert f"ERROR: {said}" in told
    assert "Traceback" not in told
