"""One run of the specs: whose kata, which steps, and how each ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from _pytest.cacheprovider import Cache

from specs.harness import supervisor
from specs.harness.exam import Exam
from specs.harness.failure import Verdict
from specs.harness.progress import Progress
from specs.harness.report import broken
from specs.harness.steps import House, Step, UserError
from specs.harness.worlds import World

# Verdicts on the steps that ended an earlier try of this run.
LOST = pytest.StashKey[dict[int, Verdict]]()


class Dojo:
    """What the plugin's hooks share during a run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.house = House(config.rootpath)
        self.package = chosen_package(self.house, config.getoption("impl"))
        self.own = bool(config.getoption("own"))
        self.exams: dict[Step, Exam] = {}
        self._own_world: World | None = None
        self.lost = config.stash.get(LOST, {})
        self.verdicts: list[Verdict] = []
        self.chosen: list[int] = []
        self.whole: set[int] = set()  # the steps whose every test is run
        # Whoever lists tests or asks for one by name wants their real names, stubs or not.
        named = any("::" in str(arg) for arg in config.args)
        self.names_wanted = named or bool(config.option.collectonly or config.getoption("shapes"))

    @property
    def is_learner(self) -> bool:
        """Say whether the run is about the repository's own ``kata`` folder."""
        return self.package == self.house.kata

    def exam(self, step: Step) -> Exam:
        """The step's exam, made when it is first needed."""
        if step not in self.exams:
            # A list of names needs no learner's code; an xdist worker must have a test to crash in.
            runs = not (self.config.option.collectonly or hasattr(self.config, "workerinput"))
            self.exams[step] = Exam(self.house, self.package, step, self.own, runs)
        return self.exams[step]

    def own_world(self) -> World:
        """The world in which every step is the learner's, made when it is first needed."""
        if self._own_world is None:
            self._own_world = World(self.house, self.package, self.house.steps[0], own=True)
        return self._own_world

    def hear(self, verdict: Verdict) -> None:
        """Keep a verdict, and send it to the parent, who keeps it whatever happens here."""
        self.verdicts.append(verdict)
        if supervisor.line is not None:
            supervisor.line.send("verdict", verdict.as_dict())

    def hear_failure(self, report: pytest.TestReport) -> None:
        """Count a step as broken whose test failed without a verdict: its worker crashed, say."""
        step = self.house.by_spec.get(self.config.rootpath / report.nodeid.split("::")[0])
        if step is not None:
            *_, told = ["", *report.longreprtext.split("\n")]
            sentence = f"It came to no verdict: {told}"
            self.hear(broken(self.house, step, self.package, sentence))

    def choose(self, tests: dict[Step, int]) -> None:
        """Keep which steps the run sets out to try, with how many tests each."""
        self.chosen = sorted(step.number for step in tests)
        for step, count in tests.items():
            if step in self.exams and count == len(self.exams[step].cases):
                self.whole.add(step.number)
        if supervisor.line is not None:
            supervisor.line.send("chosen", self.chosen)

    @property
    def notes(self) -> list[str]:
        """What a person should know beside the verdicts."""
        return [note for exam in self.exams.values() for note in exam.world.notes]


def chosen_package(house: House, asked: str) -> Path:
    """The folder that ``kata`` means: the learner's, the reference's, or another one."""
    if asked == "kata":
        return house.kata
    if asked == "reference":
        return house.reference
    folder = Path(asked).expanduser().resolve()
    if not folder.is_dir():
        raise UserError(
            f"--impl {asked}: there is no such folder; give `kata`, `reference` or a kata's folder"
        )
    if not any((folder / f"{module}.py").is_file() for module in house.modules.values()):
        example = next(iter(house.modules.values()), "part01_tokens")
        raise UserError(f"--impl {asked}: no kata in that folder, it has no {example}.py")
    return folder


def by_step(verdicts: list[Verdict]) -> dict[int, Verdict]:
    """Each step's verdict: its first red test, or green."""
    found: dict[int, Verdict] = {}
    for verdict in verdicts:
        known = found.get(verdict.step)
        if known is None or (known.state == "green" and verdict.state != "green"):
            found[verdict.step] = verdict
    return dict(sorted(found.items()))


def progress_of(config: pytest.Config) -> Progress:
    """What is remembered between runs; nothing where pytest's cache is switched off."""
    cache = getattr(config, "cache", None)
    if cache is None and config.pluginmanager.has_plugin("cacheprovider"):
        cache = Cache.for_config(config, _ispytest=True)  # before pytest has set it up
    return Progress.kept_in(cache)


def quiet_threads() -> None:
    """Ask for one thread before torch is loaded: two threads slow tiny tensors down."""
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
