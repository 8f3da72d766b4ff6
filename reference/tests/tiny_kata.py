"""A kata of two parts and six steps, small enough to attack, in this process or another one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copytree
from textwrap import dedent

import pytest

from specs.harness.exam import Case, Exam
from specs.harness.failure import Red, Verdict
from specs.harness.report import verdict_on
from specs.harness.steps import House
from specs.harness.stubs import make_stubs

REPOSITORY = Path(__file__).resolve().parents[2]
COUNTS, MIXING = "part01_counts.py", "part02_mixing.py"

FILES = {
    "reference/part01_counts.py": '''\
        """Part 1 · Counts."""


        def double(number: int) -> int:
            """Count a number twice."""
            return number + number


        def quadruple(number: int) -> int:
            """Double the double."""
            return double(double(number))


        def countdown(number: int) -> list[int]:
            """Count from a number down to 1."""
            return [number, *countdown(number - 1)] if number else []
        ''',
    "reference/part02_mixing.py": '''\
        """Part 2 · Mixing."""

        from __future__ import annotations

        import torch
        from jaxtyping import Float
        from torch import Tensor

        from kata.part01_counts import double


        def soften(scores: Float[Tensor, "... keys"]) -> Float[Tensor, "... keys"]:
            """Turn scores into shares."""
            raised = torch.exp(scores - scores.amax(-1, keepdim=True))
            return raised / raised.sum(-1, keepdim=True)


        def blend(
            scores: Float[Tensor, "queries keys"], values: Float[Tensor, "keys width"]
        ) -> Float[Tensor, "queries width"]:
            """Mix values by their shares."""
            return soften(scores) @ values


        def amplify(
            values: Float[Tensor, "keys width"], number: int
        ) -> Float[Tensor, "keys width"]:
            """Make values twice a number louder."""
            return values * double(number)
        ''',
    "specs/part01/test_001_double.py": """\
        from kata.part01_counts import double
        from specs.harness.check import assert_equal


        def test_two_and_two():
            assert_equal(double(2), expected=4)


        def test_nothing_twice():
            assert_equal(double(0), expected=0)
        """,
    "specs/part01/test_002_quadruple.py": """\
        from kata.part01_counts import double, quadruple
        from specs.harness.check import assert_equal


        def test_four_threes():
            assert_equal(quadruple(3), expected=12 + double(0))
        """,
    "specs/part01/test_003_countdown.py": """\
        from kata.part01_counts import countdown
        from specs.harness.check import assert_equal


        def test_lift_off():
            assert_equal(countdown(3), expected=[3, 2, 1])
        """,
    "specs/part02/test_004_soften.py": """\
        from math import log

        import torch
        from kata.part02_mixing import soften
        from specs.harness.check import assert_close

        NOT_WITH = ("softmax",)
        SCORES = torch.tensor([[log(3), 0.0], [0.0, 0.0]])


        def test_three_to_one():
            assert_close(soften(SCORES), expected=[[0.75, 0.25], [0.5, 0.5]])
        """,
    "specs/part02/test_005_blend.py": """\
        from math import log

        import torch
        from kata.part02_mixing import blend
        from specs.harness.check import assert_close

        SCORES = torch.tensor([[log(3), 0.0], [0.0, 0.0], [0.0, log(3)]])
        VALUES = torch.tensor([[4.0, 0.0, 1.0, 2.0], [0.0, 8.0, 1.0, 2.0]])


        def test_three_parts_and_one():
            expected = [[3.0, 2.0, 1.0, 2.0], [2.0, 4.0, 1.0, 2.0], [1.0, 6.0, 1.0, 2.0]]
            assert_close(blend(SCORES, VALUES), expected)
        """,
    "specs/part02/test_006_amplify.py": """\
        import torch
        from kata.part01_counts import double
        from kata.part02_mixing import amplify
        from specs.harness.check import assert_close


        def test_six_times_as_loud():
            louder = amplify(torch.tensor([[1.0, 2.0, 0.5]]), 3)
            assert_close(louder, expected=[[6.0, 12.0, 3.0 + double(0)]])
        """,
    "conftest.py": 'pytest_plugins = ["specs.harness.plugin"]\n',
    "pyproject.toml": """\
        [tool.pytest.ini_options]
        testpaths = ["specs"]
        addopts = ["--import-mode=importlib"]
        """,
}


def build(root: Path) -> House:
    """Write the tiny kata, its steps stubs."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    house = House(root)
    house.kata.mkdir()
    for file in (COUNTS, MIXING):
        text = (house.reference / file).read_text("utf-8")
        stubs = make_stubs(text, house.in_module(Path(file).stem))
        (house.kata / file).write_text(stubs, "utf-8")
    return house


Files = Mapping[str, str | bytes | None]


def write(folder: Path, files: Files) -> None:
    """Write the learner's files; None takes one away."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(dedent(content), "utf-8")


def examine(house: House, package: Path, number: int, files: Files, own: bool = False) -> Verdict:
    """The verdict on one step of a kata with these files, reached in this process.

    It is the step's first red test, or green.
    """
    copytree(house.kata, package)
    write(package, files)
    step = house.find(str(number))
    exam = Exam(house, package, step, own)
    with exam.spec_import():
        spec = spec_from_file_location(f"spec_{step.tag}", step.spec)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    exam.cases = [Case(name, function, {}) for name, function in tests.items()]
    for case in exam.cases:
        try:
            exam.run(case)
        except Red as red:
            return verdict_on(exam, case, red, exam.looks_like(case, red))
    return Verdict(number, "green")


def cases(table: Mapping[str, object]) -> pytest.MarkDecorator:
    """One test for each row of a table, named by it."""
    rows = [row if isinstance(row, tuple) else (row,) for row in table.values()]
    names = ("code", "says") if len(rows[0]) > 1 else ("code",)
    return pytest.mark.parametrize(
        names, [pytest.param(*row, id=name) for name, row in zip(table, rows, strict=True)]
    )


def told(verdict: Verdict) -> str:
    """What a verdict says, in one line."""
    return " ".join(" ".join(verdict.lines).split())


@dataclass(frozen=True)
class Ended:
    """How a run of pytest ended, and what it printed."""

    status: int
    output: str
    errors: str


def run_pytest(house: House, *args: str, folder: str = ".", plugins: tuple[str, ...] = ()) -> Ended:
    """Run pytest on the tiny kata, in a process of its own, with a second's patience."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "DOJO_TIME_LIMIT": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": " ".join(f"-p {plugin}" for plugin in plugins),
        "COLUMNS": "100",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *args],
        cwd=house.root / folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)
