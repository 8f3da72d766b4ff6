"""What a learner wrote is never lost: dated copies, and files that change in one stroke."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from specs.harness.source import shown
from specs.harness.steps import UserError

FOLDER = "kept"
MOST = 1000  # copies of one second


def keep_copy(path: Path, data: bytes, when: datetime | None = None) -> Path:
    """Write a dated copy of a file's bytes into the folder beside it; no older copy is lost."""
    stamp = (when or datetime.now()).strftime("%Y-%m-%dT%H-%M-%S")
    folder = path.parent / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for more in ("", *(f"-{number}" for number in range(2, MOST + 1))):
            copy = folder / f"{path.stem}.{stamp}{more}{path.suffix}"
            with suppress(FileExistsError), copy.open("xb") as file:
                file.write(data)
                return copy
    except OSError as error:
        raise _refused(folder, error, "nothing was changed") from None
    raise UserError(f"{shown(folder)} is full of copies of this very second: nothing was changed")


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new bytes at once, or leave it as it is; its mode stays, a link stays a link."""
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        fresh.write_bytes(data)
        if target.exists():
            shutil.copymode(target, fresh)
        fresh.replace(target)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise _refused(path, error, "it stays as it was") from None


def _refused(path: Path, error: OSError, outcome: str) -> UserError:
    return UserError(f"{shown(path)} cannot be written: {error.strerror or error}; {outcome}")
