"""Where the learner's code begins: it cannot end the run from there, nor fake its outcome."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import unittest
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal

import pytest
from _pytest.outcomes import OutcomeException

from specs.harness import heartbeat, tampering
from specs.harness.failure import BROKEN, NOT_STARTED, Red

TIME_LIMIT = float(os.environ.get("DOJO_TIME_LIMIT", "10"))  # seconds a call or an import may take
AGAIN = 0.2  # seconds until a loop that swallowed the alarm hears it again
STUB = re.compile(r"step (\d{3}): write (\w+)")
HARNESS = str(Path(__file__).parent)
END_PROCESS = os._exit

BY_PYTEST = (OutcomeException, pytest.exit.Exception, unittest.SkipTest)
PUT_BACK = "It changed {}. That is everybody's; it was put back."


class TimeUp(BaseException):
    """The alarm. A BaseException, so that an honest ``except Exception`` lets it through."""


class _Watch:
    """The boundary that the learner's code runs in just now."""

    inside: _Boundary | None = None


def is_inside() -> bool:
    """Say whether the learner's code runs."""
    return _Watch.inside is not None


def refuse(sentence: str, kind: str = "forbidden", state: str = "wrong") -> None:
    """Stop the learner's code with a sentence that stays, even if the code swallows it."""
    red = Red(kind, sentence, state=state)
    if _Watch.inside is not None:
        _Watch.inside.refused = red
    raise red


def boundary(tag: str, *, thorough: bool = True) -> AbstractContextManager[object]:
    """Run the learner's code of one step: bounded in time, and unable to leave.

    Who calls it often may look after everybody's names himself, but for the built-in ones.
    """
    if is_inside():  # already: a lazy import, say
        return nullcontext()
    return _Boundary(tag, thorough)


class _Boundary:
    """A class, as an alarm must find no gap between a generator and its ``with``."""

    def __init__(self, tag: str, thorough: bool) -> None:
        self.tag = tag
        self.thorough = thorough
        self.refused: Red | None = None
        self.interrupted = False  # by a person
        self.process = os.getpid()
        self.threads = set(threading.enumerate())

    def __enter__(self) -> None:
        self.names = tampering.Names(all_spaces=self.thorough)
        self.restore_exits = self._bar_the_exits()
        heartbeat.begin(self.tag, TIME_LIMIT)
        _Watch.inside = self
        self.stop_signals = self._set_signals()  # last, as it may ring at once

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        changed = self.names.put_back()  # first: nothing else can be trusted before
        if os.getpid() != self.process:  # a process of the learner's own has come this far
            END_PROCESS(0)
        changed += self.stop_signals()
        self.restore_exits()
        heartbeat.end()
        _Watch.inside = None
        verdict = self._verdict(error, changed)
        if verdict is not None and verdict is not error:
            raise verdict from error
        return False

    def _verdict(self, error: BaseException | None, changed: list[str]) -> BaseException | None:
        """What is wrong; None where the code came back in good order."""
        if self.interrupted:  # swallowed or not
            return error if isinstance(error, KeyboardInterrupt) else KeyboardInterrupt()
        if self.refused is not None:
            return self.refused
        if error is not None:
            return _translate(error)
        if changed:
            what = " and ".join(changed)
            return Red("global state", PUT_BACK.format(what), yours=what)
        left = [thread for thread in threading.enumerate() if thread not in self.threads]
        for thread in left:
            thread.join(0.1)
        if any(thread.is_alive() for thread in left):
            return Red("thread", "It left a thread running.", yours="thread")
        return None

    def _bar_the_exits(self) -> Callable[[], None]:
        """Replace the ways out of the process that no exception handler sees."""
        ways = [
            (owner, name, getattr(owner, name), f"os.{name}")
            for owner in (os, sys.modules[os.name])
            for name in ("_exit", "abort")
        ]
        for label in ("stdout", "stderr"):
            stream = getattr(sys, label)
            if hasattr(stream, "close") and hasattr(stream, "__dict__"):
                ways.append((stream, "close", stream.close, f"sys.{label}.close"))

        def barred(label: str, leave: Callable[..., None]) -> Callable[..., None]:
            def call(*args: Any) -> None:
                if os.getpid() != self.process:
                    leave(*args)
                if is_inside():  # else kept for later, `atexit` say: in vain
                    refuse(f"It called {label}.", "exit", BROKEN)

            return call

        for owner, name, leave, label in ways:
            setattr(owner, name, barred(label, leave))

        def restore() -> None:
            for owner, name, leave, _ in ways:
                setattr(owner, name, leave)

        return restore

    def _set_signals(self) -> Callable[[], list[str]]:
        """Set an alarm that rings again and again; return what switches it off.

        Elsewhere than in the main thread of a POSIX system there is none: the last net is
        pytest-timeout's.
        """
        alarms = hasattr(signal, "setitimer")
        if not alarms or threading.current_thread() is not threading.main_thread():
            return list
        ours = {signal.SIGALRM: self._ring, signal.SIGINT: self._interrupt}
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            del ours[signal.SIGINT]
        before = {number: signal.signal(number, handler) for number, handler in ours.items()}
        signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT, AGAIN)

        def stop() -> list[str]:
            signal.setitimer(signal.ITIMER_REAL, 0)
            handlers = {number: signal.signal(number, before[number]) for number in before}
            return ["the signal handlers"] if handlers != ours else []

        return stop

    def _ring(self, _number: int, frame: FrameType | None) -> None:
        self.refused = self.refused or _too_long()
        if not _in_cleanup(frame):
            raise TimeUp

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        __tracebackhide__ = True  # pytest shows where the learner's code was
        self.interrupted = True
        signal.default_int_handler(number, frame)


def _in_cleanup(frame: FrameType | None) -> bool:
    """Say whether the harness is tidying up: an alarm there would leave things half done."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__exit__" and code.co_filename.startswith(HARNESS):
            return True
        frame = frame.f_back
    return False


def _too_long() -> Red:
    return Red("loop", f"Still running after {TIME_LIMIT:g} s: it was stopped.", state=BROKEN)


def _translate(error: BaseException) -> BaseException:
    """Turn a stub, and a way out of the run, into a failure of the step."""
    if isinstance(error, TimeUp):
        return _too_long()
    if isinstance(error, RecursionError):
        return Red("recursion", "It calls itself without end.", state=BROKEN)
    if isinstance(error, NotImplementedError):
        stub = STUB.search(str(error))
        told = f"step {stub[1]} is not started" if stub else ""
        return Red("not started", told, state=NOT_STARTED) if stub else error
    if isinstance(error, SystemExit):
        return Red("exit", f"It left through sys.exit({error.code!r}).", state=BROKEN)
    if isinstance(error, BY_PYTEST):
        name = type(error).__name__
        return Red("exit", f"It called pytest to decide the outcome ({name}).", state=BROKEN)
    if isinstance(error, Exception):
        return error
    return Red("exit", f"It raised {type(error).__name__}, which ends a program.", state=BROKEN)
