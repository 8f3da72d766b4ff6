"""Markdown reads well in a terminal, with colour and without."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.harness.ink import columns
from specs.harness.markdown import render

TABLE = """\
| what was written | what it does |
|---|:-:|
| `a - b` | the sign is **turned** round, and so on |
| $d_k$ | `x | y`, or \\| |
"""


def bare(text: str, width: int = 40) -> str:
    """The text as a terminal without colour shows it."""
    return render(text, width, colour=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\nwords", "plain words"),
        ("one\n\n\ntwo", "one\n\ntwo"),
        ("# Title #", "Title"),
        ("## Title\nand more", "Title\n\nand more"),
        ("**bold** and *italic*", "bold and italic"),
        ("**bold `code` and $x$**", "bold `code` and x"),
        ("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c"),
        ("`a * b` and ``a ` b``", "`a * b` and `a ` b`"),
        ("`<s>` and `&lt;` and `$x$`", "`<s>` and `&lt;` and `$x$`"),
        ("&lt;s&gt; &amp; <b>tags</b><br>gone<!-- so -->", "<s> & tags gone"),
        ("if $i < j$ and $k > l$", "if i < j and k > l"),
        (r"$\sqrt{d_k}$ costs \$5 and 5\*6", "√d_k costs $5 and 5*6"),
        ("5 $ and 6 $", "5 $ and 6 $"),
        ("inside $$x^2$$ a line", "inside x² a line"),
        ("before\n$$x^2$$\nafter", "before\n\n    x²\n\nafter"),
        ("$$\na \\\\\nb\n$$ and", "    a\n    b\n\nand"),
        ("$$never closed", "    never closed"),
        ("[the paper](https://x.org/a_b) ![alt](x.png)", "the paper alt"),
        ("<https://x.org>", "https://x.org"),
        ("- one\n- two", "• one\n• two"),
        ("1. one\n2. two\n   more", "1. one\n2. two more"),
        ("- one\n  - inner", "• one\n  • inner"),
        ("```python\nx = [1]  # *so*\n\n  y\n```\nend", "    x = [1]  # *so*\n\n      y\n\nend"),
        ("```\nnever closed", "    never closed"),
        ("", ""),
        ("|", ""),
    ],
)
def test_each_piece_of_markdown_has_its_form(text: str, shown: str) -> None:
    """No marks, no tags, no escapes are left over."""
    assert bare(text) == shown


def test_lines_are_wrapped_and_items_hang() -> None:
    """The second line of an item stands under the first."""
    text = "- one two three four five six seven eight nine\n- ten"
    assert bare(text, 20) == "• one two three four\n  five six seven\n  eight nine\n• ten"


def test_short_code_is_not_torn() -> None:
    """A space inside short code or a short formula is no place to break a line."""
    assert bare("twelve letters `f(a, b)`", 20) == "twelve letters\n`f(a, b)`"


def test_tables_are_aligned() -> None:
    """Cells are wrapped where there is no room."""
    assert bare(TABLE.replace("`x | y`", "`x`")) == (
        "what was written  what it does\n"
        "────────────────  ──────────────────────\n"
        "`a - b`           the sign is turned\n"
        "                  round, and so on\n"
        "d_k               `x`, or |"
    )


def test_ragged_tables_are_no_trouble() -> None:
    """Missing cells are empty."""
    assert bare("| a | b |\n|---|---|\n| c |") == "a  b\n─  ─\nc"


def test_accents_take_no_room() -> None:
    """A letter with its accent is one column, an ideograph two."""
    assert [columns(text) for text in ("ŷ", "x̄", "字", "")] == [1, 1, 2, 0]


def test_colour_shows_code_and_stress() -> None:
    """Code needs no ticks then."""
    shown = render("**b** `c`", 40, colour=True)
    assert shown == "\x1b[1mb\x1b[22m \x1b[36mc\x1b[39m"


def test_colour_ends_with_its_line() -> None:
    """A pager that shows one line alone shows it right."""
    for line in render("**" + "bold " * 20 + "bold**", 30, colour=True).splitlines():
        assert (line.count("\x1b[1m"), line.count("\x1b[22m")) == (1, 1)


@given(
    st.text(alphabet="ab *`$|#-<>[]()\\\n_&;", max_size=60),
    st.integers(20, 60),
)
def test_colour_changes_nothing_but_colour(text: str, width: int) -> None:
    """Whatever the text: without colour there is no escape code, and the same words stand."""
    plain, coloured = (render(text, width, colour) for colour in (False, True))
    words = [re.sub(r"\x1b\[\d+m|[`\s]|─", "", shown) for shown in (plain, coloured)]
    assert "\x1b" not in plain
    assert words[0] == words[1]
