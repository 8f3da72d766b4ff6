"""The kata as it stands while one step is under test: every other step comes from the reference.

A world is a set of ``kata`` modules of its own. In the module of the step under test, the
definitions of the other steps are left out and their names bound to stand-ins from the start, so
that default arguments, tables and aliases hold stand-ins too. Modules of other parts are stand-ins
from the reference; the learner's own file is read only for a name that is no step: a helper. The
stand-ins' module does not contain the step under test: in its place stands a call of the learner's.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from specs.harness import globalstate, spoilers
from specs.harness.boundary import boundary, is_inside, refuse
from specs.harness.failure import BROKEN, Red, in_one_line
from specs.harness.source import Source, Unreadable, read_source, syntax_slip
from specs.harness.steps import House, Step
from specs.harness.values import kind_of

REBIND = "__bind_the_other_steps__"
SLOW = ("numpy", "torch")  # loading them takes seconds, which are not the learner's

_shared: dict[str, ModuleType] = {}  # kata.weights, one for every world
_trees: dict[tuple[Path, str], CodeType] = {}  # compiled stand-ins, by file and the step left out


class World:
    """One step's own ``kata`` package; with ``own`` every step of it is the learner's."""

    def __init__(self, house: House, package: Path, step: Step, own: bool = False) -> None:
        self.house = house
        self.package = package
        self.step = step
        self.own = own
        root = ModuleType("kata")
        root.__path__ = [str(package)]
        self.modules: dict[str, ModuleType] = {"kata": root}
        self.standins: dict[str, ModuleType] = {}
        self.target: Any = None  # the learner's function, or …
        self.broken: Red | None = None  # … why there is none
        self.notes: list[str] = []

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let ``kata`` mean this world's modules."""
        before = _take_kata_modules()
        sys.modules.update(self.modules)
        FINDER.worlds.append(self)
        reference = self.house.reference
        try:
            with spoilers.closed(None if self.package == reference else reference):
                yield
        finally:
            FINDER.worlds.pop()
            self.modules = _take_kata_modules()
            sys.modules.update(before)

    def load(self) -> None:
        """Run the learner's file and find the function under test, or why it cannot be had."""
        name = f"kata.{self.step.module}"
        before, libraries = globalstate.take(), len(sys.modules)
        try:
            with self.entered():
                module = importlib.import_module(name)
        except Red as red:
            self._break(red.kind, red.sentence, red)
        except Unreadable as error:
            self.broken = Red("unreadable", str(error), state=BROKEN)
        except Exception as error:
            self._break("import", in_one_line(error), error)
        else:
            self._choose(vars(module))
        changed = set(before.put_back())
        if len(sys.modules) != libraries:
            changed -= globalstate.BY_IMPORTS
        for what in sorted(changed):
            self.notes.append(
                f"{self.relative(self.path)} changes {what} when it is loaded; put back"
            )

    def _break(self, kind: str, why: str, error: Exception) -> None:
        line = line_of(error, self.package)
        where = f" ({self.relative(line[0])}:{line[1]})" if line else ""
        sentence = f"{self.step.file} cannot be loaded: {why}{where}"
        self.broken = Red(kind, sentence, state=BROKEN)
        self.broken.__cause__ = error

    def _choose(self, names: dict[str, Any]) -> None:
        found = names.get(self.step.name)
        if found is None or getattr(found, "__forwards_to_the_step__", False):
            path = self.relative(self.path)
            again = f"`pytest --reset {self.step.number}` puts the stub back"
            self.broken = Red("missing", f"{path} has no {self.step.name}: {again}", state=BROKEN)
        elif not callable(found):
            why = f"{self.step.name} is {kind_of(found)}, not a function."
            self.broken = Red("missing", why, state=BROKEN)
        else:
            self.target = found

    @property
    def path(self) -> Path:
        """The file that the function under test is written in."""
        return self.package / self.step.file

    def relative(self, path: Path) -> str:
        """A path as messages show it."""
        return (
            path.relative_to(self.house.root).as_posix()
            if path.is_relative_to(self.house.root)
            else str(path)
        )

    def call_target(self, *args: Any, **kwargs: Any) -> Any:
        """Call the learner's function from inside a stand-in."""
        return self.target(*args, **kwargs)

    def standin(self, stem: str) -> ModuleType:
        """The reference's module of a part, less the step under test."""
        if stem not in self.standins:
            path = self.house.reference / f"{stem}.py"
            module = ModuleType(f"kata.{stem}")
            self.standins[stem] = module
            if stem == self.step.module:
                setattr(module, self.step.name, self._forwarder())
            with spoilers.closed(None):  # the harness itself reads
                exec(_standin_code(path, self.step), vars(module))
        return self.standins[stem]

    def _forwarder(self) -> Callable[..., Any]:
        def forward(*args: Any, **kwargs: Any) -> Any:
            return self.call_target(*args, **kwargs)

        forward.__name__ = forward.__qualname__ = self.step.name
        forward.__forwards_to_the_step__ = True  # type: ignore[attr-defined]
        return forward

    def other_steps(self, stem: str) -> dict[str, Any]:
        """The stand-ins of one module by name; the step's own name calls the learner's."""
        module = self.standin(stem)
        return {step.name: getattr(module, step.name) for step in self.house.in_module(stem)}


