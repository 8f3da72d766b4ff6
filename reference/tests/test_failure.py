"""What a red step says, word for word: evidence, the slip if known, and where to go."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from specs.harness.exam import Case, Exam
from specs.harness.failure import (
    BROKEN,
    NOT_STARTED,
    WRONG,
    Red,
    Verdict,
    brief,
    in_one_line,
    labelled,
    sentence_of,
)
from specs.harness.report import verdict_on
from specs.harness.steps import House

ATTENTION = '''\
from __future__ import annotations

import torch
from torch import Tensor


def scaled_dot_product_attention(
    queries: Tensor, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Mix the values, each weighted by how well its key matches the query."""
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights
'''
ATTENTION_SPEC = """\
from math import log

import torch
from kata.part03_attention import scaled_dot_product_attention
from specs.harness.check import assert_close

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])


def test_two_keys_by_hand():
    output, _ = scaled_dot_product_attention(QUERY, KEYS, VALUES)
    assert_close(output, expected=[[3.0, 2.0]])
"""
ATTENTION_MISTAKE = '''\
def no_scale(queries, keys, values):
    """The scores are not divided by sqrt(d_k)."""
    weights = (queries @ keys.mT).softmax(-1)
    return weights @ values, weights
'''
UNSCALED = ATTENTION.replace(" / queries.shape[-1] ** 0.5", "")

HALVE = '''\
def halve(number):
    """Cut a number in two."""
    return number / 2
'''
HALVE_SPEC = '''\
from kata.part03_sums import halve
from specs.harness.check import assert_equal, rejects


def test_two_become_one():
    """Two, cut in two, are one and one."""
    assert_equal(halve(2), expected=1.0)


def test_four_become_two():
    """And twice as many twice as many."""
    assert_equal(halve(4), expected=2.0)


def test_nothing_stays_nothing():
    """0 ÷ 2 = 0."""
    assert halve(0) == 0, "nothing became something"
'''
BACKWARD_SPEC = """\
import torch
from kata.part03_sums import halve


def test_gradient_of_a_half():
    halve(torch.ones(2, requires_grad=True)).sum().backward()
"""
BACKWARD_KATA = """\
import torch


class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, number):
        return number / 2

    @staticmethod
    def backward(ctx, gradient):
        raise IndexError("no way back")


def halve(number):
    return Half.apply(number)
"""
HALVE_MISTAKES = '''\
def subtracts_two(number):
    """Two is taken away."""
    return number - 2.0


def takes_nothing(number):
    """The number is only turned into nothing."""
    return 0.0


def turned_round(number):
    """The sign is turned round as well."""
    return -number / 2


def wrong_error(number):
    """The number is looked up."""
    return {}[number]
