"""What flows through a step: every call of another step inside it, with named shapes.

The input is the roomiest call that the step's own spec makes. The learner's functions are used as
far as they are written, the reference's where they still are stubs.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from specs.harness import spoilers
from specs.harness.boundary import boundary
from specs.harness.exam import Exam, reference_function, reference_world
from specs.harness.failure import Red
from specs.harness.forms import SHAPE
from specs.harness.guard import Call
from specs.harness.source import Unreadable, read_source
from specs.harness.steps import House, Step, UserError
from specs.harness.stubs import is_stub
from specs.harness.values import copy, is_tensor, leaves, tensors
from specs.harness.worlds import World

LEADING = {1: ["batch"], 2: ["batch", "length"]}  # what `...` covers, by how many sizes there are
ATTENDING = {1: ["batch"], 2: ["batch", "heads"]}  # … and where queries meet keys
Function = Callable[..., Any]


@dataclass(frozen=True)
class Candidate:
    """A step's function, wherever it is held, and the one to use in its place."""

    step: Step
    original: Function
    use: Function
    is_reference: bool


@dataclass
class Trace:
    """The calls seen so far, each indented below the one that made it."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0
    own: bool = False  # whether a function of the learner's was called
    width: int = 100

    def written(self, line: str) -> str:
        """A line at the depth of its call, wrapped between arguments."""
        indent = "  " * self.depth
        line = line.replace(" ", "\N{NO-BREAK SPACE}").replace("),\N{NO-BREAK SPACE}", "), ")
        line = line.replace("\N{NO-BREAK SPACE}→", " →").replace("\N{NO-BREAK SPACE}" * 2, "  ")
        wrapped = textwrap.wrap(
            line,
            self.width,
            initial_indent=indent,
            subsequent_indent=f"{indent}      ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(wrapped).replace("\N{NO-BREAK SPACE}", " ")

    def around(self, one: Candidate, annotated: Function) -> Function:
        """A function that notes its calls, with names from the reference's annotations."""
        step, function = one.step, one.use
        signature = inspect.signature(annotated)

        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            self.own |= one.use is one.original and not one.is_reference
            place = len(self.lines)
            self.lines.append("")
            self.depth += 1
            outcome = "no answer"
            try:
                result = function(*args, **kwargs)
                outcome = returned(signature, result)
            finally:
                self.depth -= 1
                given = ", ".join(described(signature, signature.bind(*args, **kwargs).arguments))
                self.lines[place] = self.written(f"{step.name}  {given} → {outcome}")
            return result

        return noted


def shapes(exam: Exam, width: int) -> str:
    """Trace the step on the roomiest call of its spec."""
    step, house = exam.step, exam.house
    call = roomiest(exam)
    world = World(house, exam.world.package, step, own=True)
    trace = Trace(width=width)
    with world.entered():
        functions = _candidates(house, world)
        noted = {
            id(one.original): trace.around(one, reference_function(house, one.step))
            for one in functions
        }
        modules = [*sys.modules.values(), *reference_world(house, step).modules.values()]
        kata = [module for module in modules if getattr(module, "__name__", "").startswith("kata")]
        start = next(noted[id(one.original)] for one in functions if one.step == step)
        bound = exam.guard.signature.bind(**copy(call.arguments))
        with _replaced(kata, noted):
            ending = _run(step, lambda: start(*bound.args, **bound.kwargs))
    whose = "your own steps, as far as they are written" if trace.own else "the reference's steps"
    return "\n".join([*trace.lines, "", ending or f"({whose})"])


def _run(step: Step, start: Callable[[], Any]) -> str:
    """Run the traced call; say so if it fails."""
    try:
        with boundary(step.tag), spoilers.closed(None):
            start()
    except Red as red:
        return f"failed: {red.sentence}"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}".splitlines()[0]
    return ""


def roomiest(exam: Exam) -> Call:
    """The call with most numbers in it that the spec makes, by the reference."""
    calls: list[Call] = []
    package, exam.world.package = exam.world.package, exam.house.reference  # open to the judge
    try:
        for case in exam.cases:
            exam.attempt(exam.guard.judge, case, probed=False)
            calls += exam.guard.calls
    finally:
        exam.world.package = package
    if not calls:
        raise UserError(f"the spec of {exam.step.tag} makes no call whose shapes could be shown")
    return max(calls, key=_room)


def _room(call: Call) -> int:
    return sum(tensor.numel() for tensor in tensors((call.arguments, call.judged)))


def _candidates(house: House, world: World) -> list[Candidate]:
    """Every step as the learner has it and as the reference has it; a stub gives way."""
    found: list[Candidate] = []
    for step in house.steps:
        reference = reference_function(house, step)
        try:
            tree = read_source(world.package / step.file).tree
            original = getattr(importlib.import_module(f"kata.{step.module}"), step.name)
        except (Unreadable, Red, Exception):
            original = reference  # a file that cannot be loaded: the reference stands in
        if original is not reference:
            use = reference if is_stub(tree, step) else original
            found.append(Candidate(step, original, use, is_reference=False))
        found.append(Candidate(step, reference, reference, is_reference=True))
    return found


@contextmanager
def _replaced(modules: list[ModuleType], noted: dict[int, Function]) -> Iterator[None]:
    """Put noted functions in the place of the plain ones, wherever a module holds them."""
    undo = [
        (vars(module), name, value)
        for module in modules
        for name, value in list(vars(module).items())
        if id(value) in noted
    ]
    for names, name, value in undo:
        names[name] = noted[id(value)]
    try:
        yield
    finally:
        for names, name, value in undo:
            names[name] = value


def described(signature: inspect.Signature, arguments: dict[str, Any]) -> list[str]:
    """Each argument that holds tensors, with named sizes; containers by their tensors."""
    told = []
    for name, value in arguments.items():
        annotation = str(signature.parameters[name].annotation)
        if is_tensor(value):
            names = SHAPE.findall(annotation)
            told.append(f"{name} {named(value, names[0] if names else '')}")
        elif isinstance(value, (int, float)):
            told.append(f"{name} {value}")
        elif tensors(value):
            told.append(f"{name} ({len(tensors(value))} tensors)")
    return told


def returned(signature: inspect.Signature, result: Any) -> str:
    """The results' named sizes; plain values as they are."""
    names = SHAPE.findall(str(signature.return_annotation))
    told = []
    for _, leaf in leaves(result):
        if is_tensor(leaf):
            told.append(named(leaf, names.pop(0) if names else ""))
        elif len(told) < 4:
            told.append(repr(leaf))
    return ", ".join(told[:6]) + (", …" if len(told) > 6 else "")


def named(tensor: Any, names: str) -> str:
    """The sizes of a tensor, each after its name: ``(batch 2, heads 4, queries 5, d_k 16)``."""
    sizes = list(tensor.shape)
    words = re.sub(r"[#*]", "", names).split()
    if "..." in words:
        covered = len(sizes) - len(words) + 1
        place = words.index("...")
        usual = ATTENDING if {"queries", "keys"} & set(words) else LEADING
        words[place : place + 1] = usual.get(covered, [""] * max(0, covered))
    if len(words) != len(sizes):
        words = [""] * len(sizes)
    pairs = [
        f"{word} {size}" if word and not word.isdecimal() else str(size)
        for word, size in zip(words, sizes, strict=True)
    ]
    return f"({', '.join(pairs)})"
