"""State that belongs to everybody: taken before the learner's code runs, put back after it."""

from __future__ import annotations

import gc
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

# A library that is loaded for the first time may change these, and rightly so.
BY_IMPORTS = frozenset(
    {"the warnings filters", "the environment variables", "the search path of imports"}
    | {"the logging level", "the logging handlers"}
)

PYTHONS_RANDOM = "Python's random generator"
NUMPYS_RANDOM = "NumPy's random generator"
TORCHS_RANDOM = "torch's default random generator"
RANDOM = frozenset({PYTHONS_RANDOM, NUMPYS_RANDOM, TORCHS_RANDOM})


@dataclass
class Part:
    """One piece of global state: how to read it, how to put it back."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], Any]
    same: Callable[[Any, Any], bool] = lambda before, after: bool(before == after)


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _enter(folder: str | None) -> None:
    if folder is not None:
        os.chdir(folder)


def _set_logging(levels: tuple[int, int]) -> None:
    logging.root.setLevel(levels[0])
    logging.disable(levels[1])


def _write_dict(target: Any) -> Callable[[dict[Any, Any]], None]:
    def write(before: dict[Any, Any]) -> None:
        for key in [key for key in target if key not in before]:
            del target[key]
        for key, value in before.items():
            if target.get(key, None) is not value:
                target[key] = value

    return write


def _set_streams(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


def _list(owner: Any, name: str) -> tuple[Callable[[], list[Any]], Callable[[list[Any]], None]]:
    """How to read a list that something holds, and how to write it."""

    def write(before: list[Any]) -> None:
        getattr(owner, name)[:] = before

    return lambda: [*getattr(owner, name)], write


def _logging_levels() -> tuple[int, int]:
    return logging.root.level, logging.root.manager.disable


PYTHON = [
    Part(PYTHONS_RANDOM, random.getstate, random.setstate),
    Part("the warnings filters", *_list(warnings, "filters")),
    Part("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    Part("the working folder", _cwd, _enter),
    Part("the environment variables", lambda: dict(os.environ), _write_dict(os.environ)),
    Part("the logging level", _logging_levels, _set_logging),
    Part("the logging handlers", *_list(logging.root, "handlers")),
    Part("Python's input and output", lambda: (sys.stdin, sys.stdout, sys.stderr), _set_streams),
    Part("the search path of imports", *_list(sys, "path")),
    Part("Python's tracing", sys.gettrace, sys.settrace),
    Part("Python's profiling", sys.getprofile, sys.setprofile),
    Part("the garbage collector", gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
]


def _numpy(numpy: Any) -> list[Part]:
    def same(before: Any, after: Any) -> bool:
        return before[2:] == after[2:] and bool((before[1] == after[1]).all())

    return [Part(NUMPYS_RANDOM, numpy.random.get_state, numpy.random.set_state, same)]


def _leave_modes(torch: Any, count: int) -> None:
    while torch._C._len_torch_function_stack() > count:
        torch._C._pop_torch_function_stack()


def _in_a_group(torch: Any) -> bool:
    distributed = torch.distributed
    return bool(distributed.is_available() and distributed.is_initialized())


def _torch(torch: Any) -> list[Part]:
    def leave_group(was_in_one: bool) -> None:
        if not was_in_one:
            torch.distributed.destroy_process_group()

    def set_device(device: Any) -> None:
        torch.set_default_device(None if device.type == "cpu" else device)

    def set_autocast(on: bool) -> None:
        torch.set_autocast_enabled("cpu", on)

    always_same = torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms
    precision = torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
    modes = torch._C._len_torch_function_stack, lambda count: _leave_modes(torch, count)
    return [
        Part(TORCHS_RANDOM, torch.get_rng_state, torch.set_rng_state, torch.equal),
        Part("the gradient mode", torch.is_grad_enabled, torch._C._set_grad_enabled),
        Part("torch's default dtype", torch.get_default_dtype, torch.set_default_dtype),
        Part("torch's default device", torch.get_default_device, set_device),
        Part("torch's thread count", torch.get_num_threads, torch.set_num_threads),
        Part("torch's deterministic mode", *always_same),
        Part("torch's anomaly mode", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
        Part("torch's precision of matrix products", *precision),
        Part("torch's autocast", lambda: torch.is_autocast_enabled("cpu"), set_autocast),
        Part("torch's function modes", *modes),
        Part("torch's process group", lambda: _in_a_group(torch), leave_group),
    ]


def _parts() -> list[Part]:
    parts = PYTHON
    if "numpy" in sys.modules and hasattr(sys.modules["numpy"], "random"):
        parts = parts + _numpy(sys.modules["numpy"])
    if "torch" in sys.modules and hasattr(sys.modules["torch"], "autograd"):
        parts = parts + _torch(sys.modules["torch"])
    return parts


@dataclass
class Taken:
    """What the state was."""

    values: list[tuple[Part, Any]]

    def changed(self) -> list[str]:
        """Name what is not as it was."""
        return [part.name for part, before in self.values if not part.same(before, part.read())]

    def put_back(self, only: Collection[str] | None = None) -> list[str]:
        """Put everything back, or only what is named, and name what had to be."""
        changed = []
        for part, before in self.values:
            if (only is None or part.name in only) and not part.same(before, part.read()):
                part.write(before)
                changed.append(part.name)
        return changed


def take() -> Taken:
    """Read the state, as far as the libraries it belongs to are loaded."""
    return Taken([(part, part.read()) for part in _parts()])
