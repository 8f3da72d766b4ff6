"""A verdict goes stale when, and only when, the code that it was about has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.tiny_house import build
from specs.harness.digest import digest_of, digests
from specs.harness.steps import House

HALVE = "def halve(n):\n    return n / 2\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house whose part 3 holds one solved step and a constant."""
    house = build(tmp_path)
    write(house, f"FACTOR = 2\n\n\n{HALVE}")
    return house


def write(house: House, text: str) -> None:
    """Write part 3."""
    (house.kata / "part03_sums.py").write_bytes(text.encode())


def digest(house: House, name: str = "halve") -> str:
    """The digest of a step."""
    return digest_of(house.find(name), house.kata)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"FACTOR = 2\n{HALVE}", id="fewer blank lines"),
        pytest.param(f"# remark\nFACTOR = 2\n{HALVE}\n# remark\n", id="remarks"),
        pytest.param(f"FACTOR = 2\n{HALVE}".replace("\n", "\r\n"), id="line ends"),
        pytest.param(f"FACTOR = 2\ndef add(a, b): return a + b\n{HALVE}", id="another step"),
        pytest.param(f"FACTOR = 2\n{HALVE}root = lambda n: n ** 0.5\n", id="another step, bound"),
    ],
)
def test_what_does_not_touch_the_step_keeps_its_digest(house: House, text: str) -> None:
    """Layout, remarks and other steps do not count."""
    before = digest(house)
    write(house, text)
    assert digest(house) == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"FACTOR = 2\n{HALVE}".replace("/", "*"), id="the step"),
        pytest.param(f"FACTOR = 3\n{HALVE}", id="a constant"),
        pytest.param(f"FACTOR = 2\n{HALVE}def help(): pass\n", id="a helper"),
        pytest.param(f"FACTOR = 2\n@cache\n{HALVE}", id="a decorator"),
        pytest.param(f"{HALVE}FACTOR = 2\n", id="the order"),
        pytest.param("FACTOR = (", id="no longer Python"),
        pytest.param("", id="nothing left"),
    ],
)
def test_what_touches_the_step_changes_its_digest(house: House, text: str) -> None:
    """The step itself, and whatever stands around it."""
    before = digest(house)
    write(house, text)
    assert digest(house) != before


def test_a_helper_file_counts(house: House) -> None:
    """What the learner keeps in a file of its own, in a folder too."""
    before = digest(house)
    (house.kata / "tools").mkdir()
    (house.kata / "tools" / "help.py").write_text("x = 1\n")
    with_help = digest(house)
    (house.kata / "tools" / "help.py").write_text("x = 2\n")
    assert len({before, with_help, digest(house)}) == 3


@pytest.mark.parametrize(
    "name",
    ["kept/part03_sums.2026.py", "__pycache__/x.py", ".venv/x.py", "notes.md", "part04_words.py"],
)
def test_other_files_do_not_count(house: House, name: str) -> None:
    """Kept copies, caches, hidden folders, notes, and the other parts."""
    before = digest(house)
    (house.kata / name).parent.mkdir(exist_ok=True)
    (house.kata / name).write_text("x = 1\n")
    assert digest(house) == before


def test_a_missing_file_has_a_digest_too(house: House) -> None:
    """And not that of an empty one."""
    write(house, "")
    empty = digest(house)
    (house.kata / "part03_sums.py").unlink()
    assert digest(house) != empty


def test_a_very_deep_expression_has_a_digest(house: House) -> None:
    """Python can parse it and not write it down again."""
    write(house, HALVE + "x = " + "+".join(["1"] * 900) + "\n")
    assert len(digest(house)) == 32


def test_all_digests_at_once_are_the_same(house: House) -> None:
    """One by one, or all together."""
    one_by_one = {step.number: digest_of(step, house.kata) for step in house.steps}
    assert digests(house, house.kata) == one_by_one
    assert len(set(one_by_one.values())) == 3  # add and root are missing alike
