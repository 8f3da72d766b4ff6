"""Workers: real processes that train together. Each does its share of a test, and all of them end.

A worker is a fork of this process, so it has the function under test as it is: the learner's, a
mistake or a mutant. The workers are one process group, gloo over the loopback interface, and send
their answers through pipes. To fork is dear and to talk is cheap: so all crews of a size that a
spec has written down are served by the same workers, one after the other, until something goes
wrong; then fresh ones go on.

Nobody is waited for longer than ``patience()``, or than ``linger()`` once another one is done; then
all are killed. Workers whose parent is gone are ended by the end of the pipe, by the boundary's
alarm, by gloo's own timeout, and by a limit on their time.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
import torch.distributed as dist

from specs.harness import boundary, heartbeat
from specs.harness.failure import BROKEN, NOT_STARTED, WRONG, Red, in_one_line
from specs.harness.guard import Guard

Share = Callable[[], Any]

POSSIBLE = hasattr(os, "fork") and dist.is_available() and dist.is_gloo_available()
START = 20.0  # seconds until all are connected, on a busy machine
CPU_LIMIT = 30  # seconds of one worker's own
GO = READY = b"*"
DEAD = "worker"  # the kind of failure


def dies() -> None:
    """A share: the worker is killed when its turn has come. It has no answer: that is None."""
    os.kill(os.getpid(), signal.SIGKILL)


def given(name: str, value: object) -> pytest.MarkDecorator:
    """Hand a test its one value, such as a crew, as an argument."""
    return pytest.mark.parametrize(name, [value], ids=[pytest.HIDDEN_PARAM])


def patience() -> float:
    """How many seconds a crew may take: one more than the boundary gives each of its calls."""
    return boundary.TIME_LIMIT + 1


def linger() -> float:
    """How many seconds the others may take once one is done: less than the boundary gives them."""
    return min(1.5, 0.8 * boundary.TIME_LIMIT)


class Crew:
    """As many workers as there are shares, in one process group.

    ``function`` is the one under test, which the shares call. They are run in forks: what they do
    to tensors made before does not show here.
    """

    _all: ClassVar[dict[int, list[Crew]]] = {}  # by the guard of the function under test

    def __init__(self, function: Any, *shares: Share) -> None:
        self.guard = cast(Guard, function)
        self.shares = shares
        self.outcomes: dict[int, tuple[object, Any]] = {}  # by function; it is kept, with its id
        self._all.setdefault(id(function), []).append(self)

    def answers(self) -> list[Any]:
        """What each worker answers, in order; what went wrong first in any of them is raised."""
        if not POSSIBLE:
            pytest.skip("there is no fork here, or no gloo")
        key = id(self.guard.function)
        if key not in self.outcomes:
            others = [crew for crew in self._all[id(self.guard)] if self._is_like(crew)]
            _serve([self, *(crew for crew in others if key not in crew.outcomes)])
        outcome = self.outcomes[key][1]
        if isinstance(outcome, _Packed):
            raise outcome.as_red()
        return cast(list[Any], outcome)

    def _is_like(self, crew: Crew) -> bool:
        return crew is not self and len(crew.shares) == len(self.shares)


def _serve(crews: list[Crew]) -> None:
    """Let workers do the shares of one crew after the other, until something goes wrong."""
    with _hired(crews) as workers:
        for number, crew in enumerate(crews):
            outcome = _outcome(workers, crew.shares)
            failed = isinstance(outcome, _Packed)
            for_all = isinstance(outcome, _Packed) and outcome.is_for_all()
            for one in crews[number:] if for_all else [crew]:
                one.outcomes[id(one.guard.function)] = one.guard.function, outcome
            if failed or dies in crew.shares:
                break


def _outcome(workers: list[_Worker], shares: tuple[Share, ...]) -> list[Any] | _Packed:
    for worker in workers:
        with suppress(BrokenPipeError):  # it has died in the meantime
            worker.line.send_bytes(GO)
    answers: dict[int, Any] = {}
    deadline = time.monotonic() + patience()
    while len(answers) < len(workers):
        busy = {worker.line: worker for worker in workers if worker.rank not in answers}
        lines = wait(list(busy), max(0.0, deadline - time.monotonic()))
        if not lines:
            return _still_busy([worker.rank for worker in busy.values()], list(answers))
        for worker in (busy[cast(Connection, line)] for line in lines):
            mortal = shares[worker.rank] is dies
            answer = worker.answer(mortal)
            if isinstance(answer, _Packed):
                others = [one for one in busy.values() if one is not worker]
                return _cause(answer, [one for one in others if shares[one.rank] is not dies])
            answers[worker.rank] = answer
            if not mortal:
                deadline = min(deadline, time.monotonic() + linger())
    return [answers[worker.rank] for worker in workers]


def _cause(failure: _Packed, others: list[_Worker]) -> _Packed:
    """If another worker has died, that is why."""
    for other in others:
        if other.line.poll(0.1):
            answer = other.answer(mortal=False)
            if isinstance(answer, _Packed) and answer.kind == DEAD:
                return answer
    return failure


def _still_busy(busy: list[int], done: list[int]) -> _Packed:
    when = f"worker {done[0]} was done" if done else "its time was up"
    sentence = f"Worker {busy[0]} was still waiting when {when}: all have to make the same calls."
    return _Packed("workers", sentence, sentence)


class _hired:  # noqa: N801  # reads as what it does
    """Workers for some crews, killed in the end."""

    def __init__(self, crews: list[Crew]) -> None:
        self.crews = crews
        self.workers: list[_Worker] = []

    def __enter__(self) -> list[_Worker]:
        self.folder = tempfile.TemporaryDirectory()
        try:
            for rank in range(len(self.crews[0].shares)):
                self.workers.append(self._fork(rank))
            for worker in self.workers:
                worker.get_ready()
        except BaseException:
            self.__exit__()
            raise
        return self.workers

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()
        heartbeat.end()  # of those that were killed at work
        self.folder.cleanup()

    def _fork(self, rank: int) -> _Worker:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():  # about threads: pytest's own timer may be one
            warnings.simplefilter("ignore")
            process = os.fork()
        if process:
            theirs.close()
            return _Worker(rank, process, ours)
        try:  # in the worker, which never comes back from here
            for line in (ours, *(worker.line for worker in self.workers)):
                line.close()
            self.crews[0].guard.judge = _absent
            shares = [crew.shares[rank] for crew in self.crews]
            _work(theirs, rank, len(self.crews[0].shares), self.folder.name, shares)
        finally:
            boundary.END_PROCESS(0)


@dataclass
class _Worker:
    """The parent's end of one worker."""

    rank: int
    process: int
    line: Connection

    def get_ready(self) -> None:
        """Wait until the worker is in the group."""
        told = self.line.recv_bytes() if self.line.poll(START) else b"no answer"
        if told != READY:
            raise RuntimeError(f"worker {self.rank} does not get ready: {told.decode()}")

    def answer(self, mortal: bool) -> Any:
        """Take the worker's answer, or what went wrong; a mortal one has none."""
        try:
            return pickle.loads(self.line.recv_bytes())
        except EOFError:
            sentence = f"Worker {self.rank} ended before it had an answer."
            return None if mortal else _Packed(DEAD, sentence, sentence, BROKEN)

    def end(self) -> None:
        """End the worker, whatever it is doing."""
        self.line.close()
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def _work(line: Connection, rank: int, size: int, folder: str, shares: list[Share]) -> None:
    """In the worker: do one share after the other, each when all are ready for it.

    Who leaves is a dead worker to the others. So whoever fails leaves at once, and nobody else.
    """
    import resource  # Windows has none

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    try:
        _join(rank, size, folder)
    except Exception as error:
        line.send_bytes(in_one_line(error).encode())
        return
    line.send_bytes(READY)
    for share in shares:
        line.recv_bytes()
        try:
            told, failed = pickle.dumps(share()), False
        except BaseException as error:
            told, failed = pickle.dumps(_packed(error, f"{rank} of {size}")), True
        sys.stdout.flush()
        line.send_bytes(told)
        if failed:
            return
    line.poll(None)


