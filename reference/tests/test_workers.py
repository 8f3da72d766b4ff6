"""Workers answer in order, say what went wrong, and are gone afterwards, whatever they did."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from specs.harness import boundary
from specs.harness.failure import BROKEN, Red
from specs.harness.guard import Guard
from specs.harness.mail import strays_of
from specs.harness.workers import POSSIBLE, Crew, dies

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="there is no fork here, or no gloo")


@pytest.fixture(autouse=True)
def _nobody_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody waits for long, and afterwards no worker is there any more."""
    workers: list[int] = []
    fork = os.fork
    monkeypatch.setattr(os, "fork", lambda: workers.append(fork()) or workers[-1])
    monkeypatch.setattr(boundary, "TIME_LIMIT", 0.5)
    torch.set_num_threads(1)
    yield
    assert workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def crews(*shares: tuple[Callable[[], Any], ...]) -> list[Crew]:
    """One crew for each tuple of shares, for one function under test."""
    guard = SimpleNamespace(function=object(), judge=None)
    return [Crew(guard, *one) for one in shares]


def red_of(*shares: Callable[[], Any]) -> Red:
    """How a crew fails."""
    (crew,) = crews(shares)
    with pytest.raises(Red) as caught:
        crew.answers()
    return caught.value


def summed() -> float:
    """What all workers' ranks, counted from 1, add up to."""
    tensor = torch.tensor(dist.get_rank() + 1.0)
    dist.all_reduce(tensor)
    return tensor.item()


def raises() -> None:
    """A share that fails."""
    raise KeyError("lost")


def sleeps() -> None:
    """A share that does not come back."""
    time.sleep(100)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_workers_talk_and_answer_in_order(size: int) -> None:
    """1 + 2 + … is the same for all; ranks rise."""
    (crew,) = crews(tuple([lambda: (dist.get_rank(), summed())] * size))
    assert crew.answers() == [(rank, size * (size + 1) / 2) for rank in range(size)]


def test_crews_of_one_size_are_served_by_the_same_workers() -> None:
    """They are asked once, and what they said is kept."""
    two, also_two, three = crews((os.getpid,) * 2, (os.getpid,) * 2, (os.getpid,) * 3)
    assert two.answers() == also_two.answers() == two.answers()
    assert len({os.getpid(), *two.answers(), *three.answers()}) == 6


def test_error_of_one_worker_is_told() -> None:
    """The other one waits for it in vain, which is not the news."""
    red = red_of(summed, raises)
    assert red.rows == [("raised", "KeyError: 'lost'"), ("worker", "1 of 2")]


def test_after_an_error_fresh_workers_go_on() -> None:
    """The second crew is none the worse."""
    bad, good = crews((raises, summed), (summed, summed))
    with pytest.raises(Red):
        bad.answers()
    assert good.answers() == [3.0, 3.0]


def test_worker_that_ends_is_told() -> None:
    """It is why the other one failed."""
    red = red_of(summed, lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert (red.state, red.sentence) == (BROKEN, "Worker 1 ended before it had an answer.")


def test_worker_that_is_to_die_is_not_missed() -> None:
    """The other one is told by torch, at once."""

    def told() -> str:
        with pytest.raises(RuntimeError):
            summed()
        return "told"

    (crew,) = crews((told, dies))
    assert crew.answers() == ["told", None]


def test_nobody_is_waited_for_when_another_is_done() -> None:
    """It says who, and why that may be."""
    began = time.monotonic()
    red = red_of(sleeps, lambda: None)
    assert red.sentence.startswith("Worker 0 was still waiting when worker 1 was done")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("device", ["cpu", "as given"])
def test_what_is_sent_from_the_cpu_is_seen(device: str) -> None:
    """A count beside the gradients is well; one on the CPU is a stray."""

    def counts(parameters: list[torch.Tensor], count: int) -> None:
        where = parameters[0].device if device == "as given" else torch.device(device)
        dist.all_reduce(torch.tensor([count], device=where))

    guard = Guard("110", counts, changes=frozenset({"parameters"}))
    crew = Crew(guard, lambda: strays_of(guard, [torch.ones(2)], 3))
    assert crew.answers() == [["torch.int64 (1,)"] if device == "cpu" else []]
