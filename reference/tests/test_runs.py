"""Whole runs of pytest: exit codes tell the truth, and no code of the learner's ends the run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent
from xml.etree import ElementTree

import pytest

from reference.tests.tiny_kata import (
    COUNTS,
    MIXING,
    Ended,
    Files,
    build,
    cases,
    run_pytest,
    write,
)
from specs.harness.steps import House

Run = Callable[..., Ended]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has neither fork nor alarms")

OTHERS = """
def quadruple(number): return double(double(number))
def countdown(number): return [number, *countdown(number - 1)] if number else []
"""
RIGHT: Files = {COUNTS: "def double(number): return number + number" + OTHERS}
WRONG: Files = {COUNTS: "def double(number): return number * 3" + OTHERS}


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A tiny kata of the test's own, its steps stubs."""
    return build(tmp_path)


@pytest.fixture
def run(house: House) -> Run:
    """Write the learner's files and run pytest."""

    def written(files: Files, *args: str, **options: str | tuple[str, ...]) -> Ended:
        write(house.kata, files)
        return run_pytest(house, *args, **options)  # type: ignore[arg-type]

    return written


def body(code: str) -> Files:
    """Step 001 with this body, the other steps right."""
    return {COUNTS: "def double(n):\n" + indent(dedent(code), "    ") + OTHERS}


FATAL = {
    "SIGKILL": ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    "C's own exit": ("import ctypes; ctypes.CDLL(None)._exit(0)", "with exit status 0"),
    "a closed pipe": ("import os; os.closerange(3, 99); return 2 * n", "with exit status 1"),
    "a blocked alarm": (
        """\
        import signal, time
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(60)
        """,
        "could not be stopped",
    ),
}


@cases(FATAL)
def test_step_that_ends_the_process_is_broken_and_the_others_run(
    run: Run, code: str, says: str
) -> None:
    """The run begins again without the step: 002 and 003 are green."""
    ended = run(body(code), "specs/part01")
    assert ended.status == 1
    assert says in ended.output
    assert "! 001 double     broken" in ended.output
    assert "Part 1 · Counts  2/3" in ended.output
    assert "Traceback" not in ended.output + ended.errors


def test_crash_names_the_line(run: Run) -> None:
    """The line is the learner's own, 2 of the file."""
    ended = run(body("import ctypes; ctypes.string_at(0)"), "specs/part01")
    assert "edit        kata/part01_counts.py:2" in ended.output


def test_crash_while_a_file_is_loaded_leaves_the_other_parts(run: Run) -> None:
    """A loop in C at import cannot be stopped: part 1 is broken, part 2 as it was."""
    ended = run({COUNTS: "\nsum(range(10**12))"}, "specs")
    assert ended.status == 1
    assert "part01_counts.py cannot be loaded: it could not be stopped" in ended.output
    assert "kata/part01_counts.py:2" in ended.output
    assert "!!!ooo" in ended.output


def test_first_failure_is_enough_if_so_asked(run: Run) -> None:
    """With ``-x`` the run is not begun again, and says what it left out."""
    ended = run(body("import os; os.kill(os.getpid(), 9)"), "specs/part01", "-x")
    assert ended.status == 1
    assert "killed by SIGKILL" in ended.output
    assert "not run: 002–003" in ended.output


def test_goodbye_at_exit_changes_nothing(run: Run) -> None:
    """``atexit`` comes too late to make a wrong run right."""
    code = "import atexit, os; atexit.register(os._exit, 0); return 3 * n"
    ended = run(body(code), "specs/part01")
    assert ended.status == 1
    assert "x 001 double     wrong" in ended.output
    assert ended.errors == ""


def test_word_of_the_child_is_not_taken(run: Run) -> None:
    """A child that says that all went well, and was heard of no step."""
    code = """\
        import os
        from specs.harness import supervisor
        supervisor.line.send("finished", 0)
        os.kill(os.getpid(), 9)
        """
    ended = run(body(code), "specs/part01")
    assert ended.status == 1
    assert "not green: 001–003" in ended.output


def test_thread_left_behind_keeps_nobody_waiting(run: Run) -> None:
    """It is told, and the process that it keeps alive is ended."""
    code = "import threading, time; threading.Thread(target=time.sleep, args=[99]).start()"
    ended = run(body(f"{code}; return 2 * n"), "specs/part01")
    assert ended.status == 1
    assert "It left a thread running." in ended.output


def test_what_was_printed_on_the_way_is_shown(run: Run) -> None:
    """For who looks for a mistake that way; of many lines the first."""
    ended = run(body("for line in range(50): print('line', line)\nreturn 3 * n"), "specs/part01")
    assert "printed     line 0\n              line 1\n" in ended.output
    assert "… and 42 lines more" in ended.output