def _is_kata(name: str) -> bool:
    return name == "kata" or name.startswith("kata.")


def _take_kata_modules() -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in _imported if name in sys.modules}


def _standin_code(path: Path, step: Step) -> CodeType:
    left_out = step.name if path.stem == step.module else ""
    if (path, left_out) not in _trees:
        tree = ast.parse(path.read_bytes())
        tree.body = [
            node for node in tree.body if getattr(node, "name", None) != left_out or not left_out
        ]
        # No path: neither `inspect` nor a traceback leads to the answer.
        _trees[path, left_out] = compile(tree, f"<the kata's own {path.stem}>", "exec")
    return _trees[path, left_out]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds ``kata.…`` in the world that is entered; refuses the learner's code ``reference``."""

    def __init__(self) -> None:
        self.worlds: list[World] = []

    def find_spec(
        self,
        name: str,
        path: object = None,  # noqa: ARG002  # the signature is Python's
        target: object = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if _is_kata(name):
            _imported.add(name)
        if not self.worlds:
            return None
        world = self.worlds[-1]
        if name.partition(".")[0] == "reference" and is_inside():
            refuse("The reference was imported: the answer is yours to write.")
        stem = name.removeprefix("kata.")
        if name == "kata.weights":
            return importlib.util.spec_from_loader(name, _Shared(world.house.kata / "weights.py"))
        if not name.startswith("kata.") or stem not in world.house.modules.values():
            return None
        loader: importlib.abc.Loader = _OtherPart(world, stem)
        if world.own or stem == world.step.module:
            loader = _Whole(world, stem) if world.own else _OwnPart(world)
        return importlib.util.spec_from_loader(
            name, loader, origin=str(world.package / f"{stem}.py")
        )


FINDER = _Finder()
_imported = {"kata", *filter(_is_kata, sys.modules)}  # whatever was, by its name
sys.meta_path.insert(0, FINDER)


class _Shared(importlib.abc.Loader):
    """One module for every world: containers made in a spec are those the learner's code knows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return _shared.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ not in _shared:
            source = read_source(self.path)
            module.__file__ = str(self.path)
            exec(compile(source.tree, str(self.path), "exec"), vars(module))
            _shared[module.__name__] = module


class _Loader(importlib.abc.Loader):
    """Fills a module that Python itself has made."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:  # noqa: ARG002
        return None


class _Whole(_Loader):
    """A part as it is written: with ``own``, the learner's; of the reference, the judge's."""

    def __init__(self, world: World, stem: str) -> None:
        self.world, self.stem = world, stem

    def exec_module(self, module: ModuleType) -> None:
        source = read_source(self.world.package / f"{self.stem}.py")
        tree = ast.parse(source.text)
        if self.world.package == self.world.house.reference:
            tree = spoilers.sealed(tree)
            setattr(module, spoilers.SEAL, spoilers.ask)
        _execute(tree, source, self.world.step, vars(module))


class _OwnPart(_Loader):
    """The learner's module of the step under test, less the other steps' definitions."""

    def __init__(self, world: World) -> None:
        self.world = world

    def exec_module(self, module: ModuleType) -> None:
        world, names = self.world, vars(module)
        source = read_source(world.path)
        tree = without_other_steps(ast.parse(source.text), world)
        bound = world.other_steps(world.step.module)

        def bind() -> None:
            names.update({name: value for name, value in bound.items() if name != world.step.name})

        names.update(bound)
        names[REBIND] = bind
        _execute(tree, source, world.step, names)
        bind()


def _execute(tree: ast.Module, source: Source, step: Step, names: dict[str, Any]) -> None:
    """Run a module of the learner's."""
    try:
        code = compile(tree, str(source.path), "exec", dont_inherit=True)
    except SyntaxError as error:  # of the kind that parsing alone does not find
        raise syntax_slip(source.path, error) from None
    for library in SLOW:
        if re.search(rf"^(import|from) {library}\b", source.text, re.MULTILINE):
            with suppress(ImportError):
                importlib.import_module(library)
    names["__file__"] = str(source.path)
    with boundary(step.tag):
        exec(code, names)


class _OtherPart(_Loader):
    """Another part's module: stand-ins, and the learner's file only for names that are no steps."""

    def __init__(self, world: World, stem: str) -> None:
        self.world, self.stem = world, stem

    def exec_module(self, module: ModuleType) -> None:
        world, stem = self.world, self.stem
        names = vars(module)
        names.update(_public(vars(world.standin(stem))))
        helpers: dict[str, Any] = {}
        trouble: list[Exception] = []  # why there are none

        def lend(name: str) -> Any:
            if name.startswith("__") and name != "__all__":
                raise AttributeError(name)
            if not helpers and not trouble:
                try:
                    helpers.update(self._helpers())
                except Exception as error:
                    trouble.append(error)
            if name == "__all__":
                return [key for key in {**helpers, **names} if not key.startswith("_")]
            if trouble:
                raise trouble[0]
            if name not in helpers:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            names[name] = helpers[name]
            return helpers[name]

        names["__getattr__"] = lend

    def _helpers(self) -> dict[str, Any]:
        """What the learner's file of that part defines beside the steps."""
        world = self.world
        source = read_source(world.package / f"{self.stem}.py")
        names: dict[str, Any] = {"__name__": f"kata.{self.stem}"}
        bound = world.other_steps(self.stem)
        names.update(bound)
        names[REBIND] = lambda: names.update(bound)
        tree = without_other_steps(ast.parse(source.text), world, self.stem)
        _execute(tree, source, world.step, names)
        return names


def _public(names: dict[str, Any]) -> dict[str, Any]:
    """What a part's stand-in shows: its steps and given functions."""
    stem = names["__name__"]
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_")
        and callable(value)
        and getattr(value, "__module__", None) == stem
    }


