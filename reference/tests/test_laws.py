"""The laws of the kata, over every step there is. They find steps by the names of their specs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reference.tests.equivalent import EQUIVALENT
from reference.tests.laws import EACH_STEP, HOUSE, examination
from reference.tests.mutants import Mutant, mutants_of
from specs.harness import boundary
from specs.harness.exam import Exam, stub_reds
from specs.harness.failure import NOT_STARTED
from specs.harness.steps import Step


@pytest.fixture
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that loops for ever is not waited for."""
    monkeypatch.setattr(boundary, "TIME_LIMIT", 1.0)


@EACH_STEP
def test_stub_is_red_by_name(request: pytest.FixtureRequest, step: Step) -> None:
    """Law 1: every test of a spec is red on the stub, and the red names the step."""
    exam = examination(request, step)
    reds = stub_reds(exam)
    assert reds, "the spec has no tests"
    green = [case.name for case, red in zip(exam.cases, reds, strict=True) if red is None]
    assert green == [], "these tests pass without the function under test"
    assert {red.state for red in reds if red} == {NOT_STARTED}
    assert all(f"step {step.tag}" in red.sentence for red in reds if red)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@EACH_STEP
def test_reference_is_green(request: pytest.FixtureRequest, step: Step, dtype: str) -> None:
    """Law 2: the reference passes every spec, whichever dtype is torch's default."""
    import torch

    exam = examination(request, step, dtype)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        for case in exam.cases:
            exam.run(case)
    finally:
        torch.set_default_dtype(before)


@EACH_STEP
def test_unusual_versions_are_green(request: pytest.FixtureRequest, step: Step) -> None:
    """Right is right, however it is written: specs look at results, not at the way there."""
    exam = examination(request, step)
    for version in exam.versions(HOUSE.unusual(step)):
        for case in exam.cases:
            red = exam.attempt(version.function, case)
            assert red is None, f"{version.name}: {case.name}: {red} {red.rows if red else ''}"


@EACH_STEP
def test_mistakes_are_red_by_their_own_sentence(request: pytest.FixtureRequest, step: Step) -> None:
    """Law 3: each known mistake is red, and the failure shows that mistake's sentence."""
    exam = examination(request, step)
    assert len(exam.mistakes) >= 1, "no mistakes are written down"
    told = {mistake.name: _told(exam, mistake.function) for mistake in exam.mistakes}
    assert told == {mistake.name: mistake.sentence for mistake in exam.mistakes}


def _told(exam: Exam, function: object) -> str | None:
    """What a learner who wrote this function reads after *looks like*."""
    kept, exam.world.target, exam.stuck = exam.world.target, function, None
    try:
        for case in exam.cases:
            red = exam.red_of(exam.world.target, case)
            if red is not None:
                return exam.looks_like(case, red) or f"red, but not told: {red} {red.rows}"
        return "green"
    finally:
        exam.world.target, exam.stuck = kept, None


@pytest.mark.usefixtures("_short_patience")
@EACH_STEP
def test_mutants_die(request: pytest.FixtureRequest, step: Step) -> None:
    """Law 5: each mutant of the reference is red, or listed with the reason why it is no slip."""
    exam = examination(request, step)
    mutants = list(_mutants(exam))
    _born[step.number] = len(mutants)
    survivors = [mutant.change for mutant in mutants if not _dies(exam, mutant)]
    listed = EQUIVALENT.get(step.number, {})
    assert sorted(set(survivors) - listed.keys()) == []
    assert sorted(listed.keys() - set(survivors)) == [], "listed, but dead: take them off the list"


def _mutants(exam: Exam) -> Iterator[Mutant]:
    return mutants_of(exam.world.path, exam.world.target)


def _dies(exam: Exam, mutant: Mutant) -> bool:
    for index, case in enumerate(exam.cases):
        if exam.attempt(mutant.function, case) is not None:
            exam.cases.insert(
                0, exam.cases.pop(index)
            )  # what kills one mutant often kills the next
            return True
    return False


_born: dict[int, int] = {}  # how many mutants a step has, where they were counted before


def _born_of(request: pytest.FixtureRequest, step: Step) -> int:
    if step.number not in _born:
        _born[step.number] = len(list(_mutants(examination(request, step))))
    return _born[step.number]


def test_survivors_are_few(request: pytest.FixtureRequest) -> None:
    """At most 3 % of a part's mutants are listed as survivors."""
    for part in HOUSE.modules:
        steps = [step for step in HOUSE.steps if step.part == part]
        born = sum(_born_of(request, step) for step in steps)
        listed = sum(len(EQUIVALENT.get(step.number, {})) for step in steps)
        assert listed <= 0.03 * born, f"{part}: {listed} of {born} mutants are listed"
