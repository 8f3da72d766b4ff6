"""A learner's file is read as bytes: its text and tree, or one true line about why not."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.harness.source import Unreadable, parse_source, place_of, read_source, split_lines

HERE = Path("part03.py")


def told(data: bytes) -> str:
    """What is said about these bytes, or their digest where they are Python."""
    try:
        return parse_source(data, HERE).digest
    except Unreadable as slip:
        return str(slip)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param(b"x = 'caf\xe9'\n", "part03.py:1: byte 0xe9 (byte 9", id="latin-1"),
        pytest.param(b"\n\n\n# \xff\n", "part03.py:4: byte 0xff (byte 6", id="on its fourth line"),
        pytest.param(b"\r\r\n\n# \xff\n", "part03.py:4: byte 0xff", id="every kind of line end"),
        pytest.param(b"# coding: ascii\n# \xff\n", "part03.py:2: byte 0xff", id="ascii"),
        pytest.param("x = 1\n".encode("utf-16"), "is saved as UTF-16", id="UTF-16"),
        pytest.param("x = 1\n".encode("utf-32"), "is saved as UTF-32", id="UTF-32"),
        pytest.param("x = 1\n".encode("utf-16-le"), "part03.py:1: holds a NUL", id="no mark"),
        pytest.param(b"x = 1\ny\0 = 2\n", "part03.py:2: holds a NUL byte (byte 8)", id="NUL"),
        pytest.param(b"# coding: klingon\n", "unknown encoding: klingon", id="unknown cookie"),
        pytest.param(b"# coding: hex\n", "hex", id="a codec that is none for text"),
        pytest.param(b"# coding: undefined\n", "undefined", id="the undefined codec"),
        pytest.param(b"# coding: utf-16 \n", "says it is utf-16, and is not", id="false cookie"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\n", "utf-8", id="mark against cookie"),
        pytest.param(b"# coding: unicode_escape\nx = '\\ud800'\n", "surrogate", id="surrogate"),
        pytest.param(b"if 1:\n\tx = 1\n        y = 2\n", "part03.py:3: inconsistent", id="tabs"),
        pytest.param(b"def f():\nreturn\n", "part03.py:2: expected an indented", id="no indent"),
        pytest.param(b"x = (1,\n", "part03.py:1: '(' was never closed", id="open bracket"),
        pytest.param(b'x = """\n', "part03.py:1: unterminated triple-quoted", id="open string"),
        pytest.param(b"(" * 9000, "too many nested parentheses", id="brackets"),
        pytest.param(b"-" * 99999 + b"1", "nested too deeply", id="signs"),
        pytest.param(b"a" + b".a" * 99999, "nested too deeply", id="dots"),
        pytest.param(b"x = " + b"9" * 5000, "part03.py:1: Exceeds the limit", id="a long number"),
    ],
)
def test_what_is_no_python_gets_one_true_line(data: bytes, line: str) -> None:
    """One line, with the file, the line number where there is one, and Python's own words."""
    assert line in told(data)
    assert "\n" not in told(data)


def test_a_slip_carries_its_line() -> None:
    """The line is also there as a number, for whoever points an editor at it."""
    with pytest.raises(Unreadable) as caught:
        parse_source(b"\nx = = 1\n", HERE)
    assert (caught.value.path, caught.value.line) == (HERE, 2)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"", "", id="empty"),
        pytest.param(b"# only a remark", "# only a remark", id="no final newline"),
        pytest.param(b"\xef\xbb\xbfx = 1\n", "x = 1\n", id="byte order mark"),
        pytest.param(b"x = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n", id="CRLF"),
        pytest.param(b"# coding: latin-1\n# \xe9\n", "# coding: latin-1\n# é\n", id="latin-1"),
        pytest.param(b"x = '\\d'\n", "x = '\\d'\n", id="what Python only warns of"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_python_reads_is_read(data: bytes, text: str) -> None:
    """The text keeps its line ends, and gives the bytes back in its encoding."""
    source = parse_source(data, HERE)
    assert source.text == text
    assert source.text.encode(source.encoding) == data


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))
)
def test_nothing_a_file_holds_raises_anything_else(data: bytes) -> None:
    """Whatever the bytes, there is a tree or one line."""
    assert "\n" not in told(data)


def test_two_files_of_the_same_bytes_have_one_digest() -> None:
    """The digest follows the bytes, and nothing else."""
    one, same, other = (parse_source(data, HERE).digest for data in (b"x=1", b"x=1", b"x=1\n"))
    assert one == same != other


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    """Its path stands in the line."""
    with pytest.raises(Unreadable, match=r"part03\.py: there is no such file"):
        read_source(tmp_path / "part03.py")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder under a module's name is told as a folder."""
    with pytest.raises(Unreadable, match="is a folder"):
        read_source(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would never come back."""
    os.mkfifo(tmp_path / "part03.py")
    with pytest.raises(Unreadable, match="is no plain file"):
        read_source(tmp_path / "part03.py")


def test_a_file_that_may_not_be_read_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's refusal is one line, too."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "part03.py").touch()
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(Unreadable, match="permission denied"):
        read_source(tmp_path / "part03.py")


def test_links_that_go_round_in_circles_are_told(tmp_path: Path) -> None:
    """A link to itself leads nowhere."""
    loop = tmp_path / "part03.py"
    loop.symlink_to(loop)
    with pytest.raises(Unreadable, match="cannot be read"):
        read_source(loop)


def test_a_path_is_shown_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the current folder, what is shown can be typed as it stands."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unreadable, match=r"^kata/part03\.py: there"):
        read_source(tmp_path / "kata" / "part03.py")


@given(st.text(alphabet="a \t\n\r\f\v\x1c\x85\u2028"))
def test_lines_are_pythons_lines(text: str) -> None:
    """Splitting loses nothing, and a line ends only at a newline or carriage return."""
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(len(line.rstrip("\r\n")) < len(line) for line in lines[:-1])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("def f():\n    pass\n\n\nx = 1\n", (0, 2), id="plain"),
        pytest.param("@a\n@b\ndef f():\n    pass\n", (0, 4), id="decorators belong to it"),
        pytest.param("def f():\n    pass\n\n    # why\n\n\n# g\n", (0, 4), id="so do its remarks"),
        pytest.param("def f(): pass  # short\nx = 1\n", (0, 1), id="on one line"),
    ],
)
def test_a_function_has_its_own_lines(text: str, place: tuple[int, int]) -> None:
    """From the first decorator to the last indented remark; blank lines after it are nobody's."""
    assert place_of(ast.parse(text).body[0], split_lines(text)) == place
