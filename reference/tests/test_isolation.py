"""One step alone: while a step is under test, every other step is the reference's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from reference.tests.tiny_kata import COUNTS, MIXING, Files, build, cases, examine, told
from specs.harness import boundary
from specs.harness.failure import Verdict
from specs.harness.steps import House

Examine = Callable[..., Verdict]

WRONG = "def double(number): return number * 9\n"
RIGHT = "def quadruple(number): return double(double(number))\n"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """The tiny kata, its steps stubs."""
    return build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def verdict(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """Examine a step of the tiny kata with a learner's files; a loop is not waited for."""
    monkeypatch.setattr(boundary, "TIME_LIMIT", 0.3)
    return lambda *args, **kwargs: examine(house, tmp_path / "kata", *args, **kwargs)


OTHER_STEP = {
    "a stub": "def double(number): raise NotImplementedError('step 001: write double')",
    "wrong": WRONG,
    "deleted": "",
    "deleted at the end": WRONG + RIGHT + "del double",
    "async": "async def double(number): return 9",
    "a generator": "def double(number): yield 9",
    "a class": "class double: pass",
    "a lambda": "double = lambda number: 9",
    "a partial": "import functools\ndouble = functools.partial(max, 9)",
    "None": "double = None",
    "decorated": """\
        def nine(function):
            return lambda number: 9

        @nine
        def double(number): return number + number
        """,
    "conditional": "if True:\n    def double(number): return 9\nelse:\n    double = None",
    "in a try": "try:\n    import fast_double as double\nexcept ImportError:\n    double = abs",
    "a loop's variable": "for double in range(9): pass",
    "what a with gives": "import contextlib\nwith contextlib.nullcontext(9) as double: pass",
    "one of two": "double, triple = 9, 10",
    "a walrus": "(double := 9)",
    "matched": "match 9:\n    case double: pass",
    "set in globals()": "globals()['double'] = 9",
    "set by exec": "exec('double = 9')",
    "set in sys.modules": "import sys\nsys.modules[__name__].__dict__['double'] = 9",
    "imported": "from math import floor as double",
    "written twice": WRONG + "def double(number): return number * 7",
}


@cases(OTHER_STEP)
def test_whatever_the_other_step_is_changes_nothing(verdict: Examine, code: str) -> None:
    """Step 002 is right, so it is green, before step 001 and after it."""
    assert verdict(2, {COUNTS: f"{dedent(code)}\n{RIGHT}"}).state == "green"


@cases(OTHER_STEP)
def test_whatever_stands_behind_changes_nothing(verdict: Examine, code: str) -> None:
    """The same with the two steps the other way round."""
    assert verdict(2, {COUNTS: f"{RIGHT}\n{dedent(code)}\n"}).state == "green"


@cases(OTHER_STEP)
def test_what_takes_hold_of_it_at_once_holds_the_references(verdict: Examine, code: str) -> None:
    """An alias made right after whatever the learner did to the name."""
    alias = "twice = double\ndef quadruple(number): return twice(twice(number))"
    assert verdict(2, {COUNTS: f"{dedent(code)}\n{alias}"}).state == "green"


HOLDING = {
    "default argument": """\
        def quadruple(number, twice=double):
            return twice(twice(number))
        """,
    "module-level dict": """\
        STEPS = {"twice": double}
        def quadruple(number):
            return STEPS["twice"](STEPS["twice"](number))
        """,
    "alias": "twice = double\ndef quadruple(number): return twice(twice(number))",
    "alias in a class": """\
        class Steps:
            twice = staticmethod(double)
        def quadruple(number):
            return Steps.twice(Steps.twice(number))
        """,
    "closure": """\
        def make(function):
            return lambda number: function(function(number))
        quadruple = make(double)
        """,
    "partial": """\
        import functools
        def twice(function, number):
            return function(function(number))
        quadruple = functools.partial(twice, double)
        """,
    "import under another name": """\
        from kata.part01_counts import double as twice
        def quadruple(number):
            return twice(twice(number))
        """,
    "import inside the function": """\
        def quadruple(number):
            from kata.part01_counts import double as twice
            return twice(twice(number))
        """,
    "the module itself": """\
        import kata.part01_counts as steps
        def quadruple(number):
            return steps.double(steps.double(number))
        """,
    "importlib": """\
        import importlib
        def quadruple(number):
            double = importlib.import_module("kata.part01_counts").double
            return double(double(number))
        """,
    "decorator of the learner's": """\
        import functools
        def traced(function):
            @functools.wraps(function)
            def call(*args):
                return function(*args)
            return call
        @traced
        def quadruple(number):
            return double(double(number))
        """,
    "helper beside the steps": """\
        def _again(number):
            return double(number)
        def quadruple(number):
            return _again(_again(number))
        """,
}


