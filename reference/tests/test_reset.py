"""``--reset`` puts a stub back, loses nothing that was written, and touches nothing else."""

from __future__ import annotations

import ast
import os
import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reference.tests.tiny_house import build
from specs.harness import kept
from specs.harness.reset import reset, write_stubs
from specs.harness.source import read_source
from specs.harness.steps import House, UserError
from specs.harness.stubs import is_stub

WHEN = datetime(2026, 11, 30, 17, 5, 12)
COPY = "kata/kept/part03_sums.2026-11-30T17-05-12.py"

HALVE_STUB = '''\
def halve(number: float) -> float:
    """Cut a number in two: ``x ÷ 2``."""
    raise NotImplementedError("step 022: write halve")
'''

ADD = "def add(left, right):\n    return left + right\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house of two parts, all of its stubs untouched."""
    return build(tmp_path)


def sums(house: House) -> Path:
    """The module that the tests write in."""
    return house.kata / "part03_sums.py"


def after(house: House, written: str | bytes, asked: str = "22") -> str:
    """What a module that was so written holds after the reset."""
    data = written.encode() if isinstance(written, str) else written
    sums(house).write_bytes(data)
    reset(house, asked, when=WHEN)
    return sums(house).read_bytes().decode()


@pytest.mark.parametrize("asked", ["22", "022", "halve"])
def test_a_step_is_its_stub_again(house: House, asked: str) -> None:
    """However it is asked for; what is printed names the step and where the copy lies."""
    stubs = sums(house).read_text("utf-8")
    solved = stubs.replace(
        'raise NotImplementedError("step 022: write halve")', "return number / 2"
    )
    sums(house).write_text(solved, "utf-8")
    told = reset(house, asked, when=WHEN)
    assert told == f"022 halve is the stub again\nwhat was written before is kept in {COPY}"
    assert sums(house).read_text("utf-8") == stubs
    assert (house.root / COPY).read_text("utf-8") == solved


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("def halve(n): return n / 2\n", id="another signature, on one line"),
        pytest.param("@cache\n@wraps(\n    add\n)\ndef halve(n):\n    return n\n", id="decorated"),
        pytest.param("async def halve(n):\n    return n\n", id="async"),
        pytest.param("halve = lambda n: n / 2\n", id="lambda"),
        pytest.param("halve: object = partial(add, 1)\n", id="annotated"),
        pytest.param("class halve:\n    x = 1\n", id="class"),
        pytest.param("def halve(n):\n    return n\n\n    # half\n  # and half\n", id="remarks"),
        pytest.param("def halve(n):\n\tif n:\n\t\treturn n\n", id="tabs"),
        pytest.param(
            "def halve(n):\n    '''\nodd\n    '''\n    return n\n", id="string to the left"
        ),
    ],
)
def test_whatever_stands_under_the_name_goes(house: House, written: str) -> None:
    """What comes before and after it stays, byte for byte."""
    before, behind = "# é\n\n\nx = 1; y = 2\n# above\n", "\n\n# below\ndef root(n): return n\n"
    assert after(house, before + written + behind) == before + HALVE_STUB + behind


def test_second_definitions_go_with_the_first(house: House) -> None:
    """The first makes room for the stub, so that no later one hides it."""
    written = (
        "def halve(n):\n    return n\n\nx = 1\nhalve = cache(halve)\n\ndef halve(n): pass\ny = 2\n"
    )
    assert after(house, written) == f"{HALVE_STUB}\nx = 1\n\ny = 2\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
def test_line_ends_and_marks_stay(house: House, end: str, mark: str) -> None:
    """The stub takes the file's own line ends, and a missing final newline stays missing."""
    written = f"{mark}x = 1\n\n\ndef halve(n):\n    return n".replace("\n", end)
    wanted = f"{mark}x = 1\n\n\n{HALVE_STUB.rstrip()}".replace("\n", end)
    assert after(house, written) == wanted


def test_another_encoding_stays(house: House) -> None:
    """A file in Latin-1 stays one, where the stub can be written in it."""
    written = "# coding: latin-1\n# é\ndef halve(n):\n    return n\n"
    sums(house).write_bytes(written.encode("latin-1"))
    reset(house, "halve")
    assert sums(house).read_bytes().decode("latin-1").endswith(f"# é\n{HALVE_STUB}")


