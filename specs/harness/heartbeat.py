"""A page of memory shared with the supervising process: which step runs, and until when it may."""

from __future__ import annotations

import mmap
import struct
import time

FORMAT = "=d16s"  # deadline on the monotonic clock (0: nothing runs), step tag
_page: mmap.mmap | None = None


def share() -> mmap.mmap:
    """Make the page, before the process divides in two."""
    global _page  # noqa: PLW0603  # one page a process, made before the fork
    _page = mmap.mmap(-1, mmap.PAGESIZE)
    end()
    return _page


def begin(tag: str, seconds: float) -> None:
    """Say that a step's code starts now and may take so many seconds."""
    if _page is not None:
        struct.pack_into(FORMAT, _page, 0, time.monotonic() + seconds, tag.encode())


def end() -> None:
    """Say that the step's code came back; its tag stays, as the last one seen."""
    if _page is not None:
        struct.pack_into("=d", _page, 0, 0.0)


def read(page: mmap.mmap) -> tuple[float, str]:
    """Return the deadline of what runs (0: nothing) and the tag of the last step seen."""
    deadline, tag = struct.unpack_from(FORMAT, page, 0)
    return deadline, tag.rstrip(b"\0").decode()
