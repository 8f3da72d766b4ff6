"""One of the rivals in a race: a call to be timed, made ready anew for every race."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]
Around = Callable[[], AbstractContextManager[object]]


class Absent(Exception):
    """Why a runner does not start, in one line: its steps are not written yet, say."""


@dataclass(frozen=True)
class Runner:
    """A rival: how its call is made ready, and what has to stand around it while it runs."""

    name: str
    prepare: Callable[[], Call]
    around: tuple[Around, ...] = ()
    on_trial: Around = nullcontext  # stands around the first call, which shows whether it can run

    def entered(self) -> ExitStack:
        """What stands around every call: a world, a gradient mode."""
        stack = ExitStack()
        for context in self.around:
            stack.enter_context(context())
        return stack