def test_an_encoding_without_the_stubs_letters_is_told(house: House) -> None:
    """ASCII has no ÷; the file stays as it was."""
    written = b"# coding: ascii\ndef halve(n):\n    return n\n"
    sums(house).write_bytes(written)
    with pytest.raises(UserError, match=r"is ascii.*save it as UTF-8"):
        reset(house, "halve")
    assert sums(house).read_bytes() == written


@pytest.mark.parametrize(
    "written",
    [
        "import halve\n",
        "from helpers import halve\n",
        "if 1:\n    def halve(n): return n\n",
        "def halve(n): return n\n\nif 1:\n    halve = cache(halve)\n",
        "x = 1; halve = 2\n",
        "halve = 2; x = 1\n",
        "halve = half = 2\n",
        "halve, half = 1, 2\n",
        "for halve in (1, 2): pass\n",
        "halve += 1\n",
        "[halve := x for x in (1,)]\n",
        "def later():\n    global halve\n    halve = 1\n",
        "class A:\n    def later(self):\n        global halve\n        def halve(): pass\n",
    ],
)
def test_a_name_bound_together_with_something_else_is_left_alone(
    house: House, written: str
) -> None:
    """Nothing is written: one line says where the knot is, and how to cut it."""
    sums(house).write_text(written)
    with pytest.raises(
        UserError, match=r"^kata/part03_sums.py:\d: halve is bound .*--reset part03$"
    ):
        reset(house, "halve")
    assert sums(house).read_text() == written
    assert not (house.kata / "kept").exists()


@pytest.mark.parametrize(
    "beside",
    [
        "def later(halve):\n    return halve\n",
        "def later():\n    halve = 1\n    return halve\n",
        "class A:\n    def halve(self):\n        pass\n",
        "x = [halve for halve in (1, 2)]\n",
        "def later():\n    return halve(1)\nhalve.slow = True\n",
        "def wrong():\n    pass\nreturn 1\n",
    ],
)
def test_the_same_name_elsewhere_is_no_knot(house: House, beside: str) -> None:
    """Parameters, locals and attributes of that name are another thing."""
    assert after(house, f"halve = 1\n{beside}") == f"{HALVE_STUB}{beside}"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        pytest.param(
            f"{ADD}\n\n# root\ndef root(n): pass\n",
            f"{ADD}\n\n{HALVE_STUB}\n\n# root\ndef root(n): pass\n",
            id="behind the step before",
        ),
        pytest.param(
            f"{ADD}x = 1\n", f"{ADD}\n\n{HALVE_STUB}\n\nx = 1\n", id="with room for what follows"
        ),
        pytest.param(
            f"{ADD}add = cache(add)", f"{ADD}add = cache(add)\n\n\n{HALVE_STUB}", id="last"
        ),
        pytest.param(
            "x = 1\n\n\n# root\n@cache\ndef root(n): pass\n",
            f"x = 1\n\n\n{HALVE_STUB}\n\n# root\n@cache\ndef root(n): pass\n",
            id="before the step behind",
        ),
        pytest.param(
            "x = 1\r\n", f"x = 1\n\n\n{HALVE_STUB}".replace("\n", "\r\n"), id="at the end"
        ),
    ],
)
def test_a_missing_step_comes_back_in_its_place(house: House, written: str, wanted: str) -> None:
    """Steps stand in the order of their numbers."""
    assert after(house, written) == wanted


@pytest.mark.parametrize("written", ["", " \n\n"], ids=["empty", "blank"])
def test_an_empty_file_becomes_its_part_again(house: House, written: str) -> None:
    """A stub alone, without the imports that its signature needs, would not even load."""
    stubs = sums(house).read_text("utf-8")
    assert after(house, written) == stubs


def test_a_missing_file_is_made_anew(house: House) -> None:
    """There was nothing to keep."""
    stubs = sums(house).read_bytes()
    sums(house).unlink()
    assert reset(house, "halve") == "kata/part03_sums.py is made anew, with its 3 stubs"
    assert sums(house).read_bytes() == stubs
    assert not (house.kata / "kept").exists()