@cases(HOLDING)
def test_however_the_other_step_is_held_it_is_the_references(verdict: Examine, code: str) -> None:
    """The learner's own step 001 is wrong, and step 002 green all the same."""
    assert verdict(2, {COUNTS: WRONG + dedent(code)}).state == "green"


HELPERS: dict[str, Files] = {
    "imports the step": {
        COUNTS: WRONG + "from kata.helpers import again\nquadruple = again",
        "helpers.py": """\
            def again(number):
                from kata.part01_counts import double
                return double(double(number))
            """,
    },
    "imports it in a circle": {
        COUNTS: WRONG + "from kata.helpers import again\nquadruple = again",
        "helpers.py": """\
            from kata.part01_counts import double
            def again(number): return double(double(number))
            """,
    },
    "relative": {
        COUNTS: WRONG + "from .helpers import again\nquadruple = again",
        "helpers.py": """\
            from .part01_counts import double
            def again(number): return double(double(number))
            """,
    },
    "everything of it": {
        COUNTS: "from kata.helpers import *\n" + RIGHT,
        "helpers.py": WRONG,
    },
}


@pytest.mark.parametrize("files", HELPERS.values(), ids=HELPERS)
def test_helpers_of_the_learners_see_the_reference_too(verdict: Examine, files: Files) -> None:
    """A file of helpers beside the parts is the learner's; the steps it uses are not."""
    assert verdict(2, files).state == "green"


STEP_ITSELF = {
    "a lambda": "double = lambda number: 2 * number",
    "a partial": "import functools, operator\ndouble = functools.partial(operator.mul, 2)",
    "an instance": """\
        class Double:
            def __call__(self, number): return 2 * number
        double = Double()
        """,
    "a class": "class double:\n    def __new__(cls, number): return 2 * number",
    "a method": "class Two:\n    def by(self, number): return 2 * number\ndouble = Two().by",
    "conditional": "if True:\n    def double(number): return 2 * number",
    "cached": "import functools\n@functools.cache\ndef double(number): return 2 * number",
    "the last of two": WRONG + "def double(number): return 2 * number",
    "other names": "def double(n, /, *unused): return 2 * n",
}


@cases(STEP_ITSELF)
def test_step_is_whatever_ends_up_under_its_name(verdict: Examine, code: str) -> None:
    """A right answer is green however the function is made."""
    assert verdict(1, {COUNTS: code}).state == "green"


def test_step_that_calls_itself_is_its_own(verdict: Examine) -> None:
    """A wrong countdown lands in itself, not in the reference: 3, then 1."""
    code = "def countdown(n): return [n] + countdown(n - 2) if n > 0 else []"
    assert "[3, 1]" in told(verdict(3, {COUNTS: code}))


NOT_THE_STEP = {
    "missing": ("x = 1", "has no double: `pytest --reset 1`"),
    "renamed": ("def doubled(number): return 2 * number", "has no double"),
    "deleted": ("def double(number): return 2 * number\ndel double", "has no double"),
    "None": ("double = None", "has no double"),
    "a number": ("double = 5", "double is an int, not a function"),
    "async": ("async def double(number): return 2 * number", "a coroutine"),
    "a generator": ("def double(number): yield 2 * number", "a generator"),
    "the second of two": ("def double(n): return 2 * n\n" + WRONG, "18"),
    "other arguments": ("def double(): return 4", "takes 0 positional arguments"),
    "a later step": ("def double(n): return quadruple(n) // 2", "calls itself without end"),
}


@cases(NOT_THE_STEP)
def test_what_is_not_the_step_is_red(verdict: Examine, code: str, says: str) -> None:
    """One line says what was found under the step's name."""
    found = verdict(1, {COUNTS: code})
    assert found.state != "green"
    assert says in told(found)


DIGGING = {
    "globals of a stand-in": (
        "def double(n): return quadruple.__globals__['double'](n)",
        "calls itself without end",
    ),
    "source of a stand-in": (
        "import inspect\ndef double(n): return len(inspect.getsource(quadruple)) and 2 * n",
        "could not get source code",
    ),
    "sys.modules": (
        """\
        import sys
        def double(n):
            for module in list(sys.modules.values()):
                if module.__name__.startswith("kata"):
                    found = getattr(module, "double", double)
                    if found is not double:
                        return found(n)
        """,
        "yours None",
    ),
    "frames": (
        """\
        import inspect
        def double(n):
            for frame in inspect.stack(0):
                guard = frame.frame.f_locals.get("self")
                if hasattr(guard, "judge"):
                    return guard.judge(n)
        """,
        "The reference's answer was called",
    ),
    "the harness": (
        """\
        from specs.harness import exam
        def double(n):
            for world in exam._reference.values():
                if "kata.part01_counts" in world.modules:
                    return world.modules["kata.part01_counts"].double(n)
        """,
        "The reference's answer was called",
    ),
}


