"""What a red step says: the evidence under fixed labels, never the fix."""

from __future__ import annotations

from dataclasses import dataclass, field

NOT_STARTED, WRONG, BROKEN = "not started", "wrong", "broken"
LONGEST = 300  # letters of a learner's line


class Red(AssertionError):
    """A check that failed, with its evidence.

    ``kind`` names the check for the machine ("values", "shape", "changed input", "forbidden", …),
    ``sentence`` tells a person what is wrong, ``rows`` are labelled lines of evidence and ``yours``
    is the offending answer itself, kept for comparison with what known mistakes answer.
    """

    def __init__(
        self,
        kind: str,
        sentence: str = "",
        *,
        rows: list[tuple[str, str]] | None = None,
        yours: object = None,
        state: str = WRONG,
    ) -> None:
        super().__init__(sentence or kind)
        self.kind = kind
        self.sentence = sentence
        self.rows = rows or []
        self.yours = yours
        self.state = state if state in (NOT_STARTED, BROKEN) else WRONG  # never green
        self.late = False  # found only when the spec's calls were asked once more


LETTERS = {"green": ".", NOT_STARTED: "o", WRONG: "x", BROKEN: "!"}
COLOURS = {"green": "green", NOT_STARTED: "yellow", WRONG: "red", BROKEN: "purple"}


@dataclass
class Verdict:
    """How one test of a step ended, in words that travel between processes."""

    step: int
    state: str  # "green", "not started", "wrong" or "broken"
    title: str = ""  # the test, as a sentence
    lines: list[str] = field(default_factory=list)  # the failure in full
    brief: str = ""  # the failure in one line

    def as_dict(self) -> dict[str, object]:
        """The verdict as plain values."""
        return dict(vars(self))


def sentence_of(name: str) -> str:
    """Read a test's name as the sentence it is: ``test_two_keys[…]`` → ``two keys (…)``."""
    plain, bracket, case = name.removeprefix("test_").partition("[")
    return plain.replace("_", " ") + (f" ({case.removesuffix(']')})" if bracket else "")


def labelled(rows: list[tuple[str, str]]) -> list[str]:
    """Set rows under fixed labels."""
    return [f"  {label:<10}  {text}" for label, text in rows]


def message_of(error: BaseException) -> str:
    """What an error says, even if it cannot say it."""
    try:
        return str(error)
    except (Exception, SystemExit):  # a learner's own class of error
        return "its message cannot be shown"


def in_one_line(error: BaseException) -> str:
    """Tell an error as Python's last line does, of many lines the first."""
    lines = [line for line in message_of(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {plain(lines[0] if lines else '')}"


def plain(line: str) -> str:
    """A line that a terminal can show: of no great length, and without its orders."""
    shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in shown)


def brief(red: Red) -> str:
    """Tell a failure in one line."""
    said = [
        f"{label} {text}" for label, text in red.rows if label in ("raised", "yours", "expected")
    ]
    return red.sentence or ", ".join(said) or red.kind