@pytest.mark.parametrize(
    "body",
    [
        "def halve(n):\n    return (n\n",
        "def halve(n:\n    return n\n",
        "@cache\ndef halve(\n    n,\n) -> int:\n    return n n\n",
        "def halve(n):\n    '''Never closed.\n    return n\n",
        "def halve(n):\n",
        "async  def halve(n):\n    if n:\n  return 1\n\n    # remark\n",
    ],
)
def test_a_broken_step_is_cut_out_of_a_sound_file(house: House, body: str) -> None:
    """The file does not parse, and would without this function: so it can go."""
    before, behind = "x = 1\n\n\n", "\n\n# root\n@cache\ndef root(n):\n    '''Root.'''\n"
    assert after(house, before + body + behind) == before + HALVE_STUB + behind


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("def halve(n):\n    return n\n\nx = (\n", id="broken elsewhere"),
        pytest.param("def halve(n):\nreturn n\n", id="body to the left"),
        pytest.param("def halve(n):\n    return (n\n\ny = 1\n", id="code right behind"),
        pytest.param("def halve(n): (\n\ndef halve(n): pass\n", id="twice"),
        pytest.param("def halve(n):\n    (\n\n@cache\ndef halve2(): pass\n(", id="two slips"),
        pytest.param("@wraps(\n    add\n)\ndef halve(n):\n    return (n\n", id="decorated"),
        pytest.param("def halve(n): (\n\n# and\nhalve = cache(halve)\n", id="bound again"),
        pytest.param("x = '''\ndef halve(n):\n    return n\n", id="inside a string"),
        pytest.param("def add(): (\n", id="not there"),
    ],
)
def test_a_broken_file_is_left_alone_in_doubt(house: House, written: str) -> None:
    """One line tells Python's own words, and offers to make the whole part anew."""
    sums(house).write_text(written)
    with pytest.raises(UserError, match=r"^\S+:\d: .*; mend that, or .* pytest --reset part03$"):
        reset(house, "halve")
    assert sums(house).read_text() == written


def test_a_file_that_is_no_text_is_left_alone(house: House) -> None:
    """The line names the byte, and offers to make the whole part anew."""
    sums(house).write_bytes(b"# caf\xe9\n")
    with pytest.raises(UserError, match=r"byte 0xe9 .* pytest --reset part03"):
        reset(house, "halve")


@pytest.mark.parametrize("written", [b"x = (\n", b"# caf\xe9\n", b"\0", b""])
def test_a_part_comes_back_whole_whatever_was_there(house: House, written: bytes) -> None:
    """What was there is kept byte for byte."""
    stubs = sums(house).read_bytes()
    sums(house).write_bytes(written)
    told = reset(house, "part03", when=WHEN)
    assert told.startswith("kata/part03_sums.py holds its 3 stubs again\n")
    assert sums(house).read_bytes() == stubs
    assert (house.root / COPY).read_bytes() == written


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("22", "022 halve is the stub already: nothing was written"),
        ("part03", "kata/part03_sums.py holds its 3 stubs already: nothing was written"),
    ],
)
def test_nothing_is_written_where_nothing_changes(house: House, asked: str, told: str) -> None:
    """No copy either."""
    assert reset(house, asked) == told
    assert not (house.kata / "kept").exists()


def test_every_part_can_be_put_back_at_once(house: House) -> None:
    """What a maintainer runs after a change of the reference."""
    for path in house.kata.glob("*.py"):
        path.unlink()
    assert len(write_stubs(house).splitlines()) == 2
    assert all(is_stub(read_source(house.kata / step.file).tree, step) for step in house.steps)


def test_copies_of_one_second_do_not_overwrite_each_other(house: House) -> None:
    """The second one gets a number."""
    for word in ("one", "two", "three"):
        sums(house).write_text(f"# {word}\n")
        reset(house, "part03", when=WHEN)
    names = sorted(path.name for path in (house.kata / "kept").iterdir())
    stem = "part03_sums.2026-11-30T17-05-12"
    assert names == [f"{stem}-2.py", f"{stem}-3.py", f"{stem}.py"]
    assert (house.root / COPY).read_text() == "# one\n"


