"""The answers are closed to the learner's code: it can neither read the reference nor call it.

Importing it is refused by the finder of ``worlds``; here are the other ways in.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from specs.harness.boundary import is_inside, refuse

READ = "{} was read from reference/: the answer is yours to write."
CALLED = "The reference's answer was called: it is yours to write."
SEAL = "__only_the_judge_may_call__"
COMMANDS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")


class _Door:
    folder: Path | None = None  # closed just now
    watched = False


@cache
def _ways(path: Path) -> set[Path]:
    """The path as it is called and, past links, as it lies."""
    return {path, path.resolve()}


@contextmanager
def closed(folder: Path | None) -> Iterator[None]:
    """Close a folder to the learner's code; with None, open the one that is closed."""
    if not _Door.watched:
        _Door.watched = True
        sys.addaudithook(_audit)
    kept, _Door.folder = _Door.folder, folder
    try:
        yield
    finally:
        _Door.folder = kept


def _audit(event: str, args: tuple[Any, ...]) -> None:
    folder = _Door.folder
    if folder is None or not is_inside():
        return
    path: object = None
    if event == "open":
        path = args[0]
    elif event == "exec":
        path = args[0].co_filename
    elif event in COMMANDS and str(folder) in repr(args):
        refuse(READ.format("A file"))
    if isinstance(path, (str, bytes, os.PathLike)):
        with suppress(OSError, ValueError):
            found = _source(Path(os.fsdecode(path)).absolute())
            if any(way in each.parents for way in _ways(folder) for each in _ways(found)):
                refuse(READ.format(found.name))


def _source(path: Path) -> Path:
    """The file that a path leads to, compiled or not."""
    if path.suffix != ".pyc":
        return path
    with suppress(ValueError):
        return Path(source_from_cache(path))
    return path


def sealed(tree: ast.Module) -> ast.Module:
    """Let every function of a module first ask who calls."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            ask = ast.Expr(ast.Call(ast.Name(SEAL, ast.Load()), [], []))
            after_docstring = int(ast.get_docstring(node) is not None)
            node.body.insert(after_docstring, ast.copy_location(ask, node.body[0]))
    return ast.fix_missing_locations(tree)


def ask() -> None:
    """Refuse the learner's code; let the judge through."""
    if _Door.folder is not None and is_inside():
        refuse(CALLED)
