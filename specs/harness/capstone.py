"""The capstone: the learner's own functions together, when asked for, on a finished kata."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

from specs.harness.failure import Red
from specs.harness.source import Unreadable, read_source
from specs.harness.steps import House, Step, UserError
from specs.harness.stubs import is_stub
from specs.harness.worlds import World

LAST_PART = "part11"  # the model of the paper ends here


def folder(house: House) -> Path:
    """Where the capstone's tests lie."""
    return house.root / "specs" / "capstone"


def is_asked_for(house: House, paths: Iterable[Path]) -> bool:
    """Say whether a person named the capstone, or something in it."""
    return any(path.is_relative_to(folder(house)) for path in paths)


def require_finished(house: House, package: Path) -> None:
    """Refuse a kata with stubs, in one line that says which steps are missing."""
    needed = [step for step in house.steps if step.part <= LAST_PART]
    missing = [step.number for step in needed if _is_missing(step, package)]
    if missing:
        raise UserError(
            f"the capstone runs on your own steps, and {len(missing)} of {len(needed)} are missing:"
            f" {ranges(missing)}; `--impl reference` runs it on the reference"
        )


def _is_missing(step: Step, package: Path) -> bool:
    try:
        return is_stub(read_source(package / step.file).tree, step)
    except Unreadable:
        return True


def ranges(numbers: list[int]) -> str:
    """Write numbers with their runs drawn together: ``001–006, 022``."""
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    spans = [[number for _, number in run] for _, run in runs]
    return ", ".join(
        f"{span[0]:03d}" if len(span) == 1 else f"{span[0]:03d}–{span[-1]:03d}" for span in spans
    )


class Capstone(pytest.Module):
    """A module of the capstone, run in the world in which every step is the learner's."""

    world: World

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Import the module in its world."""
        with self.world.entered():
            try:
                return list(super().collect())
            except (Unreadable, Red) as error:  # a Red: it loops while it is loaded, say
                raise self.CollectError(str(error)) from None
