"""Times a number of calls as one lap, on the CPU or on a device that works behind one's back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from benchmarks.waiting import waiting_clock

the_waiting_clock = cache(waiting_clock)


class Lap(NamedTuple):
    """Seconds that a number of calls took, and the same by a device's own events."""

    seconds: float
    events: float | None = None


class Clock(Protocol):
    """Whatever times a lap."""

    target: float  # seconds that a lap should take at least

    def lap(self, call: Callable[[], Any], times: int) -> Lap:
        """Make the calls, and say how long they took."""


class WallClock:
    """Time by the wall, less the time in which this thread waited for a core."""

    target = 0.0005  # long beside the timer's own 0.1 µs, short beside a scheduler's slice of 3 ms

    def __init__(self, waited: Callable[[], float] | None = None) -> None:
        self.waited = waited or the_waiting_clock() or float

    def lap(self, call: Callable[[], Any], times: int) -> Lap:
        """Time the calls one after the other; on the CPU a call that returns has done its work."""
        turns, waited = range(times), self.waited
        before = perf_counter()
        waited_before = waited()
        start = perf_counter()
        for _ in turns:
            call()
        end = perf_counter()
        waited_for = waited() - waited_before
        around = perf_counter() - before - (end - start)
        # What may have been waited for outside of the lap is not taken off it.
        return Lap(end - start - max(0.0, waited_for - around))


class DeviceClock:
    """A device that is only told what to do: it is waited for before a lap and after it."""

    target = 0.01  # long beside the wait itself

    def __init__(self, device: Any, wall: WallClock | None = None) -> None:
        self.device = device  # `torch.cuda`, or what looks like it
        self.wall = wall or WallClock()

    def lap(self, call: Callable[[], Any], times: int) -> Lap:
        """Time the calls as the host sees them, and as the device itself does."""
        start, end = (self.device.Event(enable_timing=True) for _ in range(2))
        turns = range(times)

        def from_wait_to_wait() -> None:
            start.record()
            for _ in turns:
                call()
            end.record()
            self.device.synchronize()

        self.device.synchronize()
        seconds = self.wall.lap(from_wait_to_wait, 1).seconds
        return Lap(seconds, start.elapsed_time(end) / 1000)  # torch gives milliseconds


def clock_of(device: str) -> Clock:
    """The clock that a device is timed with."""
    if device == "cpu":
        return WallClock()
    import torch

    return DeviceClock(torch.cuda)
