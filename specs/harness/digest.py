"""What a verdict was judged on: a step's module less the other steps, and the helpers around."""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from specs.harness.kept import FOLDER
from specs.harness.source import Unreadable, read_bytes, read_source
from specs.harness.steps import SPEC_NAME, House, Step
from specs.harness.surgery import sole_name

PART_FILE = re.compile(r"part\d\d_\w+\.py")


def digest_of(step: Step, kata_dir: Path) -> str:
    """A fingerprint that changes with the step's code, and not with another step's."""
    matches = (SPEC_NAME.fullmatch(path.name) for path in step.spec.parent.iterdir())
    names = {match[2] for match in matches if match} | {step.name}
    return _combined(step, _statements(kata_dir / step.file), names, _helpers(kata_dir))


def digests(house: House, kata_dir: Path) -> dict[int, str]:
    """The fingerprints of all steps, by number."""
    helpers = _helpers(kata_dir)
    found = {}
    for module in dict.fromkeys(step.module for step in house.steps):
        steps = house.in_module(module)
        names = {step.name for step in steps}
        statements = _statements(kata_dir / f"{module}.py")
        for step in steps:
            found[step.number] = _combined(step, statements, names, helpers)
    return found


def _combined(
    step: Step, statements: list[tuple[str | None, str]], names: set[str], helpers: str
) -> str:
    others = names - {step.name}
    own = (text for name, text in statements if name not in others)
    return hashlib.sha256("\0".join([helpers, *own]).encode(errors="replace")).hexdigest()[:32]


def _statements(path: Path) -> list[tuple[str | None, str]]:
    """The module's statements, each with the name that it is there to bind."""
    try:
        source = read_source(path)
    except Unreadable:
        return [(None, _raw(path))]
    try:
        return [(sole_name(node), ast.unparse(node)) for node in source.tree.body]
    except RecursionError:
        return [(None, source.text)]


def _raw(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except Unreadable:
        return "unreadable"


def _helpers(kata_dir: Path) -> str:
    """A fingerprint of what the learner keeps beside the parts."""
    return "\0".join(f"{path.relative_to(kata_dir)}={_raw(path)}" for path in _beside(kata_dir))


def _beside(kata_dir: Path) -> Iterator[Path]:
    """The Python files of the kata that are no part, kept copies aside."""
    for folder, folders, files in os.walk(kata_dir):
        folders[:] = sorted(
            name for name in folders if name not in (FOLDER, "__pycache__") and name[0] != "."
        )
        for name in sorted(files):
            top = Path(folder) == kata_dir
            if name.endswith(".py") and name[0] != "." and not (top and PART_FILE.fullmatch(name)):
                yield Path(folder, name)
