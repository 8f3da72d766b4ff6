"""The reference's own text of a step, for whoever has earned it."""

from __future__ import annotations

import ast

from specs.harness.source import place_of, read_source
from specs.harness.steps import House, Step, UserError
from specs.harness.stubs import defines, mentioned


def solution(house: House, step: Step, green: bool, hints_left: int) -> str:
    """The reference of a step that is green, or whose hints are used up."""
    if not green and hints_left:
        left = f"{hints_left} hints are" if hints_left > 1 else "1 hint is"
        raise UserError(
            f"{step.tag} {step.name}: {left} left (pytest --hint {step.number});"
            " the solution is shown after the last of them, or once the step is green"
        )
    return reference_text(house, step)


def reference_text(house: House, step: Step) -> str:
    """The step's function as the reference has it, with the private helpers that it leans on."""
    source = read_source(house.reference / step.file)
    wanted, found = {step.name}, list[ast.stmt]()
    while new := [
        node for node in source.tree.body if node not in found and wanted & set(defines(node))
    ]:
        found += new
        wanted = {name for node in new for name in mentioned(node) if name.startswith("_")}
    if not found:
        raise UserError(f"reference/{step.file} defines no function {step.name}")
    line = found[0].lineno
    found.sort(key=lambda node: node.lineno)
    places = [place_of(node, source.lines) for node in found]
    texts = ["".join(source.lines[first:end]).rstrip() for first, end in places]
    return "\n\n\n".join([f"# reference/{step.file}:{line}", *texts])
