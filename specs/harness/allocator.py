"""The C allocator, told to keep what was freed: every step makes its large tensors anew."""

from __future__ import annotations

import ctypes
import platform

# Numbers of glibc's malloc.h, and what to set them to. Left alone, malloc takes large tensors from
# the kernel and gives them back, page by page, at every call.
MALLOPT = {
    "mmap": (-4, 0),  # M_MMAP_MAX: nothing straight from the kernel
    "trim": (-1, 2**31 - 1),  # M_TRIM_THRESHOLD: nothing is given back
    "arenas": (-8, 1),  # M_ARENA_MAX: one for all threads
}


def keep_memory() -> bool:
    """Tell glibc to keep memory for the next tensor; say whether it could be told."""
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return all(libc.mallopt(*setting) for setting in MALLOPT.values())
