"""The form of an answer: its types, shapes by name, dtypes, devices, and whether gradients flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from specs.harness.failure import Red
from specs.harness.forms import assert_form, shape_names
from specs.harness.values import HOLDS_ITSELF, show

ONES = torch.ones(2, 3)
GROWING = torch.ones(2, requires_grad=True) * 2


class Linear(NamedTuple):
    """A named tuple, as weights are."""

    weight: Any
    bias: Any = None


@dataclass
class Cache:
    """A dataclass, as a cache of keys and values is."""

    keys: Any
    length: int = 0


def red(answer: Any, model: Any, *names: str) -> Red:
    """How an answer's form is wrong."""
    with pytest.raises(Red) as caught:
        assert_form(answer, model, [each.split() for each in names])
    return caught.value


def attention(
    queries: Float[Tensor, "... queries d_k"],
) -> tuple[Float[Tensor, "... queries d_v"], Bool[torch.Tensor, "... queries keys"]]:
    """Return two tensors; the annotation is a string, as everywhere under that import."""
    raise NotImplementedError


def test_size_names_are_read_from_the_annotation() -> None:
    """One list of names for each tensor that comes back."""
    assert shape_names(attention) == [["...", "queries", "d_v"], ["...", "queries", "keys"]]


def test_size_names_are_read_from_a_live_annotation_too() -> None:
    """A module without ``from __future__ import annotations`` holds types, not strings."""

    def ids() -> None:
        raise NotImplementedError

    ids.__annotations__["return"] = Int[Tensor, "batch length"]
    assert shape_names(ids) == [["batch", "length"]]


@pytest.mark.parametrize("function", [len, lambda: None], ids=["built-in", "lambda"])
def test_function_without_annotation_has_no_size_names(function: Any) -> None:
    """Then shapes are told as plain numbers."""
    assert shape_names(function) == []


@pytest.mark.parametrize(
    ("answer", "model"),
    [
        (ONES, ONES + 1),
        (nn.Parameter(ONES), ONES.clone().requires_grad_()),
        ([ONES, ONES], (ONES, ONES)),
        ((ONES, 2), (ONES, 1)),
        (torch.max(ONES, dim=0), (ONES[0], torch.zeros(3, dtype=torch.int64))),
        (Linear(ONES), Linear(ONES)),
        (Cache(ONES, 2), Cache(ONES, 1)),
        ({"b": ONES, "a": 1}, {"a": 1, "b": ONES}),
        ([1, 2, 3], [1]),
        ({"cat": 1}, {"dog": 2}),
        (ONES.T, torch.ones(3, 2)),
        (None, None),
        (0.5, 1.5),
    ],
    ids=[
        *("tensor", "parameter", "list for tuple", "tuple", "torch's own tuple", "named tuple"),
        *("dataclass", "dict", "list", "dict of numbers", "layout", "None", "float"),
    ],
)
def test_right_form_passes(answer: Any, model: Any) -> None:
    """The values are not looked at, nor how many entries a plain list or dict has."""
    assert_form(answer, model, [])


@pytest.mark.parametrize(
    ("answer", "model", "told"),
    [
        (None, ONES, ("None: is a `return` missing?", "a tensor", None)),
        (ONES, None, ("a tensor", "None", None)),
        ([[1.0]], ONES, ("a list", "a tensor", None)),
        (1.0, torch.tensor(1.0), ("a float", "a tensor", None)),
        (torch.tensor(1.0), 1.0, ("a tensor", "a float", None)),
        (1, 1.0, ("an int", "a float", None)),
        (True, 1, ("a bool", "an int", None)),
        ((1, 2), [1, 2], ("a tuple", "a list", None)),
        ((ONES, None), Linear(ONES), ("a tuple", "a Linear", None)),
        ((n for n in [1]), [1], ("a generator", "a list", None)),
        ((ONES,), (ONES, ONES), ("1 result", "2 results", None)),
        ((1,), (1, 2), ("1 result", "2 results", None)),
        ([ONES], [ONES, ONES], ("1 result", "2 results", None)),
        ((ONES, [1, 2.0]), (ONES, [1, 2]), ("a float", "an int", "result[1][1]")),
        (([1, 2, 3], 4), ([1], ONES), ("an int", "a tensor", "result[1]")),
        (Linear(3), Linear(ONES), ("an int", "a tensor", "result.weight")),
        (
            Cache(ONES, None),
            Cache(ONES),
            ("None: is a `return` missing?", "an int", "result.length"),
        ),
        ({"a": 1}, {"a": ONES}, ("an int", "a tensor", "result['a']")),
        ({"b": ONES}, {"a": ONES}, ("keys ['b']", "keys ['a']", None)),
    ],
    ids=lambda value: show(value)[:30],
)
def test_type_is_told(answer: Any, model: Any, told: tuple[str, str, str | None]) -> None:
    """What came, what was expected, and where in the result."""
    shown = dict(red(answer, model).rows)
    assert (shown["yours"], shown["expected"], shown.get("where")) == told