def test_another_kata_folder_can_be_reset(house: House, tmp_path: Path) -> None:
    """The stubs go where the learner writes; outside the house, paths are shown whole."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "part04_words.py").write_text("def shout(word): return word\n")
    told = reset(house, "shout", theirs, WHEN)
    assert re.search(r"kept in theirs/kept/part04_words\.2026", told)
    assert "step 031" in (theirs / "part04_words.py").read_text()


@pytest.mark.parametrize(
    ("asked", "slip"),
    [
        ("99", "there is no step '99'"),
        ("part09", "there is no part 'part09'"),
        ("partly", "there is no part 'partly'"),
        ("", "there is no step ''"),
        ("½", "there is no step '½'"),
    ],
)
def test_what_is_not_there_cannot_be_reset(house: House, asked: str, slip: str) -> None:
    """One line says so."""
    with pytest.raises(UserError, match=slip):
        reset(house, asked)


def test_a_missing_kata_folder_is_told(house: House) -> None:
    """No folder is made in its stead."""
    with pytest.raises(UserError, match="there is no folder"):
        reset(house, "22", house.root / "nowhere")


def test_a_folder_under_the_modules_name_is_told(house: House) -> None:
    """It is left alone."""
    sums(house).unlink()
    sums(house).mkdir()
    with pytest.raises(UserError, match="is a folder"):
        reset(house, "part03")


def test_without_a_copy_nothing_changes(house: House) -> None:
    """Where no copy can be written, the work stays where it is."""
    sums(house).write_text("# my work\n")
    (house.kata / "kept").touch()
    with pytest.raises(UserError, match=r"kept cannot be written: .*; nothing was changed$"):
        reset(house, "part03")
    assert sums(house).read_text() == "# my work\n"


def test_a_write_that_fails_leaves_the_file_as_it_was(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new text goes into a file of its own first, and that is cleared away."""

    def refuse(fresh: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(fresh), None, str(target))

    sums(house).write_text("# my work\n")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(
        UserError, match=r"cannot be written: Permission denied; it stays as it was$"
    ):
        reset(house, "part03")
    assert sums(house).read_text() == "# my work\n"
    assert sorted(path.name for path in house.kata.glob("*part03*")) == ["part03_sums.py"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
def test_mode_and_link_stay(house: House, tmp_path: Path) -> None:
    """A link is followed: the file that it leads to changes, and stays as private as it was."""
    real = tmp_path / "elsewhere.py"
    real.write_text("# my work\n")
    real.chmod(0o640)
    sums(house).unlink()
    sums(house).symlink_to(real)
    reset(house, "part03")
    assert sums(house).is_symlink()
    assert "step 022" in real.read_text("utf-8")
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
def test_a_link_that_leads_nowhere_gets_its_file(house: House, tmp_path: Path) -> None:
    """Its part is made anew behind the link."""
    sums(house).unlink()
    sums(house).symlink_to(tmp_path / "elsewhere.py")
    assert "made anew" in reset(house, "22")
    assert "step 022" in (tmp_path / "elsewhere.py").read_text("utf-8")


def test_copies_run_out_one_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than overwrite one, nothing is written."""
    monkeypatch.setattr(kept, "MOST", 2)
    kept.keep_copy(tmp_path / "a.py", b"1", WHEN)
    kept.keep_copy(tmp_path / "a.py", b"2", WHEN)
    with pytest.raises(UserError, match="nothing was changed"):
        kept.keep_copy(tmp_path / "a.py", b"3", WHEN)


FILLER = st.lists(
    st.sampled_from(
        [
            "\n",
            "x = 1\n",
            "# a remark: é ÷ 𝕏\n",
            "'''\ndef halve(n):\n'''\n",
            "if x:\n\ty = 2  \n",
            "def add(halve): return halve\n",
            "\f\n",
            "s = 'a\\\nb'\n",
            "class A:\n    halve = 1\n",
            "@cache\ndef root(n):\n    return halve(n)\n    # trailing\n",
            "x = 1; y = '''\n\n''';\n",
            "   \n",
            "import math, os\n",
        ]
    ),
    max_size=6,
).map("".join)

FUNCTION = st.sampled_from(
    ["def halve(n): pass\n", "@cache\ndef halve(\n    n\n):\n    '''\nD'''\n", "halve = 3\n"]
)


@given(before=FILLER, function=FUNCTION, behind=FILLER, crlf=st.booleans(), final=st.booleans())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
def test_every_other_byte_stays(
    house: House, before: str, function: str, behind: str, crlf: bool, final: bool
) -> None:
    """Take the step's own lines away, and what is left is the same before and after."""
    written = f"{before}{function}z = 0\n{behind}"
    wanted = f"{before}{HALVE_STUB}z = 0\n{behind}"
    if not final:
        written, wanted = written.rstrip(), wanted.rstrip()
    if crlf:
        written, wanted = written.replace("\n", "\r\n"), wanted.replace("\n", "\r\n")
    result = after(house, written)
    assert result == wanted
    assert ast.parse(result)
