"""Saved runs: what ``--benchmark-autosave`` keeps, and the code that was timed beside it.

Two times taken at two moments cannot be compared on a busy machine. So a run keeps its code, and
whoever compares with it later times that code again, in turn with today's.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from specs.harness.steps import House, UserError

CODE = "kata_code"  # under this key in the JSON
ENVIRONMENT = "kata_environment"  # under this one in its machine_info
FOLDERS = ("kata", "reference")


@dataclass(frozen=True)
class Run:
    """One saved run."""

    path: Path
    data: dict[str, Any]

    @property
    def number(self) -> str:
        """The number that its file name begins with: ``0003``."""
        return self.path.name.partition("_")[0]

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"run {self.number}"

    @property
    def revision(self) -> str:
        """The commit it was made at, with a ``*`` where files had been changed."""
        commit = self.data.get("commit_info", {})
        return str(commit.get("id", "?"))[:7] + "*" * bool(commit.get("dirty"))

    @property
    def when(self) -> str:
        """The minute it was saved in."""
        return str(self.data.get("datetime", ""))[:16].replace("T", " ")

    @cached_property
    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What each benchmark kept in its ``extra_info``, by race and impl."""
        infos = (bench.get("extra_info", {}) for bench in self.data["benchmarks"])
        return {(info["race"], info["impl"]): info for info in infos if "race" in info}

    @property
    def environment(self) -> dict[str, str]:
        """What its times depend on."""
        found: dict[str, str] = self.data.get("machine_info", {}).get(ENVIRONMENT, {})
        return found

    def unpack(self, root: Path) -> House:
        """Write its code into a folder, as a house."""
        packed = self.data.get(CODE)
        if packed is None:
            raise UserError(f"{self.label} holds no code: it was not made by `pytest benchmarks`")
        files = json.loads(zlib.decompress(base64.b64decode(packed)))
        for folder in FOLDERS:
            (root / folder).mkdir()
            for name, text in files[folder].items():
                (root / folder / name).write_text(text, "utf-8")
        return House(root)


def packed_code(kata: Path, reference: Path) -> str:
    """The parts of a kata and of the reference as one string."""
    files = {
        label: {path.name: path.read_text("utf-8", "replace") for path in folder.glob("*.py")}
        for label, folder in zip(FOLDERS, (kata, reference), strict=True)
    }
    return base64.b64encode(zlib.compress(json.dumps(files).encode(), 9)).decode()


def folder_of(storage: str) -> Path:
    """Where ``--benchmark-storage`` keeps its runs."""
    return Path(storage.removeprefix("file://"))


def saved_runs(storage: str) -> list[Run]:
    """All saved runs of one storage, in order of their numbers."""
    return [Run(path, _read(path)) for path in sorted(_paths(storage), key=lambda path: path.name)]


def find_run(storage: str, asked: str) -> Run | None:
    """The run that is meant by ``3``, ``0003`` or its file's name; None where there is none."""
    if Path(asked).is_file():
        return Run(Path(asked), _read(Path(asked)))
    if not asked.isdecimal():
        return None
    found = [path for path in _paths(storage) if path.name.startswith(f"{int(asked):04d}_")]
    return Run(found[-1], _read(found[-1])) if found else None


def _paths(storage: str) -> Iterator[Path]:
    folder = folder_of(storage)
    for pattern in ("[0-9][0-9][0-9][0-9]_*.json", "*/[0-9][0-9][0-9][0-9]_*.json"):
        yield from folder.glob(pattern)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict) or "benchmarks" not in data:
        raise UserError(f"{path} is no saved run of pytest-benchmark")
    return data