def test_tensor_of_a_special_kind_is_told() -> None:
    """A learner's subclass of tensor could answer anything that it is asked."""
    special = ONES.as_subclass(type("Masked", (Tensor,), {}))
    assert red(special, ONES).rows[0] == ("yours", "a Masked, not a plain tensor")


def test_shape_is_told_by_name() -> None:
    """The names stand before the expected sizes."""
    names = "batch heads queries keys"
    wrong = red(torch.zeros(2, 4, 7, 5), torch.zeros(2, 4, 5, 7), names)
    assert wrong.kind == "shape"
    assert wrong.rows == [
        ("yours", "shape (2, 4, 7, 5)"),
        ("expected", "(batch heads queries keys) = (2, 4, 5, 7)"),
    ]


def test_shape_of_the_second_result_has_its_own_names() -> None:
    """Each tensor has the names of its place in the annotation."""
    wrong = red((ONES, ONES), (ONES, ONES.T), "... queries d_v", "... queries keys")
    assert wrong.rows == [
        ("yours", "shape (2, 3)"),
        ("expected", "(… queries keys) = (3, 2)"),
        ("where", "result[1]"),
    ]


def test_shape_without_names_is_told_in_numbers() -> None:
    """Where the annotation names no sizes."""
    assert red(ONES, ONES.T).rows[1] == ("expected", "shape (3, 2)")


def test_types_are_looked_at_before_shapes() -> None:
    """A missing second result says more than the first one's shape."""
    assert red((ONES, None), (ONES.T, ONES)).kind == "type"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64, torch.bool], ids=str)
def test_dtype_is_told(dtype: torch.dtype) -> None:
    """Whatever it was, if it is not the reference's."""
    wrong = red(ONES.to(dtype), ONES)
    assert (wrong.kind, wrong.rows[0]) == ("dtype", ("yours", str(dtype)))


def test_sparse_answer_is_told() -> None:
    """It looks like a tensor, but next to nothing can be done with it."""
    assert red(ONES.to_sparse(), ONES).kind == "layout"


def test_device_is_told() -> None:
    """A tensor without values stands for one on another device."""
    wrong = red(ONES.to("meta"), ONES)
    assert wrong.rows == [("yours", "on meta"), ("expected", "on cpu")]
    assert wrong.sentence == "The result lies on another device than its inputs."


@pytest.mark.parametrize(
    ("answer", "model", "sentence"),
    [
        (
            GROWING.detach(),
            GROWING,
            "The result is cut off from its inputs: no gradient flows back.",
        ),
        (GROWING, GROWING.detach(), "The result asks for a gradient that nothing needs."),
    ],
    ids=["cut off", "asks in vain"],
)
def test_gradient_is_told(answer: Tensor, model: Tensor, sentence: str) -> None:
    """Whether a gradient can flow back, and whether it should."""
    assert red(answer, model).sentence == sentence


def test_how_many_words_there_are_is_the_spec_s_to_tell() -> None:
    """A tuple of results has its length by contract; words inside have theirs by value."""
    assert_form([(1, 2, 3)], [(1, 2)], [])
    assert red((1, 2, 3), (1, 2)).kind == "type"


def test_result_that_holds_itself_is_one_clear_failure() -> None:
    """It is not followed for ever, nor compared."""
    answer: list[Any] = [1]
    answer.append(answer)
    assert red(answer, [1, 2]).sentence == HOLDS_ITSELF
