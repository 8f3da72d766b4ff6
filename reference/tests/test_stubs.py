"""A stub is its reference with the body taken out, known again while it surely is one."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specs.harness.steps import Step, UserError
from specs.harness.stubs import is_stub, make_stubs, stub_of

ADD = Step(22, "add", "part03", "part03_sums", Path("specs/part03/test_022_add.py"))
HALVE = Step(23, "halve", "part03", "part03_sums", Path("specs/part03/test_023_halve.py"))

REFERENCE = '''\
"""Part 3 · Sums."""

from __future__ import annotations

import functools
import math as _math

LIMIT = 3  # given
_SECRET = 7

# How often it was tried.
_tries = 0
_Number = int | float
_EXACT: bool = True
TOTAL = _EXACT + LIMIT

# --- first the sums


@functools.cache
def add(  # two numbers
    left: _Number,
    right: _Number = LIMIT,
) -> _Number:
    """Put two numbers together.

    ``left + right``
    """
    # the plainest way
    total = left + right

    return total
    # and no other


def _helper(number: int) -> int:
    return number // 2


# Given: nothing to write here.
def given(number: int) -> int:
    """Stay whole."""
    return _kept(number) * 2


def _kept(number: int) -> int:
    return _deeply_kept + number


_deeply_kept = 5


def halve(number: int) -> int:
    # no docstring

    return _helper(number)


class Pair:
    """Given, too."""


class _Hidden:
    pass
'''

STUBS = '''\
"""Part 3 · Sums."""

from __future__ import annotations

import functools
import math as _math

LIMIT = 3  # given

_Number = int | float
_EXACT: bool = True
TOTAL = _EXACT + LIMIT

# --- first the sums


@functools.cache
def add(  # two numbers
    left: _Number,
    right: _Number = LIMIT,
) -> _Number:
    """Put two numbers together.

    ``left + right``
    """
    raise NotImplementedError("step 022: write add")


# Given: nothing to write here.
def given(number: int) -> int:
    """Stay whole."""
    return _kept(number) * 2


def _kept(number: int) -> int:
    return _deeply_kept + number


_deeply_kept = 5


def halve(number: int) -> int:
    raise NotImplementedError("step 023: write halve")


class Pair:
    """Given, too."""
'''

STUB = '''\
def add(left, right):
    """Put two numbers together."""
    raise NotImplementedError("step 022: write add")
'''


def test_bodies_go_and_everything_else_stays() -> None:
    """Hidden names go unless something given needs them; remarks outside bodies stay."""
    assert make_stubs(REFERENCE, [ADD, HALVE]) == STUBS


def test_stubs_of_stubs_are_themselves() -> None:
    """There is nothing left to take out."""
    assert make_stubs(STUBS, [ADD, HALVE]) == STUBS


@pytest.mark.skipif(not shutil.which("ruff", path=str(Path(sys.executable).parent)), reason="ruff")
def test_stubs_are_as_the_formatter_would_write_them() -> None:
    """What a learner opens is formatted."""
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--stdin-filename", "x.py", "-"]
    done = subprocess.run(ruff, input=STUBS.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == STUBS


def test_the_stub_of_one_step_is_cut_from_the_same_cloth() -> None:
    """Alone it reads as it does in its module."""
    assert stub_of(REFERENCE, HALVE) in STUBS
    assert stub_of(REFERENCE, ADD) in STUBS


def test_a_step_without_a_reference_is_told() -> None:
    """A maintainer reads which function is missing."""
    with pytest.raises(UserError, match="defines no function add: step 022"):
        stub_of("x = 1\n", ADD)


@pytest.mark.parametrize(
    "text", [STUB, STUBS.replace("@functools.cache\n", "")], ids=["alone", "among others"]
)
def test_a_stub_is_known_again(text: str) -> None:
    """Signature and docstring may differ: what counts is that its body still says what to write."""
    assert is_stub(ast.parse(text), ADD)


@pytest.mark.parametrize(
    "beside",
    [
        "import math\nimport torch\nfrom kata.part01_tokens import pack_batch",
        "def subtract(add, right):\n    return add - right",
        "def twice(x):\n    return add(x, right=x)",
        "class Adder:\n    def __call__(self):\n        return 1",
        "add.slow = True",
    ],
)
def test_a_neighbour_that_binds_nothing_leaves_it_a_stub(beside: str) -> None:
    """Other steps may be written, and may use the step."""
    assert is_stub(ast.parse(f"{STUB}\n\n{beside}\n"), ADD)


@pytest.mark.parametrize(
    "beside",
    [
        "add = lambda a, b: a + b",
        "add: object = max",
        "add += 1",
        "other, (add, *rest) = 1, (2, 3)",
        "(add := max)",
        "[add := x for x in (1, 2)]",
        "for add in (max,): pass",
        "with open('x') as add: pass",
        "try: pass\nexcept Exception as add: pass",
        "del add",
        "async def add(): pass",
        "class add: pass",
        "if 1:\n    def add(a, b): return a + b",
        "import add",
        "import add.deep",
        "import math as add",
        "from math import fsum as add",
        "from helpers import add",
        "from torch import *",
        "from . import patches",
        "from kata.helpers import solve",
        "import kata.part03_sums as me\nme.add = max",
        "def later():\n    global add\n    add = max",
        "def later():\n    global add",
        "match 1:\n    case add: pass",
        "match [1]:\n    case [*add]: pass",
        "match {}:\n    case {**add}: pass",
        "globals()['add'] = max",
        "vars()['add'] = max",
        "exec('add = max')",
        "setattr(me, 'add', max)",
        "import sys",
        "from sys import modules",
        "add.__code__ = (lambda a, b: a + b).__code__",
        "getattr(add, '__glo' 'bals__')",
        "x = '__globals__'",
        "import importlib",
        "import something_installed",
        STUB,
    ],
)
def test_what_may_bind_the_name_makes_it_doubtful(beside: str) -> None:
    """In doubt it is no stub: then its spec runs, and decides."""
    assert not is_stub(ast.parse(f"{STUB}\n\n{beside}\n"), ADD)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "subtract = max",
        f"@functools.cache\n{STUB}",
        f"async {STUB}",
        STUB.replace("raise", "return"),
        STUB.replace("022", "023"),
        STUB.replace("NotImplementedError", "ValueError"),
        STUB.replace('")', '") from None'),
        STUB + "    return left + right\n",
        STUB.replace("    raise", "    total = left + right\n    raise"),
        "if 1:\n    " + STUB.replace("\n    ", "\n        "),
        "def add(left, right):\n    'Docstring alone.'\n",
        "def add(left, right): raise NotImplementedError\n",
    ],
)
def test_anything_else_is_no_stub(text: str) -> None:
    """One plain function whose body is the stub's own line, and nothing less."""
    assert not is_stub(ast.parse(text), ADD)
