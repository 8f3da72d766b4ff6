"""Where the learner's code begins: whatever it does there, it cannot end the run or fake its outcome."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from _pytest.outcomes import OutcomeException

from specs.harness import heartbeat
from specs.harness.failure import BROKEN, NOT_STARTED, Red

TIME_LIMIT = float(os.environ.get("DOJO_TIME_LIMIT", "10"))  # seconds a call or an import may take
AGAIN = 0.2  # seconds until a loop that swallowed the alarm hears it again
STUB = re.compile(r"step (\d{3}): write (\w+)")


class TimeUp(BaseException):
    """The alarm. A BaseException, so that an honest ``except Exception`` lets it through."""


class _Watch:
    """What is watched for while the learner's code runs."""

    depth = 0
    closed_folder: Path | None = None  # reading below it is refused
    audited = False
    refused: Red | None = None


def close_folder(folder: Path | None) -> None:
    """Refuse from now on that the learner's code reads files below ``folder``."""
    _Watch.closed_folder = folder
    if not _Watch.audited:
        _Watch.audited = True
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not _Watch.depth or _Watch.closed_folder is None:
        return
    with suppress(TypeError, ValueError, OSError):
        path = Path(os.fsdecode(args[0])).resolve()
        if path.is_relative_to(_Watch.closed_folder):
            refuse(f"{path.name} was read from reference/: the answer is yours to write.")


def refuse(sentence: str) -> None:
    """Stop the learner's code with a sentence that stays, even if the code swallows it."""
    _Watch.refused = Red("forbidden", sentence)
    raise _Watch.refused


@contextmanager
def boundary(tag: str) -> Iterator[None]:
    """Run the learner's code of one step: bounded in time, and unable to leave."""
    if _Watch.depth:  # inside already: a lazy import, say
        yield
        return
    _Watch.depth, _Watch.refused = 1, None
    heartbeat.begin(tag, TIME_LIMIT)
    restore = _bar_the_exits()
    stop_alarm = _set_alarm()
    try:
        try:
            yield
        finally:
            stop_alarm()
            restore()
            heartbeat.end()
            _Watch.depth = 0
    except Exception as error:
        if _Watch.refused is not None:
            raise _Watch.refused from error
        if isinstance(error, (RecursionError, NotImplementedError, unittest.SkipTest)):
            raise _translate(error) from error
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _translate(error) from error
    if _Watch.refused is not None:
        raise _Watch.refused


def _translate(error: BaseException) -> BaseException:
    """Turn a way out of the run into a failure of the step."""
    if isinstance(error, TimeUp):
        return Red("loop", f"Still running after {TIME_LIMIT:g} s: it was stopped.", state=BROKEN)
    if isinstance(error, RecursionError):
        return Red("recursion", "It calls itself without end.", state=BROKEN)
    if isinstance(error, NotImplementedError):
        stub = STUB.search(str(error))
        return (
            Red("not started", f"step {stub[1]} is not started", state=NOT_STARTED)
            if stub
            else error
        )
    if isinstance(error, SystemExit):
        return Red("exit", f"It left through sys.exit({error.code!r}).", state=BROKEN)
    if isinstance(error, (OutcomeException, unittest.SkipTest)):
        name = type(error).__name__
        return Red("exit", f"It called pytest to decide the outcome ({name}).", state=BROKEN)
    return Red("exit", f"It raised {type(error).__name__}, which ends a program.", state=BROKEN)


def _bar_the_exits() -> Callable[[], None]:
    """Replace the ways out of the process that no exception handler sees."""
    kept: dict[tuple[Any, str], Any] = {(os, "_exit"): os._exit, (os, "abort"): os.abort}

    def refused(name: str) -> Callable[..., None]:
        def call(*_: object, **__: object) -> None:
            _Watch.refused = Red("exit", f"It called {name}.", state=BROKEN)
            raise _Watch.refused

        return call

    for module, name in kept:
        setattr(module, name, refused(f"{module.__name__}.{name}"))

    def restore() -> None:
        for (module, name), function in kept.items():
            setattr(module, name, function)

    return restore


def _set_alarm() -> Callable[[], None]:
    """Set an alarm that rings again and again; return what switches it off.

    Elsewhere than in the main thread of a POSIX system there is none: the last net is pytest-timeout's.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        return lambda: None

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT, AGAIN)

    def stop() -> None:
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
                return
            except TimeUp:  # rang between the call's end and here
                continue

    return stop
