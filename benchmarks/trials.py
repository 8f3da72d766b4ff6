"""Puts the verdict to the test: the same code against itself, and a slowdown planted in one step.

    python -m benchmarks.trials --runs 20 --burners 2

In a copy of the repository, its kata the reference's text, while other processes want the cores.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
BURN = "while True: sum(range(100_000))"
PLANTED = "reference/part03_attention.py"
PLANT = """

def _slowed(function, share=0.10):
    from time import perf_counter

    def slow(*args, **kwargs):
        start = perf_counter()
        answer = function(*args, **kwargs)
        end = perf_counter() + share * (perf_counter() - start)
        while perf_counter() < end:
            pass
        return answer

    return slow


scaled_dot_product_attention = _slowed(scaled_dot_product_attention)
"""
ROW = ["-k", "scaled_dot_product and 128 and not backward"]
VERDICT = re.compile(r"\d+ of \d+ rows are slower.*")


def main() -> None:
    """Run both trials and print both counts."""
    parser = argparse.ArgumentParser(description="put the benchmarks' verdict to the test")
    parser.add_argument("--runs", type=int, default=20, help="of each trial")
    parser.add_argument("--burners", type=int, default=2, help="processes that keep cores busy")
    parser.add_argument("--full", action="store_true", help="every size, not only the quick ones")
    parser.add_argument("-k", dest="keyword", help="of the first trial, only these rows")
    asked = parser.parse_args()
    with _copy() as root, _burning(asked.burners):
        words = [] if asked.full else ["--quick"]
        chosen = ["-k", asked.keyword] if asked.keyword else []
        failed = _runs("the same code", root, asked.runs, [*words, *chosen])
        with (root / PLANTED).open("a", encoding="utf-8") as file:
            file.write(PLANT)
        caught = _runs("10 % planted", root, asked.runs, [*words, *ROW])
    print(f"the same code against itself: {failed} of {asked.runs} runs failed")
    print(f"10 % planted in step 022: caught in {caught} of {asked.runs} runs")


def _runs(label: str, root: Path, runs: int, words: Sequence[str]) -> int:
    """Run the benchmarks again and again; returns how many of the runs failed."""
    failed = 0
    for number in range(1, runs + 1):
        start = time.monotonic()
        status, told = _pytest(root, ["--against", "HEAD", *words])
        if status not in (0, 1):
            raise SystemExit(told)  # neither green nor red: the trial itself is at fault
        failed += status
        verdict = VERDICT.search(told)
        load, took = os.getloadavg()[0], time.monotonic() - start
        print(f"{label}, run {number}: {verdict[0] if verdict else told}")
        print(f"    load {load:.1f}, {took:.0f} s", *_slower(told), sep="\n    ", flush=True)
    return failed


def _slower(told: str) -> list[str]:
    """The lines that say what is slower."""
    return [line.removeprefix("E").strip() for line in told.splitlines() if "times as long" in line]


def _pytest(root: Path, words: Sequence[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "benchmarks", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@contextmanager
def _copy() -> Iterator[Path]:
    """The repository as it stands, solved and committed, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="dojo-trials-") as folder:
        root = Path(folder)
        listed = _git(HOUSE, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            if (HOUSE / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(HOUSE / name, root / name)
        for part in (root / "reference").glob("part*.py"):
            shutil.copy(part, root / "kata")
        _git(root, "init", "--quiet")
        _git(root, "add", "--all")
        who = ("-c", "user.name=trials", "-c", "user.email=trials@localhost")
        _git(root, *who, "commit", "--quiet", "--message", "as it stands")
        yield root


def _git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout


@contextmanager
def _burning(count: int) -> Iterator[None]:
    """Keep some cores busy meanwhile."""
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


if __name__ == "__main__":
    main()