def _join(rank: int, size: int, folder: str) -> None:
    names = [name for _, name in socket.if_nameindex()]
    os.environ["GLOO_SOCKET_IFNAME"] = next(name for name in names if name.startswith("lo"))
    store = dist.FileStore(  # type: ignore[attr-defined]  # as documented
        f"{folder}/store", size
    )
    store.set_timeout(timedelta(seconds=START))
    limit = timedelta(seconds=max(boundary.TIME_LIMIT, 5.0))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=limit)


def _absent(*_: Any, **__: Any) -> None:
    """Stands for the reference: its calls to the other workers would mix with the learner's."""
    raise RuntimeError("no comparison with the reference among workers")


@dataclass
class _Packed:
    """A failure, in a form that travels."""

    kind: str
    sentence: str
    yours: object
    state: str = WRONG
    rows: tuple[tuple[str, str], ...] = ()

    def is_for_all(self) -> bool:
        """Say whether there is no need to ask again: of a stub, or of what it may not call."""
        return self.state == NOT_STARTED or self.kind == "forbidden"

    def as_red(self) -> Red:
        rows = list(self.rows)
        return Red(self.kind, self.sentence, rows=rows, yours=self.yours, state=self.state)


def _packed(error: BaseException, name: str) -> _Packed:
    where = ("worker", name)
    if isinstance(error, Red):
        rows = (*error.rows, where)
        return _Packed(error.kind, error.sentence, error.yours, error.state, rows)
    message = in_one_line(error)
    steady = re.sub(r"\d+", "…", message)  # ports and the like differ from run to run
    return _Packed("raised", "", steady, rows=(("raised", message), *_own_line(error), where))


def _own_line(error: BaseException) -> Iterator[tuple[str, str]]:
    """The learner's line that an error came through."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [f for f in frames if str(f[0].f_globals.get("__name__")).startswith("kata.")]
    for frame, line in own[-1:]:
        yield "line", f"{'/'.join(Path(frame.f_code.co_filename).parts[-2:])}:{line}"
