"""What a person can ask for beside running specs: lessons, hints, the board, a fresh stub …"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.config import create_terminal_writer

from specs.harness import capstone, lessons, supervisor
from specs.harness.board import board
from specs.harness.progress import GREEN, standings
from specs.harness.reset import reset
from specs.harness.session import chosen_package, progress_of
from specs.harness.solution import solution
from specs.harness.steps import House


def add_options(parser: pytest.Parser) -> None:
    """Declare the kata's options."""
    kata = parser.getgroup("kata", "the Transformer kata")
    kata.addoption("--board", action="store_true", help="show your progress and the next step")
    for name, text in {
        "lesson": "read the lesson of step N",
        "hint": "get one more hint for step N",
        "solution": "see the answer to step N, once yours is green or the hints are used up",
        "shapes": "see the tensor shapes in every call inside step N",
    }.items():
        kata.addoption(f"--{name}", metavar="N", help=text)
    kata.addoption(
        "--reset", metavar="N|partNN", help="put a stub back; what you wrote is kept in a copy"
    )
    kata.addoption("--watch", action="store_true", help="run again whenever a file is saved")
    kata.addoption("--own", action="store_true", help="use your own steps throughout")
    kata.addoption(
        "--impl",
        default="kata",
        metavar="FOLDER",
        help="whose functions `kata` means: kata, reference or a folder",
    )
    kata.addoption(
        "--corpus", metavar="FOLDER", help="with specs/capstone: learn to translate this corpus"
    )
    kata.addoption(
        "--steps", type=int, default=1941, metavar="N", help="with --corpus: training steps"
    )


def answer(config: pytest.Config) -> int | None:
    """Answer a request that needs no run of the specs; None where there is none."""
    house = House(config.rootpath)
    package = chosen_package(house, config.getoption("impl"))
    acts: dict[str, Callable[[House, pytest.Config, str], str]] = {
        "lesson": _lesson,
        "hint": _hint,
        "solution": _solution,
        "reset": _reset,
    }
    for option, act in acts.items():
        asked = config.getoption(option)
        if asked is not None:
            write(act(house, config, asked))
            return 0
    if config.getoption("board"):
        write(_board(house, config))
        return 0
    if asks_for_specs(config) and re.fullmatch(r"\d{3}", config.option.keyword):
        house.find(config.option.keyword)  # or say that there is no such step
    if config.getoption("shapes") is not None:
        config.args[:] = [str(house.find(config.getoption("shapes")).spec)]
        config.option.verbose = -2  # nothing but the shapes
    if config.getoption("watch"):
        from specs.harness import watch

        return watch.run(config, house)
    if asks_for_capstone(house, config) and not config.option.collectonly:
        capstone.require_finished(house, package)
    return None


def from_anywhere(config: pytest.Config) -> None:
    """Who stands in the folder that the learner writes in, or names it, means its specs."""
    house = House(config.rootpath)
    asked = zip(config.args, asked_paths(config), strict=True)
    config.args = [str(_specs_of(house, path) or argument) for argument, path in asked]


def _specs_of(house: House, path: Path) -> Path | None:
    """The specs of one of the learner's files, or of the whole kata; None for anything else."""
    if not path.exists() or not path.is_relative_to(house.kata):
        return None
    part = path.name[:6]
    return house.root / "specs" / (part if part in house.modules else "")


def asks_for_capstone(house: House, config: pytest.Config) -> bool:
    """Say whether the capstone was named on the command line."""
    return capstone.is_asked_for(house, asked_paths(config))


def asked_paths(config: pytest.Config) -> list[Path]:
    """The files and folders that were named on the command line."""
    here = config.invocation_params.dir
    return [Path(os.path.normpath(here / str(arg).split("::")[0])) for arg in config.args]


def _lesson(house: House, config: pytest.Config, asked: str) -> str:
    return lessons.show(lessons.read_lesson(house.find(asked)), width(), is_coloured(config))


def _hint(house: House, config: pytest.Config, asked: str) -> str:
    step = house.find(asked)
    lesson, progress = lessons.read_lesson(step), progress_of(config)
    shown = progress.hints(step)
    progress.count_hint(step)
    progress.save()
    return lessons.hint(lesson, shown, width(), is_coloured(config))


def _solution(house: House, config: pytest.Config, asked: str) -> str:
    step = house.find(asked)
    progress = progress_of(config)
    left = lessons.hints_left(lessons.read_lesson(step), progress.hints(step))
    green = standings(house, progress, house.kata)[step.number] == GREEN
    return solution(house, step, green, left)


def _reset(house: House, config: pytest.Config, asked: str) -> str:
    return reset(house, asked, chosen_package(house, config.getoption("impl")))


def _board(house: House, config: pytest.Config) -> str:
    verdicts = standings(house, progress_of(config), house.kata)
    return board(house, verdicts, width(), is_coloured(config), sys.stdout.encoding)


def is_supervised(config: pytest.Config) -> bool:
    """Say whether this run executes the learner's code in this very process."""
    option = config.option
    elsewhere = (
        option.collectonly or option.usepdb or option.trace or hasattr(config, "workerinput")
    )
    distributed = getattr(option, "dist", "no") != "no" or bool(
        getattr(option, "numprocesses", None)
    )
    if elsewhere or distributed or option.help or option.version or not supervisor.possible():
        return False
    return asks_for_specs(config)


def asks_for_specs(config: pytest.Config) -> bool:
    """Say whether specs are among the files and folders that are to be run."""
    specs = config.rootpath / "specs"
    paths = asked_paths(config)
    return any(specs.is_relative_to(path) or path.is_relative_to(specs) for path in paths)


def is_coloured(config: pytest.Config) -> bool:
    """Say whether to write colours, by pytest's own rules."""
    return create_terminal_writer(config).hasmarkup


def width() -> int:
    """How many columns a line may take."""
    return max(40, min(100, shutil.get_terminal_size().columns))


def write(text: str) -> None:
    """Print, also where the terminal cannot show every letter."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))
