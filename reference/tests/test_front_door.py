"""The kata as a newcomer meets it: a copy of the repository, real runs, real output."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reference.tests.laws import HOUSE
from specs.harness.stubs import make_stubs

RIGHT_001 = """
    if min_frequency < 1:
        raise ValueError(f"min_frequency must be at least 1, got {min_frequency}")
    if len(set(special_tokens)) < len(special_tokens):
        raise ValueError(f"special tokens must differ, got {special_tokens}")
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [token for token in counts if counts[token] >= min_frequency]
    words = [token for token in words if token not in special_tokens]
    words.sort(key=lambda token: (-counts[token], token))
    return {token: i for i, token in enumerate([*special_tokens, *words])}
"""
RIGHT_022 = """
    scores = compute_raw_attention_scores(queries, keys)
    scores = scale_attention_scores(scores, keys.shape[-1])
    weights = softmax_attention_weights(mask_attention_scores_with_neg_inf(scores, mask))
    return apply_attention_weights_to_values(weights, values), weights
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the repository with fresh stubs, whatever this one's kata holds."""
    root = tmp_path / "dojo"
    root.mkdir()
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(HOUSE.root / name, root)
    for name in ("specs", "reference"):
        shutil.copytree(
            HOUSE.root / name, root / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    (root / "kata").mkdir()
    for name in ("__init__.py", "weights.py"):
        shutil.copy(HOUSE.kata / name, root / "kata")
    for module in HOUSE.modules.values():
        text = (HOUSE.reference / f"{module}.py").read_text("utf-8")
        (root / "kata" / f"{module}.py").write_text(
            make_stubs(text, HOUSE.in_module(module)), "utf-8"
        )
    return root


@pytest.fixture
def without_torch(tmp_path: Path) -> dict[str, str]:
    """An environment in which whoever imports torch or NumPy fails."""
    for name in ("torch", "numpy"):
        (tmp_path / "none" / name).mkdir(parents=True)
        (tmp_path / "none" / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    return {"PYTHONPATH": str(tmp_path / "none")}


def run(root: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the copy, as a person would."""
    command = [sys.executable, "-m", "pytest", *args]
    env = {**os.environ, "COLUMNS": "100", "PY_COLORS": "0", **environment}
    return subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def write(root: Path, file: str, step: str, body: str) -> None:
    """Write a step's body into the copy's kata."""
    path = root / "kata" / file
    stub = f'\n    raise NotImplementedError("step {step}")\n'
    text = path.read_text("utf-8")
    assert stub in text
    path.write_text(text.replace(stub, body), "utf-8")


def test_first_run_names_the_first_step(clone: Path, without_torch: dict[str, str]) -> None:
    """A fresh clone ends in red, without waiting for torch, and the board names step 001 next."""
    result = run(clone, "specs/part01", **without_torch)
    assert result.returncode == 1
    assert "next  001 build_vocabulary" in result.stdout
    assert "6 not started" in result.stdout


def test_all_stubs_fit_on_two_screens(clone: Path) -> None:
    """Every step is told as not started, in at most 80 lines."""
    result = run(clone, "specs")
    assert result.returncode == 1
    assert f"{len(HOUSE.steps)} not started" in result.stdout
    assert len(result.stdout.splitlines()) <= 80
    assert result.stderr == ""


def test_first_step_solved(clone: Path, without_torch: dict[str, str]) -> None:
    """Writing 001 right turns just 001 green."""
    write(clone, "part01_tokens.py", "001: write build_vocabulary", RIGHT_001)
    result = run(clone, "specs/part01", **without_torch)
    assert ". 001 build_vocabulary" in result.stdout
    assert "1/6  5 XP" in result.stdout
    assert "next  002 encode_tokens_to_ids" in result.stdout
    assert result.returncode == 1


def test_later_step_alone(clone: Path) -> None:
    """Writing 022 right while 014 to 021 are stubs turns 022 green: exit status 0."""
    write(clone, "part03_attention.py", "022: write scaled_dot_product_attention", RIGHT_022)
    result = run(clone, "-k", "022")
    assert result.returncode == 0, result.stdout
    assert "passed" in result.stdout
    again = run(clone, "-k", "022", "--own")
    assert again.returncode == 1
    assert "step 017 is not started" in again.stdout


def test_syntax_error_stays_in_its_part(clone: Path) -> None:
    """A slip in part 1's file is one line for that part; part 3's results are as they were."""
    write(clone, "part03_attention.py", "022: write scaled_dot_product_attention", RIGHT_022)
    (clone / "kata" / "part01_tokens.py").write_text("def build_vocabulary(:\n", "utf-8")
    result = run(clone, "specs/part01", "specs/part03")
    assert "kata/part01_tokens.py:1: " in result.stdout
    assert "6 broken" in result.stdout
    assert "8 not started" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--board"], "next  001 build_vocabulary"),
        (["--lesson", "22"], "022 · scaled_dot_product_attention"),
        (["--lesson", "scaled_dot_product_attention"], "022 · scaled_dot_product_attention"),
        (["--hint", "22"], "Hint 1 of 3"),
        (["--reset", "22"], "022 scaled_dot_product_attention is the stub already"),
        (["--reset", "part03"], "holds its 9 stubs already"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_printing_needs_no_torch(
    clone: Path, without_torch: dict[str, str], args: list[str], said: str
) -> None:
    """What only prints answers at once."""
    result = run(clone, *args, **without_torch)
    assert result.returncode == 0
    assert said in result.stdout


def test_shapes_are_traced_through_stubs(clone: Path) -> None:
    """The calls inside a step stand below it, their sizes named; stubs give way."""
    result = run(clone, "--shapes", "22")
    first, *rest = result.stdout.splitlines()
    assert first.startswith("scaled_dot_product_attention  queries (batch ")
    assert any(line.startswith("  compute_raw_attention_scores  queries (") for line in rest)
    assert "(the reference's steps)" in rest
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--lesson", "999"], "there is no step '999': steps run from 001"),
        (["--hint", "soon"], "there is no step 'soon'"),
        (["--reset", "part99"], "there is no part 'part99'"),
        (["--solution", "22"], "3 hints are left (pytest --hint 22)"),
        (["--impl", "nowhere"], "--impl nowhere: there is no such folder"),
        (["--impl", "specs"], "--impl specs: no kata in that folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_slip_in_a_command_is_one_line(clone: Path, args: list[str], said: str) -> None:
    """An unknown step, part or folder is told in a line that says what to do, and no traceback."""
    result = run(clone, *args)
    assert result.returncode == 4
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_hints_lead_to_the_solution(clone: Path) -> None:
    """Each call gives one hint more; after the last the solution is shown."""
    hints = [run(clone, "--hint", "18").stdout for _ in range(3)]
    assert ["Hint 1 of 3" in hints[0], "Hint 2 of 3" in hints[1], "Hint 3 of 3" in hints[2]] == [
        True
    ] * 3
    result = run(clone, "--solution", "18")
    assert result.returncode == 0
    assert "def scale_attention_scores" in result.stdout


def test_reset_keeps_what_was_written(clone: Path) -> None:
    """The stub is back, and the printed path leads to what was there before."""
    write(clone, "part03_attention.py", "022: write scaled_dot_product_attention", RIGHT_022)
    result = run(clone, "--reset", "22")
    kept = clone / result.stdout.split(" is kept in ")[1].strip()
    assert RIGHT_022 in kept.read_text("utf-8")
    assert "022: write" in (clone / "kata" / "part03_attention.py").read_text("utf-8")


def test_board_forgets_a_green_that_was_changed(clone: Path) -> None:
    """XP counts for code that was run as it stands, not for what stood there once."""
    write(clone, "part01_tokens.py", "001: write build_vocabulary", RIGHT_001)
    run(clone, "-k", "001")
    assert "1/6" in run(clone, "--board").stdout
    path = clone / "kata" / "part01_tokens.py"
    path.write_text(path.read_text("utf-8").replace("-counts[token]", "counts[token]"), "utf-8")
    assert "0/6" in run(clone, "--board").stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="watching forks, where there is fork")
def test_watch_runs_again_on_save(clone: Path) -> None:
    """A save turns the next run green; Ctrl-C ends the watch without a traceback."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "specs/part01/test_001_build_vocabulary.py",
        "--watch",
    ]
    watching = subprocess.Popen(
        command, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = _until(watching, "Ctrl-C ends")
        assert "1 not started" in said
        write(clone, "part01_tokens.py", "001: write build_vocabulary", RIGHT_001)
        assert "passed" in _until(watching, "Ctrl-C ends")
        watching.send_signal(signal.SIGINT)
        rest, _ = watching.communicate(timeout=20)
        assert "Traceback" not in rest
        assert watching.returncode == 0
    finally:
        watching.kill()
        watching.wait()


def _until(process: subprocess.Popen[str], words: str) -> str:
    """Read what a process says until a line holds the words."""
    assert process.stdout is not None
    said, end = "", time.monotonic() + 60
    while words not in said and time.monotonic() < end:
        line = process.stdout.readline()
        assert line, f"it ended after saying: {said}"
        said += line
    return said
