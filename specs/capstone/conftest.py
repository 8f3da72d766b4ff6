"""What the capstone's tests share: a progress line, a folder for pictures, and a voice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest


def uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    """Let what is printed reach the terminal."""
    manager = config.pluginmanager.getplugin("capturemanager")
    return manager.global_and_fixture_disabled() if manager else nullcontext()


@pytest.fixture
def progress_line(request: pytest.FixtureRequest) -> Callable[[str], object]:
    """Make a progress line with a label."""
    from specs.capstone.progress_line import ProgressLine

    return lambda label: ProgressLine(label, lambda: uncaptured(request.config))


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a line that is seen even when output is captured."""

    def speak(line: str) -> None:
        with uncaptured(request.config):
            print(f"\n{line}", flush=True)

    return speak


@pytest.fixture
def picture_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where pictures stay: pytest's cache, or a folder of this run's without one."""
    cache = getattr(request.config, "cache", None)
    return cache.mkdir("capstone") if cache else tmp_path
