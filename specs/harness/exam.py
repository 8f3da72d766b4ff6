"""The cases of one spec, run against a function: the learner's, a mistake, a mutant or a stub."""

from __future__ import annotations

import ast
import importlib
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from specs.harness import check, tampering
from specs.harness.failure import BROKEN, WRONG, Red, in_one_line
from specs.harness.families import tokens_for
from specs.harness.guard import Guard
from specs.harness.source import Unreadable
from specs.harness.steps import House, Step
from specs.harness.values import is_tensor, leaves, tensors
from specs.harness.worlds import World, line_of

PROBED_CALLS = 3  # of each test: enough to tell, few enough to stay quick


@dataclass
class Case:
    """One test of a spec with its parameters."""

    name: str
    function: Callable[..., None]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Version:
    """One way to write a step, and the sentence that tells it: of a mistake, the slip."""

    name: str
    function: Callable[..., Any]
    sentence: str


class Exam:
    """One step's world, its guard and, once collected, its cases."""

    def __init__(
        self, house: House, package: Path, step: Step, own: bool = False, runs: bool = True
    ) -> None:
        self.house = house
        self.step = step
        self.world = World(house, package, step, own)
        self.cases: list[Case] = []
        self._reds: dict[tuple[Callable[..., Any], str], Red | None] = {}
        self._early: dict[tuple[Callable[..., Any], str], Red | None] = {}
        self.stuck: Red | None = None  # set once the learner's function did not come back
        declared = declarations(step.spec)
        self.guard = Guard(
            step.tag,
            reference_function(house, step),
            tokens_for(step, house),
            changes=frozenset(declared.get("CHANGES", ())),
            free_gradients=frozenset(declared.get("FREE_GRADIENTS", ())),
        )
        self.loaded = False
        if runs:
            self.load()

    def load(self) -> None:
        """Run the learner's file, and put its function under test."""
        self.loaded = True
        self.world.load()
        if self.world.target is not None:
            self.guard.function = self.world.target

    @contextmanager
    def spec_import(self) -> Iterator[None]:
        """While a spec is imported, its function under test is the guard, and no file is run."""
        with self.world.entered(), pytest.MonkeyPatch.context() as patch:
            for module in self.house.modules.values():
                patch.setitem(sys.modules, f"kata.{module}", _Unloaded(f"kata.{module}"))
            setattr(sys.modules[f"kata.{self.step.module}"], self.step.name, self.guard)
            yield

    def run(self, case: Case, probed: bool = True) -> None:
        """Run one case; what is wrong with the learner's function is raised as ``Red``.

        ``probed``: afterwards ask the same calls once more, in float64 and so on.
        """
        if not self.loaded:
            self.load()
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)  # two threads make tiny tensors slow
        if self.world.broken is not None and self.guard.function is self.guard.judge:
            red = self.world.broken
            raise Red(red.kind, red.sentence, state=red.state)
        if self.stuck is not None:  # once is enough to wait for
            raise Red(self.stuck.kind, self.stuck.sentence, state=BROKEN) from self.stuck
        self.guard.reset(case.name)
        tampering.watch_spec(case.function.__globals__)
        late = False
        with self.world.entered():
            try:
                case.function(**case.arguments)
                late = True
                if probed:
                    self._probe()
            except Red as red:
                red.late = late
                if red.kind == "loop" and self.guard.function is self.world.target:
                    self.stuck = red
                raise
            except Exception as error:
                found = self._red(error)
                if isinstance(found, Red):
                    found.late = late
                raise found from error

    def _probe(self) -> None:
        for call in self.guard.calls[:PROBED_CALLS]:
            if call.judgement is None or call.judged is None:
                continue
            if tensors(call.arguments) or tensors(call.judged):
                from specs.harness.probes import probe

                probe(self.guard, call.judgement)
            elif not call.judgement.at_random:
                check.assert_close(call.answer, call.judged)

    def _red(self, error: Exception) -> BaseException:
        """Tell the learner's errors from the spec's own."""
        if isinstance(error, Unreadable):  # with --own, another part's file
            return Red("unreadable", str(error), state=BROKEN)
        # Code of the learner's may run later than the call: in a backward pass, say.
        own = error is self.guard.raised or self.line_of(error) is not None
        if isinstance(error, AssertionError) and not own:
            place = traceback.extract_tb(error.__traceback__)[-1]
            sentence = str(error).split("\nassert ")[0].strip() or f"not so: {place.line}"
            return Red(f"assert:{place.lineno}", sentence, yours=sentence)
        if not own:
            return error
        message = in_one_line(error)
        return Red("raised", rows=[("raised", message)], yours=message)

    def attempt(self, function: Callable[..., Any], case: Case, probed: bool = True) -> Red | None:
        """Run one case against another function, and say how it is red; None where it is green."""
        if not self.loaded:
            self.load()
        kept, self.guard.function = self.guard.function, function
        try:
            self.run(case, probed)
        except Red as red:
            return red
        except Exception as error:  # the spec stumbles over the answer: red all the same
            return Red("spec", in_one_line(error), yours=type(error).__name__)
        finally:
            self.guard.function = kept
        return None

    def is_green(self, function: Callable[..., Any]) -> bool:
        """Say whether every case is green for a function; the first red one settles it."""
        return all(self.attempt(function, case) is None for case in self.cases)

    @cached_property
    def mistakes(self) -> list[Version]:
        """The step's known wrong versions, in the order they are written."""
        return self.versions(self.house.mistakes(self.step))

    def versions(self, path: Path) -> list[Version]:
        """The versions of the step that a file holds: its public functions."""
        if not path.exists():
            return []
        names: dict[str, Any] = {"__name__": f"versions of {self.step.tag}", "__file__": str(path)}
        with self.world.entered():
            exec(compile(path.read_bytes(), str(path), "exec"), names)
        return [
            Version(name, value, " ".join((value.__doc__ or "").split()))
            for name, value in names.items()
            if not name.startswith("_") and getattr(value, "__module__", "") == names["__name__"]
        ]

    def looks_like(self, case: Case, red: Red) -> str | None:
        """Name the slip, if and only if a known mistake gives this very answer.

        And the learner's function is red in at least half of the cases that it makes red, be it by
        another slip; where that is so of several, the one that agrees in most cases is told.
        """
        if self.world.target is None or red.state != WRONG:
            return None
        likely = [
            mistake
            for mistake in self.mistakes
            if same_red(self._red_like(red, mistake.function, case), red)
        ]
        likely = [mistake for mistake in likely if self._bears_out(mistake, red.late)]
        for probed in (False, True):  # where calls as they are tell no two apart, probes may
            if len(likely) > 1:
                scores = [self._agreement(mistake, probed) for mistake in likely]
                pairs = zip(likely, scores, strict=True)
                likely = [mistake for mistake, score in pairs if score == max(scores)]
        return likely[0].sentence if likely else None

    def _bears_out(self, mistake: Version, probed: bool) -> bool:
        """Say whether what a mistake makes red is red for the learner: green would refute it."""
        if mistake.function is self.world.target:
            return True
        mine = [own for other, own in self._side_by_side(mistake, probed) if other is not None]
        return sum(own is not None for own in mine) >= len(mine) / 2

    def _agreement(self, mistake: Version, probed: bool) -> int:
        """In how many cases a mistake and the learner's function come to the same."""
        if mistake.function is self.world.target:
            return len(self.cases)
        return sum(same_red(*pair) for pair in self._side_by_side(mistake, probed))

    def _side_by_side(self, mistake: Version, probed: bool) -> Iterator[tuple[Red | None, ...]]:
        """How a mistake and the learner's function take each case; not probed, it is quicker."""
        for case in self.cases:
            both = mistake.function, self.world.target
            yield tuple(self._taken(function, case, probed) for function in both)

    def _red_like(self, red: Red, function: Callable[..., Any], case: Case) -> Red | None:
        """How a function takes a case; not probed for what could not be the same red anyway."""
        return self._taken(function, case, probed=red.late or (function, case.name) in self._reds)

    def _taken(self, function: Callable[..., Any], case: Case, probed: bool) -> Red | None:
        if probed:
            return self.red_of(function, case)
        key = (function, case.name)
        if key not in self._early:
            self._early[key] = self.attempt(function, case, probed=False)
        return self._early[key]

    def red_of(self, function: Callable[..., Any], case: Case) -> Red | None:
        """How a function takes a case, remembered: it always takes it the same way."""
        key = (function, case.name)
        if key not in self._reds:
            early = self._early.get(key)
            self._reds[key] = early or self.attempt(function, case)
        return self._reds[key]

    def line_of(self, error: BaseException) -> tuple[Path, int] | None:
        """The learner's line that an error came through."""
        return line_of(error, self.world.package)

    def defined_at(self) -> int | None:
        """The line where the learner's function starts."""
        code = getattr(self.world.target, "__code__", None)
        if code is not None and Path(code.co_filename) == self.world.path:
            return int(code.co_firstlineno)
        return None


