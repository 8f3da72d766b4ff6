"""A stub: its reference with the body taken out, and whether a learner's function still is one."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from specs.harness.source import place_of, split_lines
from specs.harness.steps import Step, UserError

Function = ast.FunctionDef | ast.AsyncFunctionDef

# Whoever mentions one of these may bind a name without writing it down.
SLY = frozenset({
    *("globals", "locals", "vars", "exec", "eval", "getattr", "setattr", "delattr", "attrgetter"),
    *("sys", "modules", "importlib", "runpy", "pkgutil", "builtins", "gc", "inspect", "ctypes"),
    *("mock", "pickle", "f_globals", "f_locals", "__builtins__", "__import__", "__dict__"),
    *("__globals__", "__code__", "__defaults__", "__kwdefaults__", "__closure__", "__class__"),
    *("__getattr__", "__setattr__", "__getattribute__", "__loader__", "__spec__"),
})  # fmt: skip
UNKNOWN = "*"
WELL_KNOWN = (sys.stdlib_module_names - SLY) | {"torch", "numpy", "jaxtyping"}


def stub_message(step: Step) -> str:
    """What a stub says when it is called."""
    return f"step {step.tag}: write {step.name}"


def stub_text(step: Step) -> str:
    """The line that stands for the body still to be written."""
    return f'raise NotImplementedError("{stub_message(step)}")'


def make_stubs(reference_text: str, steps: Iterable[Step]) -> str:
    """Turn a reference module into the learner's: steps lose their bodies, ``_`` names go.

    Everything else stays byte for byte. A ``_`` name stays too where something given needs it.
    """
    by_name = {step.name: step for step in steps}
    tree, lines = ast.parse(reference_text), split_lines(reference_text)
    needed = _needed(tree, set(by_name))
    for node in reversed(tree.body):  # from the end, so that earlier line numbers stay true
        names = set(defines(node))
        if isinstance(node, Function) and node.name in by_name:
            first, end = place_of(node, lines)
            lines[first:end] = _stubbed(node, lines, by_name[node.name])
        elif names and all(map(_private, names)) and not names & needed:
            _drop(lines, *place_of(node, lines))
    return "".join(lines)


def stub_of(reference_text: str, step: Step) -> str:
    """The stub of one step alone, as its reference's text has it."""
    tree, lines = ast.parse(reference_text), split_lines(reference_text)
    for node in tree.body:
        if isinstance(node, Function) and node.name == step.name:
            return "".join(_stubbed(node, lines, step))
    raise UserError(
        f"reference/{step.file} defines no function {step.name}: step {step.tag} needs it"
    )


def _stubbed(node: Function, lines: list[str], step: Step) -> list[str]:
    """The function's lines up to its docstring's end, then the line that says what to write."""
    first, _ = place_of(node, lines)
    start = node.body[0]
    kept = start.end_lineno if ast.get_docstring(node) is not None else start.lineno - 1
    head = list(lines[first:kept])
    while head[-1].lstrip().startswith("#") or not head[-1].strip():
        head.pop()  # comments between signature and body speak of the body
    return [*head, f"    {stub_text(step)}\n"]


def defines(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module defines."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _private(name: str) -> bool:
    """Whether a name is the module's own affair; ``__all__`` and its like are Python's."""
    return name.startswith("_") and not name.startswith("__")


def _needed(tree: ast.Module, steps: set[str]) -> set[str]:
    """The names that what stays in the stubs mentions, and what those mention in turn."""
    pieces = [(set(defines(node)), mentioned(node, steps)) for node in tree.body]
    needed: set[str] = set()
    todo = [words for names, words in pieces if not names or not all(map(_private, names))]
    while todo:
        new = todo.pop() - needed
        needed |= new
        todo += [words for names, words in pieces if names & new]
    return needed


def mentioned(node: ast.stmt, steps: Collection[str] = ()) -> set[str]:
    """The names that a statement reads, the bodies of these steps left out."""
    parts: list[ast.AST] = [node]
    if isinstance(node, Function) and node.name in steps:
        parts = [node.args, *node.decorator_list, *filter(None, [node.returns])]
    walked = (each for part in parts for each in ast.walk(part))
    return {
        each.id for each in walked if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def _drop(lines: list[str], first: int, end: int) -> None:
    """Take lines out, with the comment right above them and the smaller of the gaps around."""
    while first and lines[first - 1].startswith("#"):
        first -= 1
    above, below = first, end
    while above and not lines[above - 1].strip():
        above -= 1
    while below < len(lines) and not lines[below].strip():
        below += 1
    gap = max(first - above, below - end) if above and below < len(lines) else 0
    lines[above:below] = ["\n"] * gap


def is_stub(tree: ast.Module, step: Step) -> bool:
    """Whether a step surely is its stub still: in doubt it is not, and its spec decides."""
    own = [node for node in tree.body if getattr(node, "name", None) == step.name]
    if len(own) != 1 or not isinstance(node := own[0], ast.FunctionDef) or node.decorator_list:
        return False
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    wanted = ast.parse(stub_text(step)).body
    if [ast.dump(each) for each in body] != [ast.dump(each) for each in wanted]:
        return False
    bound = _names_bound(tree)
    return not bound[UNKNOWN] and bound[step.name] == 1  # the stub's own definition


def _names_bound(tree: ast.Module) -> Counter[str]:
    """How often each name could be bound, anywhere in a file; counted once a tree."""
    if not hasattr(tree, "names_bound"):
        tree.names_bound = Counter(  # type: ignore[attr-defined]
            name for node in ast.walk(tree) for name in _may_bind(node)
        )
    found: Counter[str] = tree.names_bound  # type: ignore[attr-defined]
    return found


def _may_bind(node: ast.AST) -> Iterator[str]:
    """The names that a node could put something under; ``UNKNOWN`` where that cannot be told."""
    match node:
        case ast.Name(id=word, ctx=context) | ast.Attribute(attr=word, ctx=context):
            if word in SLY:
                yield UNKNOWN
            elif not isinstance(context, ast.Load):
                yield word
        case ast.Constant(value=word):
            if isinstance(word, str) and word in SLY:
                yield UNKNOWN
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _imported(alias.name, alias)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                yield from [UNKNOWN] if level else _imported(module or "", alias)
        case ast.arg() | ast.keyword() | ast.alias():
            pass  # a parameter binds nothing outside; aliases are seen with their import
        case _:
            for _, value in ast.iter_fields(node):
                if isinstance(value, str):
                    yield value
                elif isinstance(value, list):
                    yield from (name for name in value if isinstance(name, str))


def _imported(module: str, alias: ast.alias) -> Iterator[str]:
    """What an import binds; unknown if it runs code that nobody here knows."""
    root, _, rest = module.partition(".")
    known = root in WELL_KNOWN or (root == "kata" and rest.startswith(("part", "weights")))
    if not known or alias.name == "*" or not SLY.isdisjoint(alias.name.split(".")):
        yield UNKNOWN
    yield alias.asname or alias.name.partition(".")[0]
