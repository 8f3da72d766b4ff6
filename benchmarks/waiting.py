"""How long this thread has waited for a core: what other processes are to blame for.

Linux counts it for every thread. A thread that sleeps does not wait in this sense, so a function
that sleeps is slow all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable

SCHEDSTAT = "/proc/thread-self/schedstat"  # nanoseconds on a core, nanoseconds waiting, turns


def waiting_clock(path: str = SCHEDSTAT) -> Callable[[], float] | None:
    """A clock of the seconds that this thread has waited; None where nobody counts them."""
    try:
        descriptor = os.open(path, os.O_RDONLY)  # stays open: a lap cannot wait for a file
        float(os.pread(descriptor, 80, 0).split()[1])
    except (OSError, AttributeError, ValueError, IndexError):
        return None
    return lambda: int(os.pread(descriptor, 80, 0).split()[1]) / 1e9
