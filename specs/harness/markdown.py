"""Markdown written for a terminal: wrapped, aligned, and plain where colour is not wanted."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from specs.harness.formula import plain
from specs.harness.ink import STYLES, columns, paint

# Private letters, of no width, stand for styles until the very end.
ON = {style: chr(0xE000 + 2 * number) for number, style in enumerate(STYLES)}
OFF = {style: chr(0xE001 + 2 * number) for number, style in enumerate(STYLES)}
FIRM = "\u00a0"  # a space at which no line is broken

HEADING = re.compile(r"#{1,6}\s")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
ITEM = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])\s+")
INLINE = re.compile(
    r"(?P<tick>`+)(?P<code>.+?)(?<!`)(?P=tick)(?!`)"
    r"|\$\$(?P<display>[^$]+)\$\$"
    r"|\$(?P<math>(?=[^\s$])[^$]*?(?<=[^\s\\]))\$"
    r"|\*\*(?P<bold>(?=\S).+?(?<=\S))\*\*"
    r"|\*(?P<italic>(?=[^\s*])[^*]+?(?<=\S))\*"
    r"|!?\[(?P<link>[^\]]*)\]\([^)\s]*\)"
    r"|<(?P<address>https?:[^<>\s]+)>"
    r"|(?P<tag></?[a-zA-Z][^<>]*>|<!--.*?-->)"
    r"|\\(?P<sign>[!-/:-@\[-`{-~])",
    re.DOTALL,
)


def render(text: str, width: int, colour: bool) -> str:
    """Write a Markdown text for a terminal of this width."""
    page = _Page(max(width, 20), colour)
    blocks = ("\n".join(block) for block in page.blocks(text.splitlines()))
    written = "\n\n".join(block for block in blocks if block).replace(FIRM, " ")
    for style in STYLES:
        on, off = paint("\0", style, colour).split("\0")
        written = written.replace(ON[style], on).replace(OFF[style], off)
    return written


@dataclass(frozen=True)
class _Page:
    """The width to keep to, and whether code shows by its colour or by its ticks."""

    width: int
    colour: bool

    def blocks(self, lines: list[str]) -> Iterator[list[str]]:
        """Take the text apart, block by block, and lay each one out."""
        while lines:
            first = lines[0]
            if not first.strip():
                lines.pop(0)
            elif fence := FENCE.match(first):
                yield _code(lines, fence[1])
            elif first.startswith("$$"):
                yield _formula(lines)
            elif HEADING.match(first):
                yield wrap(_styled("bold", self.inline(lines.pop(0).strip("# "))), self.width)
            elif _is_row(first):
                yield self.table(_taken(lines, _is_row))
            elif ITEM.match(first):
                yield self.items(_taken(lines, _goes_on))
            else:
                yield wrap(self.inline("\n".join(_taken(lines, _goes_on))), self.width)

    def items(self, lines: list[str]) -> list[str]:
        """Wrap each item of a list under its own sign."""
        items: list[str] = []
        for line in lines:
            if ITEM.match(line) or not items:
                items.append(line)
            else:
                items[-1] += f"\n{line.strip()}"
        laid = []
        for item in items:
            indent, sign = ITEM.match(item).groups()  # type: ignore[union-attr]  # the first is one
            head = f"{indent}{'•' if sign in '-*+' else sign} "
            text = self.inline(ITEM.sub("", item, count=1))
            laid += wrap(text, self.width, head, " " * len(head))
        return laid

    def table(self, lines: list[str]) -> list[str]:
        """Align a table's columns, and wrap its cells where there is no room for them."""
        rows = [self.cells(line) for line in lines if not re.fullmatch(r"[\s|:-]+", line)]
        count = max(map(len, rows), default=0)
        rows = [row + [""] * (count - len(row)) for row in rows]
        widths = _widths(rows, self.width - 2 * (count - 1))
        laid = [line for row in rows for line in _row(row, widths)]
        heads = len(_row(rows[0], widths)) if rows else 0
        rule = "  ".join("─" * room for room in widths)
        return [*(_styled("bold", line) for line in laid[:heads]), rule, *laid[heads:]]

    def cells(self, line: str) -> list[str]:
        r"""The cells of a table's row; ``\|`` is a letter."""
        bare = line.strip().removeprefix("|").removesuffix("|")
        return [self.inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", bare)]

    def inline(self, text: str) -> str:
        """Write what stands inside a line: code, formulas, stress; tags are left out."""
        return html.unescape(INLINE.sub(self.piece, text))

    def piece(self, match: re.Match[str]) -> str:
        """Write one of them; what must stay literal is escaped until the line is whole."""
        kind = match.lastgroup or ""
        text = match[kind]
        if kind in ("bold", "italic"):
            return _styled(kind, INLINE.sub(self.piece, text))
        if kind == "tag":
            return " " if text.startswith("<br") else ""
        if kind == "link":
            return INLINE.sub(self.piece, text)
        if kind == "code":
            text = " ".join(text.split())
            text = text if self.colour else f"`{text}`"
        elif kind in ("math", "display"):
            text = plain(text.strip("`")).replace("\n", "; ")
        firm = text.replace(" ", FIRM) if len(text) < 40 else text
        safe = html.escape(firm, quote=False)
        return _styled("cyan", safe) if kind == "code" else safe


def _goes_on(line: str) -> bool:
    """Whether a line may belong to the paragraph or the list before it."""
    breaks = line.startswith("$$") or HEADING.match(line) or FENCE.match(line)
    return bool(line.strip()) and not breaks


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _taken(lines: list[str], wanted: Callable[[str], bool]) -> list[str]:
    """Take the first line, and those after it that are wanted too."""
    taken = [lines.pop(0)]
    while lines and wanted(lines[0]):
        taken.append(lines.pop(0))
    return taken


def _code(lines: list[str], fence: str) -> list[str]:
    """Indent a block of code, and leave it as it is."""
    inside = _taken(lines, lambda line: not line.strip().startswith(fence))[1:]
    del lines[:1]
    return [_styled("cyan", f"    {line}") if line.strip() else "" for line in inside]


def _formula(lines: list[str]) -> list[str]:
    """Give a ``$$`` block lines of its own; what follows it on its last line goes on."""
    text = lines.pop(0)[2:]
    while lines and "$$" not in text:
        text += f"\n{lines.pop(0)}"
    formula, _, rest = text.partition("$$")
    if rest.strip():
        lines.insert(0, rest.strip())
    return [f"    {line}" for line in plain(formula).split("\n")]


def _row(row: list[str], widths: list[int]) -> list[str]:
    """Lay the cells of a row side by side."""
    cells = [wrap(cell, room) for cell, room in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    padded = [
        [line + " " * (room - columns(line)) for line in cell + [""] * (height - len(cell))]
        for cell, room in zip(cells, widths, strict=True)
    ]
    return ["  ".join(line).rstrip(" ") for line in zip(*padded, strict=True)]


def _widths(rows: list[list[str]], room: int) -> list[int]:
    """As wide as the widest cell, the widest columns giving way first."""
    widths = [max(1, *map(columns, column)) for column in zip(*rows, strict=True)]
    while sum(widths) > room and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    return widths


def _styled(style: str, text: str) -> str:
    return f"{ON[style]}{text}{OFF[style]}"


def wrap(text: str, width: int, head: str = "", rest: str = "") -> list[str]:
    """Fill lines with words; a style that runs over a line's end is taken up on the next."""
    lines: list[str] = []
    line, room = head, width - columns(head)
    for word in re.split(r"[ \t\n]+", text.strip()):
        if room < columns(word) + 1 and line not in (head, rest):
            lines.append(line)
            line, room = rest, width - columns(rest)
        line += word if line in (head, rest) else f" {word}"
        room = width - columns(line)
    return _balanced([*lines, line], rest)


def _balanced(lines: list[str], rest: str) -> list[str]:
    """Close every style at the end of its line, and open it again on the next."""
    balanced, still = [], ""
    for line in lines:
        margin = rest if still else ""
        whole = margin + still + line[len(margin) :]
        opened = [style for style in STYLES if whole.count(ON[style]) > whole.count(OFF[style])]
        still = "".join(ON[style] for style in opened)
        balanced.append(whole + "".join(OFF[style] for style in opened))
    return balanced
