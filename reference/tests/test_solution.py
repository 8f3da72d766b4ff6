"""The solution is for whoever is green, or has seen every hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.tiny_house import build
from specs.harness.solution import solution
from specs.harness.steps import House, UserError

HALVE = '''\
# reference/part03_sums.py:13


def halve(number: float) -> float:
    """Cut a number in two: ``x ÷ 2``."""
    half = _times(number, 0.5)
    return half


def _times(number: float, factor: float) -> float:
    return number * factor'''


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house of two parts."""
    return build(tmp_path)


@pytest.mark.parametrize(
    ("green", "hints_left"), [(True, 3), (False, 0)], ids=["green", "hints used up"]
)
def test_who_has_earned_it_sees_it(house: House, green: bool, hints_left: int) -> None:
    """The function, and the private helper that it leans on."""
    assert solution(house, house.find("halve"), green, hints_left) == HALVE


@pytest.mark.parametrize(("hints_left", "told"), [(2, "2 hints are left"), (1, "1 hint is left")])
def test_who_has_not_is_told_how_to(house: House, hints_left: int, told: str) -> None:
    """One line with the number of hints left."""
    with pytest.raises(UserError) as caught:
        solution(house, house.find("halve"), green=False, hints_left=hints_left)
    assert str(caught.value).startswith(f"022 halve: {told} (pytest --hint 22);")


def test_a_step_without_a_reference_is_told(house: House) -> None:
    """A maintainer reads which function is missing."""
    (house.reference / "part03_sums.py").write_text("x = 1\n")
    with pytest.raises(UserError, match="defines no function halve"):
        solution(house, house.find("halve"), green=True, hints_left=0)
