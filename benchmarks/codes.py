"""Whose code is timed: a kata, the reference, or what either was at another time, side by side."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.runner import Absent
from specs.harness import globalstate
from specs.harness.boundary import STUB
from specs.harness.failure import Red, in_one_line
from specs.harness.source import Unreadable
from specs.harness.steps import House, UserError
from specs.harness.worlds import World

NOT_STARTED = "not started"


class OpenHouse(House):
    """A house without a closed door: nobody is under test, and the seals would be timed too."""

    @property
    def reference(self) -> Path:
        """No folder that is to be kept closed."""
        return self.root / "no reference"

    @cached_property
    def modules(self) -> dict[str, str]:
        """The module of each part, from the folder that is not to be named."""
        return House(self.root).modules


class Code:
    """One folder of parts, loaded as a kata of its own."""

    def __init__(self, register: House, folder: Path, house: House | None = None) -> None:
        """Load lazily; ``register`` knows the steps, ``house`` is where the folder belongs."""
        self.register = register
        root = (house or register).root
        self.world = World(OpenHouse(root), folder, register.steps[0], own=True)
        self.steps = Steps(self)

    def module(self, name: str) -> ModuleType:
        """One of its modules, such as ``weights``; what loading it changes is put back."""
        before = globalstate.take()
        try:
            with self.world.entered():
                return importlib.import_module(f"kata.{name}")
        finally:
            before.put_back()


class Steps:
    """The functions of one code by name: ``steps.layer_norm``."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Find a step's function where the register says that it is; once, then it is here."""
        if name.startswith("_"):
            raise AttributeError(name)
        module = self._code.module(_module_of(self._code.register, name))
        function: Callable[..., Any] | None = getattr(module, name, None)
        if function is None:
            raise Absent(f"has no {name}")
        setattr(self, name, function)
        return function


def _module_of(register: House, name: str) -> str:
    try:
        return register.find(name).module
    except UserError:
        raise Absent(f"there is no step {name}") from None


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Turn what somebody's code raises into why it does not start."""
    try:
        yield
    except Absent:
        raise
    except NotImplementedError as error:
        stub = STUB.search(str(error))
        raise Absent(f"{NOT_STARTED}: step {stub[1]}" if stub else _told(label, error)) from error
    except Red as red:
        raise Absent(f"{label}: {red.sentence}") from red
    except Unreadable as error:
        raise Absent(str(error)) from error
    except ModuleNotFoundError as error:
        missing = re.fullmatch(r"kata\.(part\w+|weights)", error.name or "")
        raise Absent(f"has no {missing[1]}" if missing else _told(label, error)) from error
    except Exception as error:
        raise Absent(_told(label, error)) from error


def _told(label: str, error: Exception) -> str:
    return f"{label} raises {in_one_line(error)}"


@contextmanager
def unchanged(label: str) -> Iterator[None]:
    """Refuse a rival that changes what all share: with more threads, say, it would be unequal."""
    before = globalstate.take()
    try:
        yield
    finally:
        changed = set(before.put_back()) - globalstate.RANDOM - globalstate.BY_IMPORTS
    if changed:
        raise Absent(f"{label} changes {' and '.join(sorted(changed))}")
