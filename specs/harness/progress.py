"""What is remembered from one run to the next: verdicts, what they were judged on, hints shown."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from specs.harness.digest import digests
from specs.harness.failure import BROKEN, NOT_STARTED, WRONG
from specs.harness.source import Unreadable, read_source
from specs.harness.steps import House, Step
from specs.harness.stubs import is_stub

GREEN = "green"
CHANGED = "changed since"  # green once, on other code
UNTRIED = "not run yet"
KEY = "dojo/progress"
VERDICTS = (GREEN, NOT_STARTED, WRONG, BROKEN)


class Cache(Protocol):
    """The two methods of pytest's cache that are used."""

    def get(self, key: str, default: Any) -> Any: ...

    def set(self, key: str, value: object) -> None: ...


@dataclass(frozen=True)
class Memory:
    """What is remembered of one step."""

    verdict: str = ""
    digest: str = ""
    hints: int = 0


class Progress:
    """The memories of all steps, by number, kept where ``load`` and ``store`` say.

    What is found there and makes no sense is forgotten.
    """

    def __init__(
        self, load: Callable[[], object], store: Callable[[dict[str, Any]], object]
    ) -> None:
        self._load = load
        self._store = store
        self._known = _sound(load())
        self._new: dict[str, Memory] = {}

    @classmethod
    def kept_in(cls, cache: Cache | None) -> Progress:
        """Progress in pytest's cache; without one it lasts as long as the run."""
        if cache is None:
            return cls(dict, bool)  # nothing to load, nowhere to store
        return cls(lambda: cache.get(KEY, {}), lambda data: cache.set(KEY, data))

    def memory(self, step: Step) -> Memory:
        """What is remembered of a step."""
        return self._new.get(step.tag) or self._known.get(step.tag) or Memory()

    def judge(self, step: Step, verdict: str, digest: str) -> None:
        """Remember a verdict, and what it was judged on."""
        self._new[step.tag] = replace(self.memory(step), verdict=verdict, digest=digest)

    def hints(self, step: Step) -> int:
        """How many of the step's hints were shown."""
        return self.memory(step).hints

    def count_hint(self, step: Step) -> None:
        """Remember that one more hint was shown."""
        self._new[step.tag] = replace(self.memory(step), hints=self.hints(step) + 1)

    def save(self) -> None:
        """Write down what is new, beside what another run may have written meanwhile."""
        if not self._new:
            return
        self._known = {**self._known, **_sound(self._load()), **self._new}
        self._new = {}
        self._store({tag: asdict(memory) for tag, memory in sorted(self._known.items())})

    def standing(self, step: Step, digest: str) -> str:
        """The step's last verdict, if it is still about this code."""
        memory = self.memory(step)
        if memory.digest != digest:
            fallen = {GREEN: CHANGED, NOT_STARTED: UNTRIED}
            return fallen.get(memory.verdict, memory.verdict) or UNTRIED
        return memory.verdict or UNTRIED


def standings(house: House, progress: Progress, kata_dir: Path) -> dict[int, str]:
    """Where every step stands, by number, without running anything.

    A stub is not started and a file that cannot be read is broken, whatever was remembered.
    """
    now = digests(house, kata_dir)
    trees = {file: _tree(kata_dir / file) for file in {step.file for step in house.steps}}
    found = {}
    for step in house.steps:
        tree = trees[step.file]
        if tree is None:
            found[step.number] = BROKEN
        elif is_stub(tree, step):
            found[step.number] = NOT_STARTED
        else:
            found[step.number] = progress.standing(step, now[step.number])
    return found


def _tree(path: Path) -> ast.Module | None:
    try:
        return read_source(path).tree
    except Unreadable:
        return None


def _sound(data: object) -> dict[str, Memory]:
    """The memories that can be made sense of."""
    if not isinstance(data, Mapping):
        return {}
    found = {tag: _memory(entry) for tag, entry in data.items() if isinstance(tag, str)}
    return {tag: memory for tag, memory in found.items() if memory}


def _memory(entry: object) -> Memory | None:
    match entry:
        case {"verdict": str(verdict), "digest": str(digest), "hints": int(hints)}:
            known = verdict in VERDICTS
            return Memory(verdict if known else "", digest if known else "", max(int(hints), 0))
    return None
