"""What the tests of the laws share: every step's spec, ready to be run against any function."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from specs.harness.exam import Exam
from specs.harness.plugin import Spec
from specs.harness.steps import House, Step

HOUSE = House(Path(__file__).resolve().parents[2])
EACH_STEP = pytest.mark.parametrize("step", HOUSE.steps, ids=lambda step: f"{step.part}-{step.tag}")

_exams: dict[tuple[Step, str], Exam] = {}


def examination(request: pytest.FixtureRequest, step: Step, dtype: str = "float32") -> Exam:
    """The exam of a step, with the reference in the learner's place, made once."""
    import torch

    if (step, dtype) not in _exams:
        exam = Exam(HOUSE, HOUSE.reference, step)
        before = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, dtype))
        try:
            _collect(request, exam)
        finally:
            torch.set_default_dtype(before)
        _exams[step, dtype] = exam
    return _exams[step, dtype]


def _collect(request: pytest.FixtureRequest, exam: Exam) -> None:
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(exam.step.spec):
            del sys.modules[name]
    spec: Spec = Spec.from_parent(request.session, path=exam.step.spec)
    spec.step = exam.step
    spec.items_for(exam)
