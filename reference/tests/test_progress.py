"""What is remembered from run to run, and how the steps stand by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tests.tiny_house import build
from specs.harness.digest import digest_of
from specs.harness.progress import KEY, Progress, standings
from specs.harness.steps import House

HALVE = "def halve(n):\n    return n / 2\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house of two parts, all of its stubs untouched."""
    return build(tmp_path)


class Shelf:
    """A cache as pytest's, in memory."""

    def __init__(self, data: object = None) -> None:
        self.content = {} if data is None else {KEY: data}

    def get(self, key: str, default: Any) -> Any:
        """What lies there."""
        return self.content.get(key, default)

    def set(self, key: str, value: object) -> None:
        """Put it there."""
        self.content[key] = value


def test_a_verdict_is_remembered(house: House) -> None:
    """Another run knows it, with what it was judged on."""
    shelf, step = Shelf(), house.find("halve")
    progress = Progress.kept_in(shelf)
    progress.judge(step, "green", "abc")
    progress.save()
    assert shelf.content[KEY] == {"022": {"verdict": "green", "digest": "abc", "hints": 0}}
    assert Progress.kept_in(shelf).standing(step, "abc") == "green"


def test_hints_are_counted(house: House) -> None:
    """A verdict in between leaves their number alone."""
    shelf, step = Shelf(), house.find("halve")
    for _ in range(2):
        progress = Progress.kept_in(shelf)
        progress.count_hint(step)
        progress.judge(step, "wrong", "abc")
        progress.save()
    assert Progress.kept_in(shelf).hints(step) == 2


def test_without_a_cache_progress_lasts_for_the_run(house: House) -> None:
    """``-p no:cacheprovider`` is no error."""
    step = house.find("halve")
    progress = Progress.kept_in(None)
    progress.judge(step, "green", "abc")
    progress.save()
    assert progress.standing(step, "abc") == "green"
    assert Progress.kept_in(None).standing(step, "abc") == "not run yet"


def test_two_runs_at_once_do_not_wipe_each_other_out(house: House) -> None:
    """Each writes down only what it found out itself."""
    shelf = Shelf()
    one, other = Progress.kept_in(shelf), Progress.kept_in(shelf)
    one.judge(house.find("add"), "green", "a")
    other.judge(house.find("halve"), "wrong", "b")
    one.save()
    other.save()
    assert sorted(Progress.kept_in(shelf).memory(step).verdict for step in house.steps[:2]) == [
        "green",
        "wrong",
    ]


def test_nothing_new_writes_nothing(house: House) -> None:
    """A run that judged nothing leaves the cache alone."""
    shelf = Shelf()
    progress = Progress.kept_in(shelf)
    progress.memory(house.find("halve"))
    progress.save()
    assert shelf.content == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["022", "verdict", "digest", "hints", "x"]), inner)
    ),
    max_leaves=8,
)


@given(JSON)
def test_what_makes_no_sense_is_forgotten(data: object) -> None:
    """A cache edited by hand is no reason to stop."""
    house = House(Path(__file__).parents[2])
    step = house.steps[0]
    progress = Progress.kept_in(Shelf(data))
    progress.count_hint(step)
    progress.save()
    assert progress.hints(step) == 1


@pytest.mark.parametrize(
    ("remembered", "on_this_code", "on_other_code"),
    [
        ("green", "green", "changed since"),
        ("wrong", "wrong", "wrong"),
        ("broken", "broken", "broken"),
        ("not started", "not started", "not run yet"),
        ("", "not run yet", "not run yet"),
        ("brilliant", "not run yet", "not run yet"),
    ],
)
def test_green_is_about_the_code_it_was_judged_on(
    house: House, remembered: str, on_this_code: str, on_other_code: str
) -> None:
    """Other code has to earn it anew."""
    step = house.find("halve")
    entry = {"verdict": remembered, "digest": "abc", "hints": 0}
    progress = Progress.kept_in(Shelf({"022": entry}))
    assert progress.standing(step, "abc") == on_this_code
    assert progress.standing(step, "xyz") == on_other_code


def stands(house: House, progress: Progress | None = None) -> str:
    """How step 022 stands."""
    return standings(house, progress or Progress.kept_in(None), house.kata)[22]


def test_untouched_stubs_are_not_started(house: House) -> None:
    """Nothing has to run to know that."""
    assert standings(house, Progress.kept_in(None), house.kata) == dict.fromkeys(
        (21, 22, 23, 31), "not started"
    )


def test_a_stub_is_not_started_whatever_was_remembered(house: House) -> None:
    """After ``--reset`` the old verdict is gone."""
    step = house.find("halve")
    progress = Progress.kept_in(None)
    progress.judge(step, "green", digest_of(step, house.kata))
    assert stands(house, progress) == "not started"


def test_written_code_stands_as_it_was_judged(house: House) -> None:
    """Not run yet, then green, then changed since."""
    path, step, progress = (
        house.kata / "part03_sums.py",
        house.find("halve"),
        Progress.kept_in(None),
    )
    path.write_text(HALVE)
    found = [stands(house, progress)]
    progress.judge(step, "green", digest_of(step, house.kata))
    found.append(stands(house, progress))
    path.write_text(HALVE.replace("/", "*"))
    found.append(stands(house, progress))
    assert found == ["not run yet", "green", "changed since"]


@pytest.mark.parametrize("text", ["def halve(:\n", None], ids=["no Python", "missing"])
def test_a_file_that_cannot_be_read_is_broken(house: House, text: str | None) -> None:
    """Its steps are; those of other parts stand as they stood."""
    path = house.kata / "part03_sums.py"
    path.unlink()
    if text is not None:
        path.write_text(text)
    found = standings(house, Progress.kept_in(None), house.kata)
    assert found == {21: "broken", 22: "broken", 23: "broken", 31: "not started"}
