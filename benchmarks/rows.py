"""Which rows there are: whose code, on which device, in which dtype; and which are wanted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from benchmarks.environment import why_no_cuda
from specs.harness.steps import House

IMPLS = ("kata", "reference", "torch")
DEVICES = ("cpu", "cuda")
DTYPES = ("float32", "bfloat16")
NAMED = ("T", "way", "size", "batch", "impl", "device", "dtype")  # parameters told by name
LONGEST_HALF = 512  # bfloat16 on the CPU is there to be watched, not to be waited for
LONGEST_QUICK = 512
SCALING = (256, 1024, 4096)  # lengths that are there for the exponent, one way


def spread(metafunc: pytest.Metafunc) -> None:
    """Make one row for each implementation, device and dtype."""
    if "row" in metafunc.fixturenames:
        metafunc.parametrize("dtype", DTYPES)
        metafunc.parametrize("device", DEVICES)
        metafunc.parametrize("impl", IMPLS)


def choose(items: list[pytest.Item], house: House, quick: bool) -> list[pytest.Item]:
    """The rows to run: those of steps that exist, and of CUDA all or, for its reason, one."""
    why = why_no_cuda() if any("row" in _fixtures(item) for item in items) else None
    chosen, without_cuda = [], set()
    for item in items:
        params = params_of(item)
        if not _has_step(item, house) or not is_wanted(params, quick):
            continue
        if params.get("device") == "cuda" and why is not None:
            if item.location[0] in without_cuda:
                continue
            without_cuda.add(item.location[0])
            item.add_marker(pytest.mark.skip(reason=f"cuda: {why}"))
        chosen.append(item)
    return chosen


def is_wanted(params: dict[str, Any], quick: bool) -> bool:
    """Say whether a row is worth its time."""
    length = params.get("T", 0)
    if length in SCALING and params.get("way") != "forward":
        return False
    on_cpu_in_half = params.get("device") == "cpu" and params.get("dtype") == "bfloat16"
    if on_cpu_in_half and ("size" in params or length not in (0, LONGEST_HALF)):
        return False
    if not quick:
        return True
    is_small = length <= LONGEST_QUICK and length not in SCALING and params.get("batch", 1) == 1
    return is_small and params.get("size") != "large" and params.get("dtype") == "float32"


def params_of(item: pytest.Item) -> dict[str, Any]:
    """A row's parameters by name."""
    callspec = getattr(item, "callspec", None)
    return dict(callspec.params) if callspec else {}


def race_of(item: pytest.Item) -> str:
    """The name of the race that a row is part of: everything but whose code it is."""
    name = getattr(item, "originalname", item.name).removeprefix("test_")
    settings = [
        str(value) if key in ("way", "device", "dtype") else f"{key}={value}"
        for key, value in sorted(params_of(item).items(), key=lambda pair: NAMED.index(pair[0]))
        if key != "impl"
    ]
    return " ".join([name, *settings])


def impls_by_race(items: Iterable[pytest.Item]) -> dict[str, set[str]]:
    """Whose code is wanted in each race."""
    found: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if "impl" in params_of(item):
            found[race_of(item)].add(params_of(item)["impl"])
    return found


def _fixtures(item: pytest.Item) -> Iterable[str]:
    return getattr(item, "fixturenames", ())


def _has_step(item: pytest.Item, house: House) -> bool:
    marker = item.get_closest_marker("step")
    return marker is None or any(step.number == marker.args[0] for step in house.steps)