def test_what_a_green_step_prints_is_not(run: Run) -> None:
    """It would only be in the way."""
    ended = run(body("print('hello'); return 2 * n"), "specs/part01")
    assert ended.status == 0
    assert "hello" not in ended.output


def test_fork_of_the_learners_prints_nothing_twice(run: Run) -> None:
    """The child that comes back from the step ends there."""
    ended = run(body("import os; os.fork(); return 2 * n"), "specs/part01")
    assert ended.status == 0
    assert ended.output.count("Part 1") == 1


def test_interrupt_by_a_person_ends_the_run(run: Run) -> None:
    """Ctrl-C is heard even where the learner's code swallows it."""
    code = """\
        import os, signal
        try: os.kill(os.getpid(), signal.SIGINT)
        except BaseException: pass
        return 2 * n
        """
    ended = run(body(code), "specs/part01")
    assert ended.status == 2
    assert "KeyboardInterrupt" in ended.output


def test_own_file_that_cannot_be_loaded_stops_no_other_part(run: Run) -> None:
    """``--own`` with a slip in part 2, and part 1 as far as it is written."""
    ended = run(RIGHT | {MIXING: "def amplify(:"}, "specs", "--own")
    assert ended.status == 1
    assert "part02_mixing.py:1: invalid syntax" in ended.output
    assert "...." in ended.output
    assert "Traceback" not in ended.output + ended.errors


def test_run_that_is_stopped_from_outside_blames_no_step(run: Run) -> None:
    """Whoever ran it was told to end by somebody else: that is said, and what was not run."""
    ended = run(body("import os, time; os.kill(os.getppid(), 15); time.sleep(9)"), "specs/part01")
    assert ended.status == 2
    assert "stopped by SIGTERM" in ended.output
    assert "not run: 001–003" in ended.output
    assert "broken" not in ended.output


def test_capstone_that_is_killed_blames_no_step(run: Run, house: House) -> None:
    """All steps are loaded and none is under test: the last one loaded is not to blame."""
    capstone = house.root / "specs" / "capstone"
    capstone.mkdir()
    killed = "def test_training():\n    import os\n    os.kill(os.getpid(), 9)\n"
    (capstone / "test_training.py").write_text(killed, encoding="utf-8")
    ended = run({}, "specs/capstone", "--impl", "reference")
    assert ended.status == 1
    assert "The run ended its own process: killed by SIGKILL." in ended.output
    assert "broken" not in ended.output


def test_just_the_step_that_was_written_turns_green(run: Run) -> None:
    """002 is right while 001, which it calls, is still a stub."""
    stub = 'def double(n):\n    raise NotImplementedError("step 001: write double")\n'
    ended = run({COUNTS: stub + "def quadruple(n): return double(double(n))"}, "specs/part01")
    assert ended.status == 1
    assert "o 001 double     not started" in ended.output
    assert ". 002 quadruple  green" in ended.output


def test_syntax_error_in_one_part_leaves_the_other(run: Run) -> None:
    """Part 1 is broken in one line, and step 006, which calls 001, is green."""
    amplify = "from kata.part01_counts import double\ndef amplify(v, n): return v * double(n)"
    ended = run({COUNTS: "def double(n:\n", MIXING: amplify}, "specs")
    assert ended.status == 1
    assert "!!!!!." in ended.output
    assert ended.output.count("kata/part01_counts.py:1: ") == 1


RUNS: dict[str, tuple[Files, list[str], int, str]] = {
    "all right": (RIGHT, ["specs/part01"], 0, "every step is green"),
    "one wrong": (WRONG, ["specs/part01"], 1, "x 001 double     wrong"),
    "stubs": ({}, ["specs"], 1, "6 not started"),
    "nothing given": ({}, [], 1, "6 not started"),
    "stop at the first": (WRONG, ["specs/part01", "-x"], 1, "1 wrong in"),
    "a number": (WRONG, ["-k", "002"], 0, "1 passed"),
    "a name": (WRONG, ["-k", "double"], 1, "1 passed, 5 deselected, 1 wrong"),
    "a test's name": (WRONG, ["-k", "two_and_two"], 1, "1 wrong"),
    "a file": (WRONG, ["specs/part01/test_002_quadruple.py"], 0, "1 passed"),
    "a node": (WRONG, ["specs/part01/test_001_double.py::test_two_and_two"], 1, "1 wrong"),
    "the learner's file": (WRONG, ["kata/part01_counts.py"], 1, "x 001 double     wrong"),
    "the learner's folder": ({}, ["kata"], 1, "6 not started"),
    "a stub's node": ({}, ["specs/part01/test_001_double.py::test_two_and_two"], 1, "not started"),
    "a missing node": (WRONG, ["specs/part01/test_001_double.py::test_three"], 4, "no tests ran"),
    "a missing file": (WRONG, ["specs/part09"], 4, "no tests ran"),
    "nothing chosen": (WRONG, ["-k", "zzz"], 5, "deselected"),
    "names only": ({}, ["specs/part01", "--collect-only"], 0, "::test_two_and_two"),
    "no cache": (WRONG, ["specs/part01", "-p", "no:cacheprovider"], 1, "2/3  10 XP"),
    "no terminal": (WRONG, ["specs/part01", "-p", "no:terminal"], 1, ""),
    "no terminal, all right": (RIGHT, ["specs/part01", "-p", "no:terminal"], 0, ""),
    "colour": (WRONG, ["specs/part01", "--color=yes"], 1, "\x1b[31mx"),
    "no colour": (WRONG, ["specs/part01", "--color=no"], 1, "x..."),
    "many words": (WRONG, ["specs/part01", "-vv"], 1, "::test_two_and_two WRONG"),
    "own": (WRONG, ["specs/part01", "--own"], 1, "yours 27, expected 12"),
    "the reference": ({}, ["specs/part01", "--impl", "reference"], 0, "4 passed"),
    "no such folder": ({}, ["specs/part01", "--impl", "nowhere"], 4, ""),
}