@cases(DIGGING)
def test_answer_cannot_be_dug_out(verdict: Examine, code: str, says: str) -> None:
    """Nothing that step 001 can reach contains step 001 but the learner's own."""
    found = verdict(1, {COUNTS: code})
    assert found.state != "green"
    assert says in told(found)


AMPLIFY = """\
from kata.part01_counts import {}
def amplify(values, number): return values * {}(number)
"""

OTHER_PART: dict[str, str | bytes | None] = {
    "a stub": "def double(number): raise NotImplementedError('step 001: write double')",
    "wrong": WRONG,
    "does not parse": "def double(number:",
    "loops": "while True: pass",
    "leaves": "import sys\nsys.exit(0)",
    "ends the process": "import os\nos._exit(0)",
    "kills the process": "import os\nos.kill(os.getpid(), 9)",
    "fails": "1 / 0",
    "missing": None,
    "empty": b"",
    "Latin-1": "# é".encode("latin-1"),
    "UTF-16": "x = 1".encode("utf-16"),
    "imports this part": "from kata.part02_mixing import amplify\n" + WRONG,
}


@cases({name: (code,) for name, code in OTHER_PART.items()})
def test_other_parts_file_is_not_even_read(verdict: Examine, code: str | bytes | None) -> None:
    """Part 2 is green whatever the file of part 1 holds."""
    files = {COUNTS: code, MIXING: AMPLIFY.format("double", "double")}
    assert verdict(6, files).state == "green"


IMPORTS = {
    "inside the function": """\
        def amplify(values, number):
            from kata.part01_counts import double
            return values * double(number)
        """,
    "the module": """\
        import kata.part01_counts
        def amplify(values, number): return values * kata.part01_counts.double(number)
        """,
    "from the package": """\
        from kata import part01_counts
        def amplify(values, number): return values * part01_counts.double(number)
        """,
    "relative": """\
        from .part01_counts import double
        def amplify(values, number): return values * double(number)
        """,
    "everything": """\
        from kata.part01_counts import *
        def amplify(values, number): return values * double(number)
        """,
    "everything, afterwards": """\
        def amplify(values, number): return values * double(number)
        from kata.part01_counts import *
        """,
    "in a table": """\
        from kata.part01_counts import double as twice
        STEPS = {"twice": twice}
        def amplify(values, number, loud=twice): return values * STEPS["twice"](number)
        """,
}


@cases(IMPORTS)
def test_other_parts_step_is_the_references_however_imported(verdict: Examine, code: str) -> None:
    """Part 1's own double is wrong."""
    assert verdict(6, {COUNTS: WRONG, MIXING: code}).state == "green"


HELPER_ELSEWHERE = {
    "plain": "def helper(number): return 2 * number",
    "on a step": WRONG + "def helper(number): return double(number)",
    "a constant's": "TWO = 2\ndef helper(number): return TWO * number",
    "in a circle": "from kata.part02_mixing import blend\ndef helper(number): return 2 * number",
}


@cases(HELPER_ELSEWHERE)
def test_helper_in_another_parts_file_is_the_learners(verdict: Examine, code: str) -> None:
    """What is no step is read from the learner's file; the steps in it stay the reference's."""
    files = {COUNTS: code, MIXING: AMPLIFY.format("helper", "helper")}
    assert verdict(6, files).state == "green"


HELPER_LOST = {
    "does not parse": ("def helper(number: return 2", "part01_counts.py:1: "),
    "loops": ("while True: pass", "Still running after 0.3 s"),
    "fails": ("\n1 / 0", "ZeroDivisionError: division by zero"),
    "has none": (WRONG, "cannot import name 'helper'"),
}


@cases(HELPER_LOST)
def test_helper_that_cannot_be_had_is_one_true_line(verdict: Examine, code: str, says: str) -> None:
    """The line names the file that is at fault."""
    found = verdict(6, {COUNTS: code, MIXING: AMPLIFY.format("helper", "helper")})
    assert found.state == "broken"
    assert says in told(found)
    assert "part01_counts" in told(found)


