"""State that belongs to everybody: taken before the learner's code runs, put back after it."""

from __future__ import annotations

import builtins
import logging
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

# A library that is loaded for the first time may change these, and rightly so.
BY_IMPORTS = frozenset({"the warnings filters", "the environment variables", "the logging level"})


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


def _write_dict(target: Any) -> Callable[[dict[Any, Any]], None]:
    def write(before: dict[Any, Any]) -> None:
        for key in [key for key in target if key not in before]:
            del target[key]
        for key, value in before.items():
            if target.get(key, None) is not value:
                target[key] = value

    return write


def _same_entries(before: dict[Any, Any], after: dict[Any, Any]) -> bool:
    return before.keys() == after.keys() and all(
        value is after[key] for key, value in before.items()
    )


def _built_ins() -> dict[str, Any]:
    # The interpreter's own underscore follows what was printed last.
    return {key: value for key, value in vars(builtins).items() if key != "_"}


PYTHON = [
    Part("Python's random generator", random.getstate, random.setstate),
    Part("the warnings filters", lambda: list(warnings.filters), lambda f: warnings.filters.__setitem__(slice(None), f)),  # type: ignore[index]
    Part("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    Part("the working folder", _cwd, lambda folder: folder and os.chdir(folder)),
    Part("the environment variables", lambda: dict(os.environ), _write_dict(os.environ)),
    Part("the logging level", lambda: (logging.root.level, logging.root.manager.disable), lambda s: (logging.root.setLevel(s[0]), logging.disable(s[1]))),
    Part("Python's built-in functions", _built_ins, _write_dict(vars(builtins)), _same_entries),
]  # fmt: skip


def _alarm() -> list[Part]:
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        return []
    return [Part("the alarm's handler", lambda: signal.getsignal(signal.SIGALRM), lambda handler: signal.signal(signal.SIGALRM, handler))]  # fmt: skip


def _numpy(numpy: Any) -> list[Part]:
    def same(before: Any, after: Any) -> bool:
        return before[2:] == after[2:] and bool((before[1] == after[1]).all())

    return [Part("NumPy's random generator", numpy.random.get_state, numpy.random.set_state, same)]


def _torch(torch: Any) -> list[Part]:
    return [
        Part("torch's default random generator", torch.get_rng_state, torch.set_rng_state, torch.equal),
        Part("the gradient mode", torch.is_grad_enabled, torch._C._set_grad_enabled),
        Part("torch's default dtype", torch.get_default_dtype, torch.set_default_dtype),
        Part("torch's default device", torch.get_default_device, lambda device: torch.set_default_device(None if device.type == "cpu" else device)),
        Part("torch's thread count", torch.get_num_threads, torch.set_num_threads),
        Part("torch's deterministic mode", torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
        Part("torch's anomaly mode", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    ]  # fmt: skip


def _parts() -> list[Part]:
    parts = PYTHON + _alarm()
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
