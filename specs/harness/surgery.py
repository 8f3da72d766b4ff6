"""One function taken out of a learner's text, its stub put there, and not a byte more touched."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dis import get_instructions
from types import CodeType

from specs.harness.source import Source, place_of, quietly, split_lines

Place = tuple[int, int]
OPENS = re.compile(r"(?:async[ \t]+def|def|class)\b|[@#]")  # what a line may safely be cut before
TROUBLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what compiling may raise
CLOSES = re.compile(r"[)\]}]")  # the last line of a signature


class Entangled(Exception):
    """The function cannot be told apart from what stands around it; ``line`` is where, if known."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def with_stub(source: Source, name: str, stub: str, order: Sequence[str]) -> str:
    """The text with the function of that name replaced by its stub, or the stub put in its place.

    Whatever else binds the name on its own at the top level goes; ``order`` names the steps as
    they follow each other in the file.
    """
    tree, lines = source.tree, list(source.lines)
    own = _own(tree, name)
    for node in tree.body:
        if (node in own and _shares_a_line(node, tree)) or (
            node not in own and _binds("".join(lines[slice(*place_of(node, lines))]), name)
        ):
            raise Entangled(node.lineno)
    places = [place_of(node, lines) for node in own]
    for first, end in reversed(places[1:]):
        del lines[first:end]
    if places:
        first, end = places[0]
        lines[first:end] = _as_here(stub, lines, places[0])
    else:
        _insert(lines, tree, stub, name, order)
    return "".join(lines)


def cut_by_lines(text: str, name: str, stub: str) -> str | None:
    """The same for a text that does not parse, if it surely does once that function is gone."""
    lines = split_lines(text)
    head = re.compile(rf"(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b")
    heads = [number for number, line in enumerate(lines) if head.match(line)]
    if len(heads) != 1:
        return None
    first, end = heads[0], heads[0] + 1
    while first and lines[first - 1].startswith("@"):
        first -= 1
    while end < len(lines) and (lines[end][0].isspace() or CLOSES.match(lines[end])):
        end += 1
    if end < len(lines) and not OPENS.match(lines[end]):
        return None
    while not lines[end - 1].strip():
        end -= 1
    lines[first:end] = _as_here(stub, lines, (first, end))
    return _sound("".join(lines), name, stub)


def _sound(text: str, name: str, stub: str) -> str | None:
    """The text, if it compiles and the name stands for the stub in it."""
    try:
        with quietly():
            tree = ast.parse(text)
            compile(text, "<kata>", "exec", dont_inherit=True)
        body = [node for node in tree.body if _binds(ast.unparse(node), name)]
    except TROUBLE:
        return None
    return text if ast.dump(ast.Module(body, [])) == ast.dump(ast.parse(stub)) else None


def _own(tree: ast.Module, name: str) -> list[ast.stmt]:
    """The top-level statements that do nothing but bind, or unbind, the name."""
    return [node for node in tree.body if sole_name(node) == name]


def sole_name(node: ast.stmt) -> str | None:
    """The one name that a statement is there to bind."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Delete(targets=[ast.Name(id=name)]):
            return name
    return None


def _shares_a_line(node: ast.stmt, tree: ast.Module) -> bool:
    """Whether a semicolon joins the statement to a neighbour."""
    return any(
        other is not node
        and other.lineno <= (node.end_lineno or 0)
        and node.lineno <= (other.end_lineno or 0)
        for other in tree.body
    )


def _binds(text: str, name: str) -> bool:
    """Whether a piece of a module binds the name for the module, from however deep inside."""
    try:
        with quietly():
            codes = [compile(text, "<kata>", "exec", dont_inherit=True)]
    except TROUBLE:
        return False  # only the compiler minds: a return outside a function, say
    stores = {"STORE_NAME", "DELETE_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
    for code in codes:  # grows while it is walked
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        if any(each.opname in stores and each.argval == name for each in get_instructions(code)):
            return True
        stores = {"STORE_GLOBAL", "DELETE_GLOBAL"}  # names of a class are its own
    return False


def _newline(lines: Sequence[str]) -> str:
    """The line end that a file uses."""
    return lines[0][len(lines[0].rstrip("\r\n")) :] or "\n" if lines else "\n"


def _as_here(stub: str, lines: Sequence[str], place: Place) -> list[str]:
    """The stub with the line ends of the lines that it replaces."""
    last = lines[place[1] - 1]
    fresh = [line.rstrip("\n") + _newline(lines[place[0] :]) for line in split_lines(stub)]
    fresh[-1] = fresh[-1].rstrip("\r\n") + last[len(last.rstrip("\r\n")) :]
    return fresh


def _insert(lines: list[str], tree: ast.Module, stub: str, name: str, order: Sequence[str]) -> None:
    """Put the stub behind the last earlier step, or before the first later one, or at the end."""
    newline = _newline(lines)
    gap = [newline, newline]
    fresh = [line.rstrip("\n") + newline for line in split_lines(stub)]
    rank = list(order).index(name)
    earlier = [node for each in order[:rank] for node in _own(tree, each)]
    later = [node for each in order[rank + 1 :] for node in _own(tree, each)]
    if not earlier and later:
        place = min(place_of(node, lines)[0] for node in later)
        while place and lines[place - 1].startswith("#"):
            place -= 1
        lines[place:place] = [*fresh, *gap]
        return
    place = max((place_of(node, lines)[1] for node in earlier), default=len(lines))
    if place and lines[place - 1] == lines[place - 1].rstrip("\r\n"):
        lines[place - 1] += newline
    crowded = place < len(lines) and lines[place].strip()
    lines[place:place] = [*gap, *fresh, *(gap if crowded else [])]
