"""A lesson is whole, reads well in a terminal, and gives its hints one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.tiny_house import LESSON, build
from specs.harness.lessons import (
    SECTIONS,
    Lesson,
    hint,
    hints_left,
    parse_lesson,
    read_lesson,
    show,
)
from specs.harness.steps import UserError

PATH = Path("022_add.md")


@pytest.fixture
def lesson() -> Lesson:
    """The tiny house's lesson."""
    return parse_lesson(LESSON, PATH)


def test_a_lesson_is_taken_apart(lesson: Lesson) -> None:
    """Title, line under the title, sections in their order, hints and answer."""
    assert (lesson.tag, lesson.title) == ("022", "022 · add")
    assert lesson.meta == "Part 3, Sums and Halves · +5 XP · paper: section 3"
    assert tuple(lesson.sections) == SECTIONS
    assert lesson.sections["Intuition"] == "Two numbers meet."
    assert lesson.hints[1:] == ("There is an operator for it.", "`left … right`")
    assert lesson.answer.startswith("4, by hand.")
    assert lesson.answer.endswith("4\n```")


def test_what_is_folded_is_no_part_of_its_section(lesson: Lesson) -> None:
    """Neither hints nor the answer can be seen by accident."""
    assert "Hint" not in lesson.sections["Implementation"]
    assert lesson.sections["Checkpoint"] == "What is 2 and 2?"


def test_a_lesson_with_windows_line_ends_is_the_same(tmp_path: Path) -> None:
    """Git may check it out so."""
    step = build(tmp_path).find("add")
    before = read_lesson(step)
    step.lesson.write_bytes(step.lesson.read_bytes().replace(b"\n", b"\r\n"))
    assert read_lesson(step) == before


def test_code_may_hold_what_looks_like_a_section() -> None:
    """A comment with two hashes stays in its block."""
    text = LESSON.replace("Two numbers meet.", "```python\n## Tests\n```")
    assert "## Tests" in parse_lesson(text, PATH).sections["Intuition"]


@pytest.mark.parametrize(
    ("old", "new", "slip"),
    [
        ("# 022 · add\n", "", "the first line is to read '# 022 · name_of_the_step'"),
        ("*Part 3", "Part 3", "under the title a line in *italics*"),
        ("## Tests\n", "", "the section '## Tests' is missing"),
        ("## Tests\n", "## Proofs\n", "the section '## Tests' is missing"),
        ("## Tests\n", "## Proofs\n\n## Tests\n", "there is a section '## Proofs' too many"),
        ("## Tests\n", "## Tests\n\n## Tests\n", "there is a section '## Tests' too many"),
        ("Two numbers meet.\n", "", "the section '## Intuition' is empty"),
        ("Hint 2", "Hint 3", "<summary>Hint 2</summary> is missing or empty"),
        ("There is an operator for it.", "", "<summary>Hint 2</summary> is missing or empty"),
        ("<details><summary>Hint", "<details><b>Hint", "folds no <summary>Hint 1</summary>"),
        ("<summary>Answer", "<summary>Reply", "folds one <summary>Answer</summary> away"),
    ],
)
def test_what_is_missing_is_told_in_one_line(old: str, new: str, slip: str) -> None:
    """The line names the file."""
    with pytest.raises(UserError) as caught:
        parse_lesson(LESSON.replace(old, new), PATH)
    assert str(caught.value).startswith("022_add.md:")
    assert slip in str(caught.value)


def test_sections_stand_in_their_order() -> None:
    """Tests before Mistakes."""
    text = LESSON.replace("## Tests", "## X").replace("## Mistakes", "## Tests")
    with pytest.raises(UserError, match="the sections stand in this order: Intuition, Concepts"):
        parse_lesson(text.replace("## X", "## Mistakes"), PATH)


def test_an_empty_lesson_is_told(tmp_path: Path) -> None:
    """So is a missing one."""
    step = build(tmp_path).find("add")
    step.lesson.write_text("")
    with pytest.raises(UserError, match="'## Intuition' is missing"):
        read_lesson(step)
    step.lesson.unlink()
    with pytest.raises(UserError, match="there is no such file"):
        read_lesson(step)


def test_a_lesson_is_shown_with_its_hints_and_answer_folded(lesson: Lesson) -> None:
    """Each fold says how to open it."""
    shown = show(lesson, 60, colour=False)
    assert shown.startswith("022 · add\n\nPart 3, Sums and Halves")
    assert "Mathematics\n\n    s = a + b\n" in shown
    assert "▸ 3 hints, one at a time: pytest --hint 22" in shown
    assert "▸ The answer is folded away at the end of 022_add.md" in shown


@pytest.mark.parametrize("secret", ["fingers", "by hand", "<details>", "\x1b", "**", "$"])
def test_nothing_shows_that_is_folded_or_raw(lesson: Lesson, secret: str) -> None:
    """No hint, no answer, no tag, no colour code."""
    assert secret not in show(lesson, 60, colour=False)


def test_a_lesson_in_colour_has_bold_headings(lesson: Lesson) -> None:
    """And says the same."""
    assert "\x1b[1mIntuition\x1b[22m" in show(lesson, 60, colour=True)


@pytest.mark.parametrize(
    ("shown_so_far", "told"),
    [
        (0, "Hint 1 of 3\n\nWhat do you do with fingers?\n\n▸ 2 more: pytest --hint 22"),
        (1, "Hint 2 of 3\n\nThere is an operator for it.\n\n▸ 1 more: pytest --hint 22"),
        (2, "Hint 3 of 3\n\n`left … right`\n\n▸ that was the last; pytest --solution 22"),
    ],
)
def test_hints_come_one_at_a_time(lesson: Lesson, shown_so_far: int, told: str) -> None:
    """Each says whether there is another."""
    assert hint(lesson, shown_so_far) == f"022 · add\n\n{told}"


def test_used_up_hints_can_be_read_again(lesson: Lesson) -> None:
    """All of them at once."""
    told = hint(lesson, 3)
    assert [told.count(f"Hint {number} of 3") for number in (1, 2, 3)] == [1, 1, 1]


def test_hints_left_never_fall_below_none(lesson: Lesson) -> None:
    """Three, then two, then one, then none."""
    assert [hints_left(lesson, shown) for shown in (0, 1, 2, 3, 4)] == [3, 2, 1, 0, 0]
