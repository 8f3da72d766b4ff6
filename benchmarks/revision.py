"""A git revision's own kata and reference, in a folder of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from specs.harness.steps import House, UserError


def commit_of(root: Path, revision: str) -> str | None:
    """The full name of the commit that is meant; None where git knows none."""
    if revision.startswith("-"):
        return None
    return _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")


def check_out(root: Path, commit: str, folder: Path) -> tuple[House, Callable[[], None]]:
    """Lay the revision out in a worktree; returns its house, and how to take it away again."""
    below = _git(root, "rev-parse", "--show-prefix") or ""
    # A worktree whose folder is gone, after a crash say, is in nobody's way: git prunes it.
    if _git(root, "worktree", "add", "--detach", "--quiet", str(folder), commit) is None:
        raise UserError(f"git cannot make a worktree of {commit[:7]} in {folder}")

    def take_away() -> None:
        _git(root, "worktree", "remove", "--force", str(folder))

    return House(folder / below), take_away


def _git(root: Path, *words: str) -> str | None:
    """What git says, in the repository at hand; None where it fails."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
