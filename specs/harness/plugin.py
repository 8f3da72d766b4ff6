"""The pytest plugin: hooks only, each a few lines that hand over to the module that knows."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from specs.harness import again, capstone, commands, summary, supervisor
from specs.harness.exam import Case, Exam
from specs.harness.failure import COLOURS, LETTERS, Red, Verdict, sentence_of
from specs.harness.progress import GREEN
from specs.harness.report import broken, not_started, verdict_on, with_prints
from specs.harness.session import Dojo, quiet_threads
from specs.harness.source import Unreadable, read_source
from specs.harness.steps import Step, UserError
from specs.harness.stubs import is_stub

DOJO = pytest.StashKey[Dojo]()


def pytest_addoption(parser: pytest.Parser) -> None:
    commands.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Answer what only prints; else run, in a child process that a parent keeps an eye on."""
    commands.from_anywhere(config)
    try:
        answered = commands.answer(config)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    if answered is not None or not commands.is_supervised(config):
        return answered
    return again.supervise(config)


def pytest_configure(config: pytest.Config) -> None:
    config.option.verbose = getattr(config.option, "verbose", 0) - 1  # one letter a test
    try:
        config.stash[DOJO] = Dojo(config)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(_Ear(config.stash[DOJO]))


def pytest_sessionstart() -> None:
    supervisor.catch_crashes()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-k 022``, look at no other step's spec; at the capstone only if it is asked for."""
    house = config.stash[DOJO].house
    if collection_path == capstone.folder(house) and not commands.asks_for_capstone(house, config):
        return True
    if collection_path.name == "test_translation.py" and not config.getoption("corpus"):
        return True  # it needs a corpus
    asked = re.fullmatch(r"\d{3}", config.option.keyword or "")
    is_spec = collection_path in house.by_spec
    return True if asked and is_spec and f"test_{asked[0]}_" not in collection_path.name else None


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    dojo = parent.config.stash[DOJO]
    if module_path.is_relative_to(capstone.folder(dojo.house)):
        module: capstone.Capstone = capstone.Capstone.from_parent(parent, path=module_path)
        module.world = dojo.own_world()
        return module
    step = dojo.house.by_spec.get(module_path)
    if step is None:
        return None
    spec: Spec = Spec.from_parent(parent, path=module_path)
    spec.step = step
    return spec


class Spec(pytest.Module):
    """The spec of one step, imported in that step's own world."""

    step: Step

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """List the spec's tests; a stub, or a file that cannot be read, is one red item."""
        dojo = self.config.stash[DOJO]
        verdict = dojo.lost.get(self.step.number) or self._without_running(dojo)
        if verdict is not None:
            return [self._unrun(verdict)]
        quiet_threads()
        return self.items_for(dojo.exam(self.step))

    def items_for(self, exam: Exam) -> list[pytest.Item | pytest.Collector]:
        """Import the spec in the exam's world, and give the exam its cases."""
        with exam.spec_import():
            items = list(super().collect())
        exam.cases = [case_of(item) for item in items if isinstance(item, pytest.Function)]
        return items

    def _without_running(self, dojo: Dojo) -> Verdict | None:
        if dojo.names_wanted:
            return None
        try:
            if not is_stub(read_source(dojo.package / self.step.file).tree, self.step):
                return None
        except Unreadable as error:
            return broken(dojo.house, self.step, dojo.package, str(error), error.line)
        return not_started(dojo.house, self.step, dojo.package)

    def _unrun(self, verdict: Verdict) -> pytest.Item:
        item: Unrun = Unrun.from_parent(self, name=verdict.state.replace(" ", "_"))
        item.verdict = verdict
        item.extra_keyword_matches.update(test_names(self.path))
        return item