class _Unloaded(ModuleType):
    """Stands where a part's module will: a function is looked for when it is called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def later(*args: Any, **kwargs: Any) -> Any:
            return getattr(importlib.import_module(self.__name__), name)(*args, **kwargs)

        return later


def same_red(one: Red | None, other: Red | None) -> bool:
    """Say whether two failures are the same: one check, one answer."""
    if one is None or other is None:
        return one is other
    return (one.kind, one.state, one.late) == (
        other.kind,
        other.state,
        other.late,
    ) and _same_answer(one.yours, other.yours)


def _same_answer(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or _forms(one) != _forms(other):
        return False
    try:
        check.assert_close(one, other, rtol=1e-5, atol=1e-6)
    except Red:
        return False
    return True


def _forms(answer: Any) -> list[Any]:
    """Of each leaf what its numbers do not tell."""
    return [
        (path, leaf.dtype, leaf.requires_grad) if is_tensor(leaf) else (path, type(leaf))
        for path, leaf in leaves(answer)
    ]


_declared: dict[Path, dict[str, Any]] = {}


def declarations(spec: Path) -> dict[str, Any]:
    """The constants that a spec declares for the harness, read without importing it."""
    if spec not in _declared:
        found = {}
        for node in ast.parse(spec.read_bytes()).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name in ("CHANGES", "FREE_GRADIENTS"):
                    found[name] = ast.literal_eval(node.value)
        _declared[spec] = found
    return _declared[spec]


_reference: dict[Path, World] = {}


def reference_world(house: House, step: Step) -> World:
    """The world in which every step is the reference's, one for all steps."""
    if house.root not in _reference:
        _reference[house.root] = World(house, house.reference, step, own=True)
    return _reference[house.root]


def reference_function(house: House, step: Step) -> Callable[..., Any]:
    """The answer: the reference's own function, with the reference's other steps around it."""
    with reference_world(house, step).entered():
        module = importlib.import_module(f"kata.{step.module}")
    function: Callable[..., Any] = getattr(module, step.name)
    return function


def stub_reds(exam: Exam) -> list[Red | None]:
    """How every case of a spec takes a stub."""

    def stub(*_: object, **__: object) -> None:
        raise NotImplementedError(f"step {exam.step.tag}: write {exam.step.name}")

    return [exam.attempt(stub, case) for case in exam.cases]
