"""A learner's file, read as bytes: its text and its syntax tree, or one true line about why not."""

from __future__ import annotations

import ast
import hashlib
import io
import re
import stat
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from specs.harness.steps import UserError

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # Python's lines: a form feed ends none
WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class Unreadable(UserError):
    """A file that is no Python text: which, where and why, in one line."""

    def __init__(self, path: Path, why: str, line: int | None = None) -> None:
        where = f"{shown(path)}:{line}" if line else shown(path)
        super().__init__(f"{where}: {why}")
        self.path = path
        self.line = line


class Missing(Unreadable):
    """A file that is not there at all."""


@dataclass(frozen=True)
class Source:
    """A file's bytes, and what they say."""

    path: Path
    data: bytes
    encoding: str  # "utf-8-sig" where the file opens with a byte order mark
    text: str  # line ends as they are, without the mark
    tree: ast.Module

    @property
    def digest(self) -> str:
        """A fingerprint of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines with their ends, counted as the tree counts them."""
        return split_lines(self.text)


def read_source(path: Path) -> Source:
    """Read a file, or raise ``Unreadable``; nothing that a file can hold raises anything else."""
    return parse_source(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Read the bytes of a plain file."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise Unreadable(path, "is a folder, a file is wanted")
        if not stat.S_ISREG(mode):
            raise Unreadable(path, "is no plain file")  # reading a pipe would never end
        return path.read_bytes()
    except FileNotFoundError:
        raise Missing(path, "there is no such file") from None
    except PermissionError:
        raise Unreadable(path, "may not be read: permission denied") from None
    except OSError as error:
        raise Unreadable(path, f"cannot be read: {error.strerror or error}") from None


@lru_cache(maxsize=64)
def parse_source(data: bytes, path: Path) -> Source:
    """Decode and parse what a file holds, as Python itself would; nobody may change the tree."""
    text, encoding = decode(data, path)
    try:
        with quietly():
            tree = ast.parse(text, str(path))
    except SyntaxError as error:
        raise syntax_slip(path, error) from None
    except (RecursionError, MemoryError):
        raise Unreadable(path, "is nested too deeply for Python to parse") from None
    except (ValueError, OverflowError) as error:  # surrogates that an odd encoding lets through
        raise Unreadable(path, f"is no Python: {one_line(error)}") from None
    return Source(path, data, encoding, text, tree)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep Python's warnings about a text back: "\\d" and the like are the learner's affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def decode(data: bytes, path: Path) -> tuple[str, str]:
    """Turn the bytes into text, and name the encoding that gives them back."""
    encoding = _encoding(data, path)
    return _decoded(data, encoding, path), encoding


def _encoding(data: bytes, path: Path) -> str:
    """Name the encoding that the file's mark or its ``coding`` comment asks for."""
    for mark, name in WIDE.items():
        if data.startswith(mark):
            raise Unreadable(path, f"is saved as {name}: save it as UTF-8")
    if b"\0" in data:
        place = data.index(b"\0")
        why = f"holds a NUL byte (byte {place + 1}): it is no text, or UTF-16; save it as UTF-8"
        raise Unreadable(path, why, _line_at(data, place))
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        _decoded(data, "utf-8", path)  # says the place, where a byte is the trouble
        raise Unreadable(path, f"{one_line(error)}; save it as UTF-8", error.lineno) from None


def _decoded(data: bytes, encoding: str, path: Path) -> str:
    """Decode the bytes, or say which of them is no text."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02x} (byte {error.start + 1} of the file)"
        name = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
        why = f"{place} is not {name}: save the file as UTF-8"
        raise Unreadable(path, why, _line_at(data, error.start)) from None
    except (LookupError, ValueError) as error:
        raise Unreadable(path, f"{one_line(error)}; save it as UTF-8") from None
    if encoding not in ("utf-8", "utf-8-sig") and "coding" not in text:
        raise Unreadable(path, f"says it is {encoding}, and is not: save it as UTF-8")
    return text


def _line_at(data: bytes, place: int) -> int:
    """Count the line on which a byte lies."""
    return 1 + len(re.findall(rb"\r\n|\r|\n", data[:place]))


def syntax_slip(path: Path, error: SyntaxError) -> Unreadable:
    """Tell a syntax error in one line: where, and in Python's own words."""
    return Unreadable(path, one_line(error.msg or "invalid syntax"), error.lineno)


def one_line(words: object) -> str:
    """Squeeze a message into one line."""
    return " ".join(str(words).split())


def shown(path: Path) -> str:
    """The path as a person would type it: from the current folder where it lies below."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return str(path)


def split_lines(text: str) -> list[str]:
    """Split a text where Python does, and nowhere else; each line keeps its end."""
    return LINE.findall(text)


def place_of(node: ast.stmt, lines: list[str]) -> tuple[int, int]:
    """A statement's own lines as a slice: decorators, and indented comments that trail its body."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)]) - 1
    end = last = node.end_lineno or node.lineno
    while last < len(lines) and (not (line := lines[last]).strip() or line.startswith((" ", "\t"))):
        last += 1
        if line.strip():
            end = last
    return first, end