class Unrun(pytest.Item):
    """A step whose outcome is known already, from its file's text, say: nothing has to run."""

    verdict: Verdict

    def runtest(self) -> None:
        """Be red."""
        raise Red(self.verdict.state, self.verdict.brief, state=self.verdict.state)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the item stands, for reports."""
        return self.path, 0, self.verdict.lines[0]


def test_names(spec: Path) -> list[str]:
    """The names of a spec's tests, for ``-k``."""
    tree = ast.parse(spec.read_bytes())
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


test_names.__test__ = False  # type: ignore[attr-defined]


def case_of(item: pytest.Function) -> Case:
    """The test that an item runs, with its parameters."""
    callspec = getattr(item, "callspec", None)
    return Case(item.name, item.obj, dict(callspec.params) if callspec else {})


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    spec = pyfuncitem.getparent(Spec)
    if spec is None:
        return None
    pyfuncitem.config.stash[DOJO].exam(spec.step).run(case_of(pyfuncitem))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Around a test of the capstone, every step is the learner's."""
    module = item.getparent(capstone.Capstone)
    if module is None:
        return (yield)
    with module.world.entered():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    spec = item.getparent(Spec)
    verdict = _verdict(item, spec, call) if spec and (call.when == "call" or call.excinfo) else None
    if verdict is not None and verdict.state != GREEN:
        printed = [text for when, _, text in item._report_sections if when == "call"]
        verdict = with_prints(verdict, "\n".join(printed))
        told = "\n".join(verdict.lines)
        item.repr_failure = lambda *_, **__: told  # type: ignore[method-assign]  # no traceback
    report = yield
    if verdict is not None:
        report.dojo = verdict.as_dict()  # type: ignore[attr-defined]
    return report


def _verdict(item: pytest.Item, spec: Spec, call: pytest.CallInfo[None]) -> Verdict | None:
    step = spec.step
    if call.excinfo is None:
        return Verdict(step.number, GREEN, sentence_of(item.name))
    if isinstance(item, Unrun):
        return item.verdict
    error = call.excinfo.value
    if not isinstance(error, Red) or not isinstance(item, pytest.Function):
        return None  # a spec's own fault: pytest shows it in full
    dojo = item.config.stash[DOJO]
    exam, case = dojo.exam(step), case_of(item)
    first = not any(v.step == step.number and v.state != GREEN for v in dojo.verdicts)
    looks_like = exam.looks_like(case, error) if first else None
    return verdict_on(exam, case, error, looks_like)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    verdict = getattr(report, "dojo", None)
    if verdict is None or verdict["state"] == GREEN:
        return None
    state = verdict["state"]
    return state, LETTERS[state], (state.upper(), {COLOURS[state]: True})


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("shapes") is not None:
        return  # no step is tested
    specs = [item.getparent(Spec) for item in session.items]
    session.config.stash[DOJO].choose(Counter(spec.step for spec in specs if spec is not None))


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With ``--shapes``, show what flows through the step instead of testing it."""
    if session.config.getoption("shapes") is None:
        return None
    from specs.harness.shapes import shapes

    (exam,) = session.config.stash[DOJO].exams.values()
    try:
        commands.write(shapes(exam, commands.width()))
    except UserError as error:
        commands.write(str(error))
    return True


class _Ear:
    """Hears every report, also those that come from xdist's workers."""

    def __init__(self, dojo: Dojo) -> None:
        self.dojo = dojo

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        verdict = getattr(report, "dojo", None)
        if verdict is not None:
            self.dojo.hear(Verdict(**verdict))
        elif report.failed:
            self.dojo.hear_failure(report)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    dojo = session.config.stash[DOJO]
    summary.count_the_missing(session, dojo)
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist
        session.config.workeroutput["whole"] = sorted(dojo.whole)
    yield
    if supervisor.line is not None:
        supervisor.line.send("finished", int(session.exitstatus))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    whole = getattr(node, "workeroutput", {}).get("whole", [])
    node.config.stash[DOJO].whole.update(whole)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # workers leave it to their controller
        summary.show(config, terminalreporter, config.stash[DOJO])
