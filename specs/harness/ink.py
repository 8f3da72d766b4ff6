"""Colour for the terminal, where there is any; words never lean on it."""

from __future__ import annotations

import unicodedata

STYLES = {
    "bold": ("1", "22"),
    "faint": ("2", "22"),
    "italic": ("3", "23"),
    "red": ("31", "39"),
    "green": ("32", "39"),
    "yellow": ("33", "39"),
    "magenta": ("35", "39"),
    "cyan": ("36", "39"),
}


def paint(text: str, style: str, colour: bool) -> str:
    """The text in a style, or as it is where colour is not wanted."""
    if not colour or not text:
        return text
    on, off = STYLES[style]
    return f"\x1b[{on}m{text}\x1b[{off}m"


def columns(text: str) -> int:
    """How many columns a terminal needs for a text without colours."""
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Co", "Cc", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def fits(text: str, encoding: str | None) -> bool:
    """Whether a terminal's encoding has these letters."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
