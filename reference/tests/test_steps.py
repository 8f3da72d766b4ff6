"""The register of steps: read from the names of the specs, asked by number, name or part."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.tiny_house import build
from specs.harness.steps import House, UserError


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Two parts: 21 add, 22 halve, 23 root; 31 shout."""
    return build(tmp_path_factory.mktemp("steps") / "house")


def test_steps_stand_in_the_order_of_their_numbers(house: House) -> None:
    """Whatever order the file system has."""
    assert [step.tag for step in house.steps] == ["021", "022", "023", "031"]


def test_spec_s_name_says_all_about_its_step(house: House) -> None:
    """Number, name, part and module; the lesson lies beside the spec."""
    step = house.find("halve")
    assert (step.number, step.tag, step.part, step.module) == (22, "022", "part03", "part03_sums")
    assert step.file == "part03_sums.py"
    assert step.lesson == house.root / "specs/part03/022_halve.md"
    assert house.by_spec[house.root / "specs/part03/test_022_halve.py"] is step


def test_files_of_a_step_carry_its_number_and_name(house: House) -> None:
    """One number finds them all."""
    step = house.find("22")
    assert house.mistakes(step) == house.reference / "mistakes/part03/022_halve.py"
    assert house.unusual(step) == house.reference / "unusual/part03/022_halve.py"


@pytest.mark.parametrize(
    "name",
    [
        *("test_halve.py", "test_22_halve.py", "test_0022_halve.py", "test_022.py", "022_halve.py"),
        *("test_022_halve.txt", "test_022-halve.py"),
    ],
)
def test_other_files_beside_the_specs_are_no_steps(tmp_path: Path, name: str) -> None:
    """Three digits and a name, or it is none."""
    folder = tmp_path / "specs/part03"
    folder.mkdir(parents=True)
    (folder / name).touch()
    assert House(tmp_path).steps == ()


@pytest.mark.parametrize("folder", ["specs/part3", "specs/capstone", "specs", "part03"])
def test_specs_elsewhere_are_no_steps(tmp_path: Path, folder: str) -> None:
    """Parts have two digits, and lie under ``specs``."""
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "test_022_halve.py").touch()
    assert House(tmp_path).steps == ()


@pytest.mark.parametrize("asked", ["22", "022", "0022", "halve"])
def test_step_is_found_by_number_or_name(house: House, asked: str) -> None:
    """With leading zeros or without."""
    assert house.find(asked).name == "halve"


@pytest.mark.parametrize(
    "asked", ["24", "-22", "2.2", "", "halv", "HALVE", "part03", "22 23", "²²"]
)
def test_unknown_step_is_told_in_one_line(house: House, asked: str) -> None:
    """What was asked, and what could be."""
    with pytest.raises(UserError) as caught:
        house.find(asked)
    assert str(caught.value) == (
        f"there is no step {asked!r}: steps run from 021 to 031, asked for as 22 or by name"
    )


def test_folder_without_steps_is_told_as_such(tmp_path: Path) -> None:
    """Most likely pytest was started in the wrong place."""
    with pytest.raises(
        UserError, match=r"no steps found under .*specs: is this the kata's folder\?"
    ):
        House(tmp_path).find("22")


@pytest.mark.parametrize("asked", ["part03", "3", "03", "part3", "part03_sums"])
def test_part_is_found_by_number_or_name(house: House, asked: str) -> None:
    """As a folder, a number or its module."""
    assert house.find_part(asked) == "part03"


@pytest.mark.parametrize("asked", ["part05", "5", "sums", "", "part", "part003", "-3"])
def test_unknown_part_is_told_in_one_line(house: House, asked: str) -> None:
    """With the parts that there are."""
    with pytest.raises(UserError, match=r"^there is no part '.*': parts are part03, part04$"):
        house.find_part(asked)


def test_module_holds_its_steps_in_order(house: House) -> None:
    """And no other's."""
    assert [step.name for step in house.in_module("part03_sums")] == ["add", "halve", "root"]
    assert house.in_module("part05_none") == []


def test_part_s_title_is_the_first_line_of_its_module(house: House) -> None:
    """``Part 3 · Sums and Halves.``, without the number and the full stop."""
    assert house.part_title("part03") == "Sums and Halves"


def test_part_without_a_module_is_called_by_its_number(tmp_path: Path) -> None:
    """Its steps are there all the same."""
    (tmp_path / "specs/part07").mkdir(parents=True)
    (tmp_path / "specs/part07/test_052_grow.py").touch()
    house = House(tmp_path)
    assert house.part_title("part07") == "part07"
    assert house.find("grow").module == "part07"
