"""The reference is asked once for each call; another call, however alike, is asked anew."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from specs.harness.guard import Guard
from specs.harness.judgement import Judgement, Judgements, same


def weight(gradient: float | None) -> Tensor:
    """A parameter of 1 with a gradient, or none."""
    parameter = torch.ones(1, requires_grad=True)
    parameter.grad = None if gradient is None else torch.tensor([gradient])
    return parameter


def drawn(seed: int) -> torch.Generator:
    """A generator in the state that a seed gives."""
    return torch.Generator().manual_seed(seed)


X = torch.tensor([1.0, 2.0])
ALIKE: dict[str, tuple[Any, Any]] = {
    "numbers": (3, 3),
    "words": (["a", "b"], ["a", "b"]),
    "nothing": (None, None),
    "tensors": (X, X.clone()),
    "gradients": (weight(2.0), weight(2.0)),
    "generators": (drawn(1), drawn(1)),
    "one tensor twice": ([X, X], [(y := X.clone()), y]),
}
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "numbers": (3, 4),
    "types": (1, True),
    "lengths": (["a"], ["a", "b"]),
    "containers' ways": ({"a": 1}, {"b": 1}),
    "values": (X, X + 1),
    "one value": (X, torch.tensor([1.0, 2.0000002])),
    "dtypes": (X, X.double()),
    "layouts": (torch.ones(2, 2), torch.ones(2, 2).T),
    "who needs a gradient": (X, X.clone().requires_grad_()),
    "gradients": (weight(2.0), weight(3.0)),
    "a gradient and none": (weight(2.0), weight(None)),
    "generators": (drawn(1), drawn(2)),
    "one tensor twice, and two": ([X, X], [X.clone(), X.clone()]),
    "functions": (lambda: 1, lambda: 1),
}


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE.keys())
def test_calls_that_are_alike(one: Any, other: Any) -> None:
    """What is equal to the bit is one call."""
    assert same({"x": one}, {"x": other})


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_calls_that_differ(one: Any, other: Any) -> None:
    """What differs anywhere is another call."""
    assert not same({"x": one}, {"x": other})


def test_names_tell_calls_apart() -> None:
    """The same value in another place is another call."""
    assert not same({"x": 1}, {"y": 1})


def test_reference_is_asked_once_for_each_call() -> None:
    """Two functions take the same two calls: the reference answers twice, not four times."""
    asked = []

    def judge(x: int) -> int:
        asked.append(x)
        return 2 * x

    guard = Guard("001", judge)
    for function in (judge, lambda x: 2 * x):
        guard.function = function
        guard.reset("a test")
        before = len(asked)
        assert (guard(3), guard(4)) == (6, 8)
        asked_of_judge = asked[before:]
    assert asked_of_judge == []


def test_each_test_is_judged_by_itself() -> None:
    """The first call of one test is not the first call of another."""
    made = Judgements()
    first = made.on("one", 1, {"x": 1}, Judgement)
    assert made.on("one", 1, {"x": 1}, Judgement) is first
    assert made.on("one", 1, {"x": 2}, Judgement) is not first
    assert made.on("another", 1, {"x": 1}, Judgement) is not first


def test_what_draws_from_everybodys_generator_is_judged_anew() -> None:
    """The global generator is no argument: it may stand elsewhere by now."""
    made = Judgements()
    first = made.on("one", 1, {}, partial(Judgement, at_random=True))
    assert made.on("one", 1, {}, Judgement) is not first


def test_found_once_and_kept() -> None:
    """What was asked before is not found again."""
    made = Judgement({})
    assert [made.once("places", lambda: "cpu"), made.once("places", lambda: "cuda")] == ["cpu"] * 2
