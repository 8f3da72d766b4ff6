"""One line on the terminal that says how training goes; nothing where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from kata.weights import StepRecord

EVERY = 0.2  # seconds between two changes of the line


class ProgressLine:
    """Rewrites its line as steps are reported."""

    def __init__(
        self, label: str, uncaptured: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self.label = label
        self.uncaptured = uncaptured
        self.started = time.perf_counter()
        self.shown = 0.0
        self.tokens = 0

    def __call__(self, record: StepRecord, steps: int) -> None:
        """Report one step of so many."""
        now = time.perf_counter()
        self.tokens += record.tokens
        if now - self.shown < EVERY and record.step < steps:
            return
        self.shown = now
        with self.uncaptured():
            if sys.stdout.isatty():
                end = "\n" if record.step == steps else ""
                print(f"\r\033[K{self.told(record, steps, now)}", end=end, flush=True)

    def told(self, record: StepRecord, steps: int, now: float) -> str:
        """Step, loss, accuracy, rate, speed and what is left."""
        spent = max(now - self.started, 1e-9)
        left = spent / record.step * (steps - record.step)
        return (
            f"{self.label}  step {record.step}/{steps}  loss {record.loss:.3f}"
            f"  accuracy {record.accuracy:.3f}  rate {record.learning_rate:.5f}"
            f"  {self.tokens / spent:,.0f} tokens/s  {left:.0f} s left"
        )
