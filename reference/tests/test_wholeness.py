"""Law 4: every step is whole, no file is left over, and what the lessons say is run."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
from pathlib import Path

import pytest

from reference.tests.laws import EACH_STEP, HOUSE
from specs.harness.exam import reference_function, reference_world
from specs.harness.lessons import read_lesson
from specs.harness.steps import Step
from specs.harness.stubs import make_stubs

EACH_PART = pytest.mark.parametrize("part", HOUSE.modules)


@EACH_STEP
def test_step_has_a_lesson_that_fits(step: Step) -> None:
    """Title, part, XP and paper stand on top; all sections are there, and three hints at least."""
    lesson = read_lesson(step)
    assert lesson.title == f"{step.tag} · {step.name}"
    title = HOUSE.part_title(step.part)
    assert lesson.meta.startswith(f"Part {int(step.part[4:])}, {title} · +5 XP · paper: ")
    assert len(lesson.hints) >= 3
    assert all(lesson.hints)


@EACH_STEP
def test_lesson_tells_each_mistake(step: Step) -> None:
    """The lesson's table of mistakes and the file of mistakes go one for one."""
    rows = [
        line for line in read_lesson(step).sections["Mistakes"].splitlines() if line.startswith("|")
    ]
    functions = _functions(HOUSE.mistakes(step))
    assert len(rows) - 2 == len(functions)
    assert len(functions) >= 3
    sentences = [ast.get_docstring(node) or "" for node in functions]
    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


@EACH_STEP
def test_lesson_numbers_are_run(step: Step) -> None:
    """Every `>>>` example gives what stands below it."""
    text = re.sub(r"^\s*```\w*$", "", step.lesson.read_text("utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, step.lesson.name, str(step.lesson), 0)
    assert examples.examples, "the lesson runs nothing"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    said: list[str] = []
    with reference_world(HOUSE, step).entered():
        runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


@EACH_STEP
def test_lesson_keeps_the_solution(step: Step) -> None:
    """Of the reference's body at most half stands in the lesson, hints and answer included."""
    body = _body_lines(step)
    lesson = " ".join(step.lesson.read_text("utf-8").split())
    told = [line for line in body if len(line) > 24 and line in lesson]
    assert len(told) <= len(body) / 2, told


def _body_lines(step: Step) -> list[str]:
    (node,) = [
        node
        for node in ast.parse((HOUSE.reference / step.file).read_bytes()).body
        if isinstance(node, ast.FunctionDef) and node.name == step.name
    ]
    statements = node.body[1:]
    return [
        " ".join(line.split()) for each in statements for line in ast.unparse(each).splitlines()
    ]


@EACH_STEP
def test_reference_is_documented(step: Step) -> None:
    """A docstring says what it does, from where in the paper; every argument has a type."""
    function = reference_function(HOUSE, step)
    text = inspect.getdoc(function) or ""
    first = text.split("\n\n")[0]
    assert first.endswith((".", "…")), "the first sentence tells what the function does"
    assert re.search(r"[Ss]ection|[Ee]quation|[Pp]aper", text), "the source is missing"
    parameters = inspect.signature(function).parameters.values()
    untyped = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
    assert untyped == []


@EACH_STEP
def test_spec_says_its_step(step: Step) -> None:
    """Number, name and lesson stand on the spec's first lines; its tests take parameters only."""
    tree = ast.parse(step.spec.read_bytes())
    text = " ".join((ast.get_docstring(tree) or "").split())
    assert text.startswith(f"{step.tag} · {step.name}")
    assert step.lesson.name in text
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            assert ast.get_docstring(node), f"{node.name} does not say its arithmetic"
            given = {argument.arg for argument in node.args.args}
            assert given <= _parameters(node), f"{node.name} takes a fixture"


def _parameters(node: ast.FunctionDef) -> set[str]:
    names: set[str] = set()
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args:
            listed = ast.literal_eval(decorator.args[0])
            names.update(re.split(r",\s*", listed) if isinstance(listed, str) else listed)
        elif isinstance(decorator, ast.Name):  # a mark that the spec has given a name
            names.update(
                re.findall(r"[a-z_]+", "size sizes dtype half bias case " + decorator.id.lower())
            )
    return names


@EACH_PART
def test_part_has_a_table_of_its_steps(part: str) -> None:
    """Each step's lesson and spec are linked from the part's README, in order."""
    folder = HOUSE.root / "specs" / part
    text = (folder / "README.md").read_text("utf-8")
    linked = re.findall(r"\]\(([^)#]+)\)", text)
    steps = [step for step in HOUSE.steps if step.part == part]
    wanted = [name for step in steps for name in (step.lesson.name, step.spec.name)]
    assert [name for name in linked if name in wanted] == wanted
    assert all((folder / name).exists() for name in linked if "://" not in name)
    assert f"pytest specs/{part}" in text


def test_steps_are_numbered_without_a_gap() -> None:
    """001, 002, 003 and on: no number is missing or used twice."""
    assert [step.number for step in HOUSE.steps] == list(range(1, len(HOUSE.steps) + 1))


def test_no_file_is_left_over() -> None:
    """Every file under a part, and every file of versions right or wrong, belongs to a step."""
    known = {path for step in HOUSE.steps for path in (step.spec, step.lesson)}
    known |= {HOUSE.mistakes(step) for step in HOUSE.steps}
    known |= {HOUSE.unusual(step) for step in HOUSE.steps}
    folders = ["specs/part*", "reference/mistakes/*", "reference/unusual/*"]
    found = {
        path
        for folder in folders
        for path in HOUSE.root.glob(f"{folder}/*")
        if path.is_file() and path.name != "README.md"
    }
    assert sorted(str(path) for path in found - known) == []


@EACH_PART
def test_stub_is_the_reference_without_bodies(part: str) -> None:
    """Signature, docstring and given functions of stub and reference cannot differ."""
    module = HOUSE.modules[part]
    text = (HOUSE.reference / f"{module}.py").read_text("utf-8")
    stubs = make_stubs(text, HOUSE.in_module(module))
    mine, theirs = ast.parse(stubs), ast.parse(text)
    names = {node.name for node in mine.body if isinstance(node, ast.FunctionDef)}
    public = {node.name for node in theirs.body if isinstance(node, ast.FunctionDef)}
    assert names == {name for name in public if not name.startswith("_")}


SHIPPED = pytest.mark.skipif(
    os.environ.get("KATA_SHIPPED") != "1", reason="a learner's kata is written in"
)


@SHIPPED
@EACH_PART
def test_shipped_kata_is_untouched(part: str) -> None:
    """What is shipped is the stubs, freshly made; only this repository's own CI asks for it."""
    module = HOUSE.modules[part]
    text = (HOUSE.reference / f"{module}.py").read_text("utf-8")
    shipped = (HOUSE.kata / f"{module}.py").read_text("utf-8")
    assert shipped == make_stubs(text, HOUSE.in_module(module))


def _functions(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_bytes())
    return [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