'''


def house_of(root: Path, name: str, module: str, **files: str) -> House:
    """A house with one step, 022: its reference, spec, mistakes and the learner's file."""
    places = {
        "reference": f"reference/{module}.py",
        "spec": f"specs/part03/test_022_{name}.py",
        "mistakes": f"reference/mistakes/part03/022_{name}.py",
        "kata": f"kata/{module}.py",
    }
    for kind, place in places.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[kind], "utf-8")
    return House(root)


def verdict_of(house: House) -> Verdict:
    """The verdict on the learner's step 022: its first red test, or green."""
    step = house.find("22")
    exam = Exam(house, house.kata, step)
    names: dict[str, Any] = {"__name__": "the spec"}
    with exam.spec_import():
        exec(compile(step.spec.read_bytes(), str(step.spec), "exec"), names)
    exam.cases = [Case(name, names[name], {}) for name in names if name.startswith("test_")]
    for case in exam.cases:
        try:
            exam.run(case)
        except Red as red:
            return verdict_on(exam, case, red, exam.looks_like(case, red))
    return Verdict(22, "green")


def halved(root: Path, body: str, spec: str = HALVE_SPEC) -> Verdict:
    """The verdict on a way to write ``halve``."""
    kata = dedent(f"def halve(number):\n    {body}\n")
    house = house_of(
        *(root, "halve", "part03_sums"),
        reference=HALVE,
        spec=spec,
        mistakes=HALVE_MISTAKES,
        kata=kata,
    )
    return verdict_of(house)


def rows(verdict: Verdict) -> dict[str, str]:
    """The labelled lines of a failure."""
    return {line[2:12].rstrip(): line[14:] for line in verdict.lines[1:]}


def test_failure_reads_as_it_was_designed(tmp_path: Path) -> None:
    """Got and wanted, where they differ, the slip, then what to read, edit and run."""
    where = ATTENTION.splitlines().index("def scaled_dot_product_attention(") + 1
    house = house_of(
        *(tmp_path, "scaled_dot_product_attention", "part03_attention"),
        reference=ATTENTION,
        spec=ATTENTION_SPEC,
        mistakes=ATTENTION_MISTAKE,
        kata=UNSCALED.replace("import torch\n", "import torch\n" + "\n" * (118 - where)),
    )
    assert "\n".join(verdict_of(house).lines) == dedent("""\
        022 scaled_dot_product_attention: two keys by hand
          yours       [[3.6, 0.8]]
          expected    [[3.0, 2.0]]
          differ      2 of 2 values, the first at [0, 0]
          looks like  The scores are not divided by sqrt(d_k).
          lesson      pytest --lesson 22
          edit        kata/part03_attention.py:118
          again       pytest -k 022""")


def test_rule_is_what_the_test_s_docstring_says(tmp_path: Path) -> None:
    """A test with a docstring lends its arithmetic to the failure."""
    verdict = halved(tmp_path, "return number * 2.0")
    assert "\n".join(verdict.lines) == dedent("""\
        022 halve: two become one
          yours       4.0
          expected    1.0
          rule        Two, cut in two, are one and one.
          lesson      pytest --lesson 22
          edit        kata/part03_sums.py:1
          again       pytest -k 022""")
    assert verdict.brief == "two become one: yours 4.0, expected 1.0"


def test_stub_is_told_as_not_started(tmp_path: Path) -> None:
    """No evidence, no slip: only where to go."""
    verdict = halved(tmp_path, 'raise NotImplementedError("step 022: write halve")')
    assert verdict.state == NOT_STARTED
    assert "\n".join(verdict.lines) == dedent("""\
        022 halve: not started
          lesson      pytest --lesson 22
          edit        kata/part03_sums.py:1
          again       pytest -k 022""")


def test_error_of_the_learner_s_shows_its_line(tmp_path: Path) -> None:
    """What was raised, and the learner's own line that it came through."""
    verdict = halved(tmp_path, "half = 0\n    return number / half")
    assert rows(verdict)["raised"] == "ZeroDivisionError: division by zero"
    assert rows(verdict)["at"] == "kata/part03_sums.py:3  return number / half"
    assert verdict.brief == "two become one: raised ZeroDivisionError: division by zero"


def test_error_in_the_learner_s_backward_pass_is_the_learner_s(tmp_path: Path) -> None:
    """It comes up when the spec sends a gradient back, and is not the spec's fault."""
    house = house_of(
        *(tmp_path, "halve", "part03_sums"),
        reference=HALVE,
        spec=BACKWARD_SPEC,
        mistakes="",
        kata=BACKWARD_KATA,
    )
    shown = rows(verdict_of(house))
    assert shown["raised"] == "IndexError: no way back"
    assert shown["at"] == 'kata/part03_sums.py:11  raise IndexError("no way back")'


def test_file_that_cannot_be_read_is_broken(tmp_path: Path) -> None:
    """One line says why, and no test is blamed."""
    verdict = halved(tmp_path, "return number /")
    assert (verdict.state, verdict.lines[0]) == (BROKEN, "022 halve: broken")
    assert list(rows(verdict)) == ["broken", "lesson", "edit", "again"]


def test_endless_recursion_is_broken_without_a_rule(tmp_path: Path) -> None:
    """The arithmetic would not help."""
    verdict = halved(tmp_path, "return halve(number)")
    assert rows(verdict)["broken"] == "It calls itself without end."
    assert "rule" not in rows(verdict)


def test_plain_assertion_of_a_spec_tells_its_message(tmp_path: Path) -> None:
    """Not the expression that pytest would show."""
    verdict = halved(tmp_path, "return number / 2 or float('nan')")
    assert rows(verdict)["wrong"] == "nothing became something"
    assert verdict.brief == "nothing stays nothing: nothing became something"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return -0.5 * number", "The sign is turned round as well."),
        ("return number - 2.0", "Two is taken away."),
        ("return 0.0 * number", "The number is only turned into nothing."),
        ("return {}[number]", "The number is looked up."),
        ("return 3.0", None),
        ("return 0", None),
        ("return -1", None),
        ("return number + 1e-3 - 2.0", None),
        ("raise KeyError('two')", None),
        ("return None", None),
        ("return [0.0]", None),
    ],
    ids=[
        *("one mistake", "first of two", "second of two", "same error"),
        *("none", "another type", "another type again", "nearly", "another error", "None", "list"),
    ],
)
def test_slip_is_told_only_if_a_mistake_gives_this_very_answer(
    tmp_path: Path, body: str, sentence: str | None
) -> None:
    """2 − 2 and 0 are one answer to the first test; what they give for 4 decides between them."""
    assert rows(halved(tmp_path, body)).get("looks like") == sentence


def test_first_of_two_equal_mistakes_is_told(tmp_path: Path) -> None:
    """Where every case gives the same, their order decides."""
    spec = HALVE_SPEC[: HALVE_SPEC.index("def test_four")]
    assert rows(halved(tmp_path, "return 0.0", spec))["looks like"] == "Two is taken away."


MORE_CASES = """

def test_six_become_three():
    assert_equal(halve(6), expected=3.0)
"""


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return -0.5 * number if number == 2 else 0.5 * number", None),
        ("return -0.5 * number if number < 5 else 3.0", "The sign is turned round as well."),
        ("return -0.5 * number if number == 2 else 7.0", "The sign is turned round as well."),
    ],
    ids=["one of three", "two of three", "another slip besides"],
)
def test_slip_is_told_only_if_it_bears_out(tmp_path: Path, body: str, sentence: str | None) -> None:
    """A mistake that goes wrong in three cases is not the slip of who goes wrong in one only."""
    assert rows(halved(tmp_path, body, HALVE_SPEC + MORE_CASES)).get("looks like") == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_two_keys_by_hand", "two keys by hand"),
        ("test_equals_torch[batch1-length7]", "equals torch (batch1-length7)"),
        ("test_mask[x[0]]", "mask (x[0])"),
        ("two_keys", "two keys"),
        ("test_test_is_a_word", "test is a word"),
    ],
)
def test_name_of_a_test_is_read_as_a_sentence(name: str, sentence: str) -> None:
    """Its case, if it has one, stands in brackets."""
    assert sentence_of(name) == sentence


@pytest.mark.parametrize(
    ("red", "line"),
    [
        (
            Red("values", rows=[("yours", "1"), ("expected", "2"), ("differ", "a lot")]),
            "yours 1, expected 2",
        ),
        (Red("raised", rows=[("raised", "KeyError: 'cat'")]), "raised KeyError: 'cat'"),
        (Red("device", "It lies elsewhere.", rows=[("yours", "on cpu")]), "It lies elsewhere."),
        (Red("loop"), "loop"),
    ],
    ids=["both sides", "error", "sentence", "kind"],
)
def test_brief_line_is_the_heart_of_a_failure(red: Red, line: str) -> None:
    """Its sentence, or both sides, or at least the kind of check."""
    assert brief(red) == line


def test_labels_stand_in_a_column() -> None:
    """The longest, *looks like*, is ten letters wide."""
    assert labelled([("yours", "1"), ("looks like", "2")]) == ["  yours       1", "  looks like  2"]


def test_red_is_never_green() -> None:
    """Whatever state it is given."""
    states = [Red("values", state=state).state for state in (NOT_STARTED, BROKEN, "green", "")]
    assert states == [NOT_STARTED, BROKEN, WRONG, WRONG]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("got 3\nand more"), "ValueError: got 3"),
        (KeyError("cat"), "KeyError: 'cat'"),
        (StopIteration(), "StopIteration: "),
    ],
    ids=["first line", "key", "no message"],
)
def test_error_is_told_in_one_line(error: Exception, line: str) -> None:
    """As the last line of a traceback does."""
    assert in_one_line(error) == line
