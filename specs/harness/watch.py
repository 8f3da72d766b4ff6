"""Run again on every save, with torch kept loaded: one fork a run instead of one start of Python.

The watching process imports torch but never runs a tensor operation: a child of a process whose
thread pool has started would hang. Where there is no fork, each run is a fresh process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specs.harness.session import quiet_threads
from specs.harness.steps import House

GLANCE = 0.1  # seconds between two looks at the files
CLEAR = "\033[2J\033[H"

Glimpse = dict[Path, tuple[int, int]]


def run(config: pytest.Config, house: House) -> int:
    """Watch until the person stops it."""
    args = [str(arg) for arg in config.invocation_params.args if arg != "--watch"]
    quiet_threads()
    if hasattr(os, "fork"):
        import numpy  # noqa: F401  (loaded once, here)
        import torch  # noqa: F401
    folders = [house.kata, house.root / "specs"]
    try:
        while True:
            seen = glimpse(folders)
            if sys.stdout.isatty():
                print(CLEAR, end="")
            run_once(args)
            print("\nwatching kata/ and specs/ · Ctrl-C ends", flush=True)
            wait_for_change(folders, seen)
    except KeyboardInterrupt:
        print()
        return 0


def glimpse(folders: list[Path]) -> Glimpse:
    """The time and size of every Python file in the folders."""
    found: Glimpse = {}
    for folder in folders:
        for path in folder.rglob("*.py"):
            try:
                about = path.stat()
            except OSError:  # an editor has just replaced it
                continue
            found[path] = (about.st_mtime_ns, about.st_size)
    return found


def wait_for_change(folders: list[Path], seen: Glimpse) -> None:
    """Wait until a file differs from what was seen."""
    while glimpse(folders) == seen:
        time.sleep(GLANCE)


def run_once(args: list[str]) -> int:
    """Run pytest in a child of this process, or in a fresh process where there is no fork."""
    sys.stdout.flush()
    if not hasattr(os, "fork"):
        return subprocess.call([sys.executable, "-m", "pytest", *args])
    child = os.fork()
    if child == 0:
        status = 3
        try:
            status = int(pytest.main(args))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