OWN_FILE: dict[str, tuple[str | bytes | None, str]] = {
    "does not parse": ("def amplify(:", "part02_mixing.py:1: invalid syntax"),
    "parses, does not compile": ("return 5", "part02_mixing.py:1: 'return' outside function"),
    "loops": ("\nwhile True: pass", "Still running after 0.3 s: it was stopped. ("),
    "leaves": ("import sys\nsys.exit(0)", "It left through sys.exit(0)."),
    "ends the process": ("import os\nos._exit(0)", "It called os._exit."),
    "fails": ("\nx = torhc", "NameError: name 'torhc' is not defined"),
    "imports what is not there": ("import torhc", "No module named 'torhc'"),
    "patches a built-in": ("import builtins\nbuiltins.len = abs", "Python's built-in functions"),
    "reads the reference": ("import reference.part02_mixing", "The reference was imported"),
    "skips": ("import pytest\npytest.skip('', allow_module_level=True)", "(Skipped)"),
    "missing": (None, "part02_mixing.py: there is no such file"),
    "empty": (b"", "has no amplify"),
    "Latin-1": (b"# caf\xe9", "part02_mixing.py:1: byte 0xe9 (byte 6 of the file) is not UTF-8"),
    "UTF-16": ("x = 1".encode("utf-16"), "is saved as UTF-16: save it as UTF-8"),
    "NUL": (b"\0", "holds a NUL byte"),
    "mixed tabs": (b"def f():\n\tif 1:\n        pass", "inconsistent use of tabs and spaces"),
    "nested without end": ("x = " + "(" * 3000, "part02_mixing.py"),
}


@cases(OWN_FILE)
def test_own_file_that_cannot_be_loaded_is_one_true_line(
    verdict: Examine, code: str | bytes | None, says: str
) -> None:
    """It is broken, and no traceback is shown."""
    found = verdict(6, {MIXING: code})
    assert found.state == "broken"
    assert says in told(found)
    assert "Traceback" not in told(found)


BYTES = {
    "byte order mark": b"\xef\xbb\xbfdef amplify(values, number): return values * 2 * number\n",
    "CR LF": b"def amplify(values, number):\r\n    return values * 2 * number\r\n",
    "CR": b"def amplify(values, number):\r    return values * 2 * number\r",
    "tabs": b"def amplify(values, number):\n\treturn values * 2 * number\n",
    "said to be Latin-1": b"# coding: latin-1\ndef amplify(\xe4, number): return \xe4 * 2 * number",
    "form feed": b"import torch\n\x0cdef amplify(values, number): return values * 2 * number\n",
    "no last newline": b"def amplify(values, number): return values * 2 * number",
}


@cases({name: (code,) for name, code in BYTES.items()})
def test_file_is_read_as_python_reads_it(verdict: Examine, code: bytes) -> None:
    """Line ends, tabs and marks are the learner's affair."""
    assert verdict(6, {MIXING: code}).state == "green"


def test_folder_in_a_files_place_is_one_true_line(tmp_path: Path) -> None:
    """A folder named like the part's file."""
    elsewhere = build(tmp_path / "elsewhere")
    (elsewhere.kata / MIXING).unlink()
    (elsewhere.kata / MIXING).mkdir()
    found = examine(elsewhere, tmp_path / "kata", 6, {})
    assert "is a folder, a file is wanted" in told(found)


def test_own_steps_all_the_way_down(verdict: Examine) -> None:
    """With ``--own`` the wrong 001 makes the right 002 wrong: 3 · 9 · 9 = 243."""
    assert "243" in told(verdict(2, {COUNTS: WRONG + RIGHT}, own=True))


def test_own_file_that_loops_is_stopped_too(verdict: Examine) -> None:
    """``--own`` does without stand-ins, not without the alarm."""
    files = {COUNTS: "while True: pass", MIXING: AMPLIFY.format("double", "double")}
    found = verdict(6, files, own=True)
    assert "Still running after 0.3 s" in told(found)
    assert f"{COUNTS}:1" in told(found)


@pytest.mark.parametrize("code", ["def double(:", "\n1 / 0"], ids=["does not parse", "fails"])
def test_own_part_that_only_the_spec_asks_for_is_one_true_line(verdict: Examine, code: str) -> None:
    """``--own`` means the other parts' files too, and their slips are no traceback."""
    alone = "def amplify(values, number): return values * 2 * number\n"
    found = verdict(6, {COUNTS: code, MIXING: alone}, own=True)
    assert found.state != "green"
    assert "part01_counts.py:" in told(found)
    assert "Traceback" not in told(found)
