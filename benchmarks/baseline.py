"""What the rows are compared with: the reference, torch, a saved run or a git revision."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.codes import Code
from benchmarks.revision import check_out, commit_of
from benchmarks.saved import Run, find_run, saved_runs
from specs.harness.steps import House, UserError

BETWEEN_REVISIONS = 0.10  # the limit, where none is asked for
OURS = ("kata", "reference")


@dataclass(frozen=True)
class Baseline:
    """One runner for each row to be compared with, and from which ratio on that is a failure."""

    label: str
    limit: float | None = None  # None: nothing fails
    codes: dict[str, Code] = field(default_factory=dict)  # what ours were, at another time
    run: Run | None = None  # the saved one

    def rival(self, impl: str) -> str:
        """The name of the runner that a row is compared with."""
        if not self.codes:
            return self.label
        return f"{impl if impl in OURS else 'reference'}@{self.label}"

    def judges(self, impl: str) -> bool:
        """Say whether a row fails when it is slower than the limit allows."""
        return self.limit is not None and impl in OURS and impl != self.label


def share_of(percent: str | None) -> float | None:
    """Read ``--limit``: ``10`` is a tenth; None where none is asked for."""
    if percent is None:
        return None
    try:
        share = float(percent) / 100
    except ValueError:
        share = -1.0
    if not 0 < share < 100:
        raise UserError(f"--limit {percent}: a percentage above 0 is wanted, such as 10")
    return share


def find_baseline(
    house: House,
    asked: str,
    limit: str | None,
    storage: str,
    finally_do: Callable[[Callable[[], None]], object],
) -> Baseline:
    """The baseline a person asked for; whatever it puts on the disk is taken away in the end."""
    share = share_of(limit)
    if asked in ("reference", "torch"):
        return Baseline(asked, share)
    run = find_run(storage, asked)
    commit = None if run else commit_of(house.root, asked)
    if run is None and commit is None:
        raise UserError(_unknown(asked, storage))
    folder = Path(tempfile.mkdtemp(prefix="dojo-"))
    finally_do(lambda: shutil.rmtree(folder, ignore_errors=True))
    if run is not None:
        then, label = run.unpack(folder), run.label
    else:
        assert commit is not None
        then, take_away = check_out(house.root, commit, folder / "tree")
        finally_do(take_away)  # what is asked for last is done first
        label = asked
    codes = {name: Code(house, then.root / name, then) for name in OURS}
    return Baseline(label, BETWEEN_REVISIONS if share is None else share, codes, run)


def _unknown(asked: str, storage: str) -> str:
    numbers = [run.number for run in saved_runs(storage)]
    known = f"a saved run ({numbers[0]} to {numbers[-1]})" if numbers else "a saved run (none yet)"
    return f"--against {asked}: give `reference`, `torch`, {known} or a git revision"
