"""What `pytest benchmarks` adds to pytest: hooks, each handing over to the module that knows."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import environment
from benchmarks.rows import NAMED, choose, impls_by_race, spread
from specs.harness.commands import width, write
from specs.harness.steps import UserError

BENCHMARKS = pytest.StashKey[Any]()
LONG = 3600  # seconds: the first row of a race waits for all of it


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kata benchmarks", "the kata's benchmarks (pytest benchmarks …)")
    group.addoption(
        "--against",
        default="reference",
        metavar="BASELINE",
        help="what to compare with: reference, torch, a saved run's number or a git revision",
    )
    group.addoption(
        "--limit",
        metavar="PERCENT",
        help="fail what is slower by this much: 10 between revisions, else nothing fails",
    )
    group.addoption("--quick", action="store_true", help="the small sizes, in a minute")
    group.addoption("--history", action="store_true", help="show the saved runs, and draw them")


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Run only when asked for by name: `pytest .` is about the specs."""
    return None if hasattr(config.option, "against") else True


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    from benchmarks import baseline, history

    try:
        baseline.share_of(config.getoption("limit"))  # a slip is told before torch is loaded
        if not config.getoption("history"):
            return None
        write(history.show(config.getoption("benchmark_storage"), config.option.keyword, width()))
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    return 0


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "step(number): the step that a benchmark times")
    if config.getoption("benchmark_columns", None) is None:
        config.option.benchmark_columns = ["min", "median", "iqr", "rounds", "iterations"]
    try:
        environment.fix()
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


def _benchmarks(config: pytest.Config) -> Any:
    """The run's own state, made when the first row needs it: it loads torch."""
    if BENCHMARKS not in config.stash:
        from benchmarks.session import Benchmarks

        try:
            config.stash[BENCHMARKS] = Benchmarks(config)
        except UserError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[BENCHMARKS]


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """After the test's own parameters, so that the rivals of one race are neighbours."""
    spread(metafunc)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Tell parameters by name: ``T=512``."""
    return f"{argname}={val}" if argname in NAMED else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if "row" in getattr(item, "fixturenames", ())]
    if not ours:
        return
    benchmarks = _benchmarks(config)
    chosen = set(choose(ours, benchmarks.house, benchmarks.quick))
    items[:] = [item for item in items if item in chosen or item not in ours]
    benchmarks.impls = impls_by_race(chosen)
    from benchmarks.row import playback_clock

    for item in chosen:
        item.add_marker(pytest.mark.benchmark(timer=playback_clock))
        item.add_marker(pytest.mark.timeout(LONG))


@pytest.fixture
def way() -> None:
    """Which way a benchmark goes, where there are two."""


@pytest.fixture
def row(
    benchmark: Any,
    request: pytest.FixtureRequest,
    way: str | None,  # noqa: ARG001  # this and the next three are here to be parametrized
    impl: str,  # noqa: ARG001
    device: str,  # noqa: ARG001
    dtype: str,  # noqa: ARG001
) -> Any:
    """One row of the report."""
    from benchmarks.row import Row

    environment.fix_torch()
    return Row(_benchmarks(request.config), benchmark, request.node)


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    from benchmarks.saved import ENVIRONMENT

    machine_info[ENVIRONMENT] = environment.describe()


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    from benchmarks.saved import CODE, packed_code

    worlds = [code.world for code in _benchmarks(config).codes.values()]
    output_json[CODE] = packed_code(*(world.package for world in worlds))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if BENCHMARKS not in config.stash or not config.stash[BENCHMARKS].lines:
        return
    from benchmarks.report import report

    for line in report(config.stash[BENCHMARKS]):
        terminalreporter.write_line(line)
