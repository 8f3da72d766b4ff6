"""Mutants: a step's function with one small thing changed, as a slip of the fingers would."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

Change = Callable[[Any], None]
Definition = ast.FunctionDef | ast.ClassDef

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
METHODS = {
    "amax": "amin",
    "max": "min",
    "min": "max",
    "sum": "mean",
    "mean": "sum",
    "tril": "triu",
    "triu": "tril",
    "exp": "expm1",
    "log": "exp",
    "sqrt": "exp",
    "sin": "cos",
    "cos": "sin",
    "zeros": "ones",
    "ones": "zeros",
    "zeros_like": "ones_like",
    "ones_like": "zeros_like",
    "detach": "clone",
    "append": "index",
    "float64": "float32",
    "argmax": "argmin",
    "unsqueeze": "squeeze",
}
# Their first two arguments may change places.
SYMMETRIC = {
    "transpose",
    "swapaxes",
    "promote_types",
    "maximum",
    "minimum",
    "broadcast_shapes",
    "max",
    "min",
}


@dataclass(frozen=True)
class Mutant:
    """One mutant: what was changed, and the function that came of it."""

    change: str  # "scores / math.sqrt(d_k) → scores * math.sqrt(d_k)"
    function: Callable[..., Any]


def mutants_of(path: Path, function: Callable[..., Any]) -> Iterator[Mutant]:
    """Yield the mutants of a function read from ``path``, its private helpers' among them."""
    assert isinstance(function, FunctionType)
    tree = ast.parse(path.read_bytes())
    defs = {node.name: node for node in tree.body if isinstance(node, Definition)}
    family = _family(function.__name__, defs)
    for name in family:
        for change, mutated in _definitions(defs[name]):
            namespace = dict(function.__globals__)
            bodies: list[ast.stmt] = [
                mutated if member == name else defs[member] for member in family
            ]
            try:
                flags = __import__("__future__").annotations.compiler_flag
                module = ast.fix_missing_locations(ast.Module(bodies, []))
                exec(compile(module, str(path), "exec", flags=flags, dont_inherit=True), namespace)
            except (SyntaxError, TypeError, ValueError):
                continue
            yield Mutant(change, namespace[function.__name__])


def _family(name: str, defs: dict[str, Definition]) -> list[str]:
    """The function and the private helpers it leans on, such as a class with its gradient."""
    family = [name]
    for member in family:
        called = {node.id for node in ast.walk(defs[member]) if isinstance(node, ast.Name)}
        family += [
            other for other in defs if other in called and other[0] == "_" and other not in family
        ]
    return family


def _definitions(definition: Definition) -> Iterator[tuple[str, Definition]]:
    """Yield a function, or a class whose methods are meant, with each single change."""
    if isinstance(definition, ast.FunctionDef):
        yield from _changed(definition)
        return
    for index, method in enumerate(definition.body):
        if isinstance(method, ast.FunctionDef):
            for change, mutated in _changed(method):
                twin = copy.deepcopy(definition)
                twin.body[index] = mutated
                yield change, twin


def _changed(function: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the function with each single change, and what the change is."""
    nodes = list(ast.walk(function))
    holders = {id(child): parent for parent in nodes for child in ast.iter_child_nodes(parent)}
    for index, node in enumerate(nodes):
        if _is_annotation(node, function, holders):
            continue
        for change in _changes(node, function):
            mutated = copy.deepcopy(function)
            place = list(ast.walk(mutated))[index]
            change(place)
            shown = _statement(node, holders)
            before = ast.unparse(shown)
            after = _after(mutated, nodes.index(shown))
            if before != after:
                yield f"{_first(before)} → {_first(after)}", mutated


def _first(text: str) -> str:
    return " ".join(text.split())[:160]


def _after(mutated: ast.FunctionDef, index: int) -> str:
    try:
        return ast.unparse(ast.fix_missing_locations(list(ast.walk(mutated))[index]))
    except (IndexError, AttributeError):
        return "(gone)"


def _statement(node: ast.AST, holders: dict[int, ast.AST]) -> ast.AST:
    """The statement, or the default of an argument, that a node belongs to."""
    while not isinstance(node, (ast.stmt, ast.arguments)):
        node = holders[id(node)]
    return node


def _is_annotation(node: ast.AST, function: ast.FunctionDef, holders: dict[int, ast.AST]) -> bool:
    inner: ast.AST | None = node
    while inner is not None and inner is not function:
        holder = holders.get(id(inner))
        if isinstance(holder, (ast.arg, ast.AnnAssign)) and inner is holder.annotation:
            return True
        if holder is function and inner is function.returns:
            return True
        inner = holder
    return False


def _set(name: str, value: Any) -> Change:
    return lambda node: setattr(node, name, value)


def _become(value: ast.expr | ast.stmt) -> Change:
    """Turn a node into another one, where it stands."""

    def change(node: Any) -> None:
        node.__class__ = value.__class__
        node.__dict__.update(value.__dict__)

    return change


def _changes(node: ast.AST, function: ast.FunctionDef) -> Iterator[Change]:
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in OPERATORS:
        yield _set("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield _set("ops", [OPERATORS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield _become(_without_sign(node))
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Attribute) and node.attr in METHODS:
        yield _set("attr", METHODS[node.attr])
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield _set("test", ast.Constant(value=True))
        yield _set("test", ast.Constant(value=False))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield _set("ifs", [])
    elif isinstance(node, ast.Return) and node.value is not None:
        yield _set("value", ast.Constant(value=None))
        if isinstance(node.value, ast.Tuple):
            yield _set("value", ast.Tuple(node.value.elts[::-1], ast.Load()))
    if isinstance(
        node, (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)
    ) and not _is_docstring(node, function):
        yield _become(ast.Pass())


def _without_sign(node: ast.UnaryOp) -> ast.expr:
    """The operand as it is: ``−x`` and ``~x`` lose their sign, ``not x`` its ``not``."""
    if isinstance(node.op, (ast.USub, ast.Invert)):
        return ast.UnaryOp(ast.UAdd(), node.operand)
    return ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])


def _is_docstring(node: ast.AST, function: ast.FunctionDef) -> bool:
    return (
        node is function.body[0]
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
    )


def _constants(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield _set("value", not node.value)
    elif isinstance(node.value, (int, float)):
        yield _set("value", node.value + 1)
        yield _set("value", node.value * 2)


def _calls(node: ast.Call) -> Iterator[Change]:
    for index in range(len(node.keywords)):
        yield _set("keywords", node.keywords[:index] + node.keywords[index + 1 :])
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if (
        len(node.args) >= 2
        and name not in SYMMETRIC
        and not any(isinstance(arg, ast.Starred) for arg in node.args)
    ):
        yield _set("args", [node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Attribute) and not isinstance(
        node.func.value, ast.Name | ast.Attribute
    ):
        yield _become(node.func.value)  # the method left out