def without_other_steps(tree: ast.Module, world: World, stem: str | None = None) -> ast.Module:
    """Leave other steps' definitions out of a module's tree; their names are bound already."""
    stem = stem or world.step.module
    others = {step.name for step in world.house.in_module(stem)} - {world.step.name}
    body = _strip(tree.body, others)
    return ast.Module(body=body, type_ignores=[])


def _strip(body: list[ast.stmt], others: set[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in body:
        if _defines_only(node, others):
            continue
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if inner and not isinstance(
                node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            ):
                stripped = _strip(inner, others)
                setattr(node, field, stripped or [ast.copy_location(ast.Pass(), node)])
        for handler in getattr(node, "handlers", []):
            handler.body = _strip(handler.body, others) or [ast.copy_location(ast.Pass(), node)]
        kept.append(node)
        if _may_bind(node, others):
            call = ast.Expr(ast.Call(ast.Name(REBIND, ast.Load()), [], []))
            kept.append(ast.fix_missing_locations(ast.copy_location(call, node)))
    return kept


def _defines_only(node: ast.stmt, others: set[str]) -> bool:
    """Say whether a statement does nothing but bind names of other steps."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name in others
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) and target.id in others for target in node.targets)
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return isinstance(node.target, ast.Name) and node.target.id in others
    if isinstance(node, ast.Delete):
        return all(isinstance(target, ast.Name) and target.id in others for target in node.targets)
    return False


def _may_bind(node: ast.stmt, others: set[str]) -> bool:
    """Say whether a statement may bind a name of another step in some other way."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Name)
            and isinstance(inner.ctx, (ast.Store, ast.Del))
            and inner.id in others
        ):
            return True
        if isinstance(inner, ast.alias) and (
            inner.name == "*" or (inner.asname or inner.name) in others
        ):
            return True
        if getattr(inner, "name", None) in others and not isinstance(inner, ast.alias):
            return True
        if isinstance(inner, ast.Call):
            return True  # `setattr`, `exec`, `globals().update` and their like
        place = isinstance(inner, (ast.Subscript, ast.Attribute)) and inner.ctx
        if place and not isinstance(place, ast.Load):
            return True  # `globals()[…] = …`
    return False


def line_of(error: BaseException, package: Path) -> tuple[Path, int] | None:
    """Find the deepest line of the learner's files in an error's traceback."""
    found = None
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        trace = error.__traceback__
        while trace is not None:
            path = Path(trace.tb_frame.f_code.co_filename)
            if path.is_absolute() and path.is_relative_to(package):
                found = (path, trace.tb_lineno)
            trace = trace.tb_next
        if found:
            return found
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return found