@pytest.mark.parametrize(("files", "args", "status", "says"), RUNS.values(), ids=RUNS)
def test_exit_status_and_words(
    run: Run, files: Files, args: list[str], status: int, says: str
) -> None:
    """0 only where every chosen step is green, and no traceback for a slip."""
    ended = run(files, *args)
    assert ended.status == status, ended.output + ended.errors
    assert says in ended.output
    assert "Traceback" not in ended.output + ended.errors


def test_listing_names_runs_no_code_of_the_learners(run: Run) -> None:
    """An editor that looks for tests is not ended by what it finds."""
    ended = run({COUNTS: "import os\nos.kill(os.getpid(), 9)"}, "specs/part01", "--collect-only")
    assert ended.status == 0
    assert "::test_two_and_two" in ended.output


def test_number_without_a_step_is_told(run: Run) -> None:
    """One line, which says what numbers there are."""
    ended = run(WRONG, "-k", "222")
    assert ended.status == 4
    assert "there is no step '222': steps run from 001 to 006" in ended.errors


FOLDERS = {
    "specs/part01": [],
    "specs/part02": ["../../kata/part01_counts.py"],
    "kata": ["-k", "001"],
    "specs": ["part01"],
    "reference": ["../specs/part01"],
}


@pytest.mark.parametrize(("folder", "args"), FOLDERS.items(), ids=FOLDERS)
def test_run_from_another_folder(run: Run, folder: str, args: list[str]) -> None:
    """Wherever the learner stands."""
    ended = run(WRONG, *args, folder=folder)
    assert ended.status == 1
    assert "yours       6" in ended.output


def test_run_by_absolute_path(house: House, run: Run) -> None:
    """From a folder that is no part of the kata."""
    ended = run(WRONG, str(house.root / "specs" / "part01"), folder="/")
    assert ended.status == 1
    assert "yours       6" in ended.output


def test_last_failed_alone(run: Run) -> None:
    """The second run leaves out what was green in the first."""
    run(WRONG, "specs/part01")
    ended = run(WRONG, "specs/part01", "--lf")
    assert ended.status == 1
    assert "1 wrong" in ended.output
    assert "passed" not in ended.output


def test_junit_report_counts_every_red_as_a_failure(house: House, run: Run) -> None:
    """One wrong test of 001 and the right others."""
    run(WRONG, "specs/part01", "--junitxml=report.xml")
    (suite,) = ElementTree.parse(house.root / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "0")


def test_folder_of_somebody_elses(house: House, run: Run) -> None:
    """``--impl FOLDER`` runs that kata, and shows no board of it."""
    (house.root / "theirs").mkdir()
    write(house.root / "theirs", WRONG)
    ended = run({}, "specs/part01", "--impl", "theirs")
    assert ended.status == 1
    assert "yours       6" in ended.output
    assert "theirs/part01_counts.py" in ended.output
    assert "XP" not in ended.output


def test_workers_tell_the_same(run: Run) -> None:
    """With pytest-xdist the verdicts come together in one board."""
    pytest.importorskip("xdist")
    ended = run(WRONG, "specs/part01", "-n", "2", plugins=("xdist",))
    assert ended.status == 1
    assert "yours       6" in ended.output
    assert "Part 1 · Counts  2/3  10 XP" in ended.output


def test_worker_that_crashes_names_the_step(run: Run) -> None:
    """What came to no verdict is broken."""
    pytest.importorskip("xdist")
    fatal = body("import os; os.kill(os.getpid(), 9)")
    ended = run(fatal, "specs/part01", "-n", "1", plugins=("xdist",))
    assert ended.status == 1
    assert "! 001 double     broken" in ended.output
    assert "Part 1 · Counts  2/3" in ended.output
