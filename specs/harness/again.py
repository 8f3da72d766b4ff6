"""A run that a step's code has ended is begun again without that step."""

from __future__ import annotations

from pathlib import Path

import pytest

from specs.harness import summary, supervisor
from specs.harness.capstone import ranges
from specs.harness.failure import Verdict
from specs.harness.report import broken
from specs.harness.session import LOST, Dojo
from specs.harness.supervisor import Ending

MOST = 5  # tries: each may take as long as a loop is waited for


def supervise(config: pytest.Config) -> int | None:
    """Run in a child process, watched from here; the child gets None and goes on."""
    for left in reversed(range(MOST)):
        ending = supervisor.divide()
        if ending is None:
            return None
        if ending.status is not None:
            return summary.checked(ending)
        lost = _lost(config, ending)
        if not left or not lost or _one_will_do(config):
            return summary.close(config, ending, lost)
        config.stash[LOST] = config.stash.get(LOST, {}) | lost
        print(f"\n{ranges([*lost])} ended the run, which begins again without.", flush=True)
    return None  # not reached


def _one_will_do(config: pytest.Config) -> bool:
    """Say whether the run would stop at this failure anyway."""
    return bool(config.option.maxfail) or any("::" in str(arg) for arg in config.args)


def _lost(config: pytest.Config, ending: Ending) -> dict[int, Verdict]:
    """What to say of the step that ran at the end, and of all in its file if that was loading.

    Nothing where a person stopped the run, or no step was under test: the capstone trains, say.
    """
    if ending.signalled or ending.chosen == []:
        return {}
    dojo = Dojo(config)
    house, package = dojo.house, dojo.package
    why, line = supervisor.told(ending, lambda path: Path(path).is_relative_to(package))
    last = next((step for step in house.steps if step.tag == ending.step), None)
    if last is None or last.number in dojo.lost:
        return {}
    if ending.chosen:
        return {last.number: broken(house, last, package, f"It {why}.", line)}
    sentence = f"{last.file} cannot be loaded: it {why}."
    steps = house.in_module(last.module)
    return {step.number: broken(house, step, package, sentence, line) for step in steps}
