"""A parent process that keeps the verdict: the learner's code can end its own process, not the run.

On POSIX the run happens in a forked child. The child sends every verdict, and at last its exit
status, through a pipe; a page of shared memory says which step runs and until when it may. A child
that falls silent, leaves early or cannot be stopped from inside is ended, and its last step named.
The fork comes before torch is imported, so it costs a few milliseconds.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import IO, Any

from specs.harness import heartbeat

GRACE = 2.0  # seconds after the deadline in which the alarm inside may still succeed
LINGER = 5.0  # seconds after the last test that a thread left behind may keep the child alive
FRAME = re.compile(r'File "(.+?)", line (\d+)')


@dataclass
class Ending:
    """How the child ended, and what it said until then."""

    status: int | None  # None: it never finished
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    chosen: list[int] | None = None  # the steps it set out to run; None: still loading them
    step: str = ""  # the tag of the last step seen running
    why: str = ""
    signalled: int = 0  # by a person: the number of the signal
    frames: list[tuple[str, int]] = field(default_factory=list)


class Line:
    """The child's end of the pipe."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def send(self, kind: str, content: object) -> None:
        """Send one message to the parent; where none hears, there is nothing left to do."""
        try:
            os.write(self.descriptor, json.dumps([kind, content]).encode() + b"\n")
        except OSError:
            os._exit(1)


line: Line | None = None  # in the child: the way to the parent


def possible() -> bool:
    """Say whether this process may divide in two."""
    return hasattr(os, "fork") and threading.active_count() == 1 and line is None


def divide() -> Ending | None:
    """Fork. The child gets None and goes on; the parent waits, and gets the child's ending."""
    global line  # noqa: PLW0603  # the one thing that the child is to know
    page = heartbeat.share()
    dump = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        line = Line(writing)
        faulthandler.register(signal.SIGUSR1, file=dump, all_threads=False)
        _dumps.append(dump)
        return None
    os.close(writing)
    return _watch(child, reading, page, dump)


_dumps: list[IO[str]] = []


def catch_crashes() -> None:
    """In the child: let a crash leave its traceback where the parent finds it."""
    if _dumps:
        faulthandler.enable(file=_dumps[-1], all_threads=False)


def _watch(child: int, reading: int, page: Any, dump: IO[str]) -> Ending:
    ending = Ending(None)

    def hear(number: int, _frame: FrameType | None) -> None:
        ending.signalled = number
        if number == signal.SIGTERM:  # from the keyboard the child hears it too
            os.kill(child, number)

    before = {one: signal.signal(one, hear) for one in (signal.SIGINT, signal.SIGTERM)}
    killed, finished = False, time.monotonic()
    try:
        buffer, status = b"", None
        while status is None:
            ready, _, _ = select.select([reading], [], [], 0.1)
            chunk = os.read(reading, 65536) if ready else b""
            buffer = _take_messages(buffer + chunk, ending)
            if ready and not chunk:  # closed: the child is about to end, or has shut the pipe
                time.sleep(0.002)
            done, waited = os.waitpid(child, os.WNOHANG)
            if done:
                status = waited
            deadline, ending.step = heartbeat.read(page)
            now = time.monotonic()
            if ending.status is None:
                finished = now
            if deadline and now > deadline + GRACE and not killed and status is None:
                killed = True
                _end(child)
            if status is None and now > finished + LINGER:
                os.kill(child, signal.SIGKILL)
        buffer = _drain(reading, buffer, ending)
    finally:
        os.close(reading)
        for number, handler in before.items():
            signal.signal(number, handler)
    if ending.status is None:
        ending.why = _why(status, killed, ending.signalled)
        dump.seek(0)
        ending.frames = [(path, int(at)) for path, at in FRAME.findall(dump.read())]
    dump.close()
    return ending


def _end(child: int) -> None:
    os.kill(child, signal.SIGUSR1)  # where are you?
    time.sleep(0.3)
    os.kill(child, signal.SIGKILL)


def _why(status: int, killed: bool, signalled: int) -> str:
    if killed:
        return "could not be stopped, so its process was ended"
    if signalled:
        return f"was stopped by {_name(signalled)}"
    if os.WIFSIGNALED(status):
        return f"ended its own process: killed by {_name(os.WTERMSIG(status))}"
    return f"ended its own process, with exit status {os.WEXITSTATUS(status)}"


def _name(number: int) -> str:
    known = {int(one): one.name for one in signal.Signals}
    return known.get(number, f"signal {number}")


def _take_messages(buffer: bytes, ending: Ending) -> bytes:
    *complete, rest = buffer.split(b"\n")
    for message in complete:
        match json.loads(message):
            case ["verdict", dict(content)]:
                ending.verdicts.append(content)
            case ["chosen", list(content)]:
                ending.chosen = content
            case ["finished", int(content)]:
                ending.status = content
    return rest


def _drain(reading: int, buffer: bytes, ending: Ending) -> bytes:
    """Read what is still in the pipe, without waiting for whoever else may hold it open."""
    while select.select([reading], [], [], 0)[0]:
        chunk = os.read(reading, 65536)
        if not chunk:
            break
        buffer = _take_messages(buffer + chunk, ending)
    return buffer


def told(ending: Ending, of_learner: Callable[[str], bool]) -> tuple[str, int | None]:
    """Say how the child ended, and at which of the learner's lines."""
    for path, at in ending.frames:
        if of_learner(path):
            return ending.why, at
    return ending.why, None
