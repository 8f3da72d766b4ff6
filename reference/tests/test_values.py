"""Nested values are walked, copied and shown: tuples, lists, dicts, dataclasses, tensors."""

from __future__ import annotations

import warnings
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from specs.harness.values import (
    NotCopyable,
    containers,
    copy,
    gradient_of,
    holds_itself,
    kind_of,
    leaves,
    rebuild,
    refill,
    show,
    tensors,
)


class Linear(NamedTuple):
    """A named tuple, as weights are."""

    weight: Any
    bias: Any = None


@dataclass
class Cache:
    """A dataclass that changes, as a cache of keys and values does."""

    keys: Any
    length: int = 0
    layers: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Setting:
    """A dataclass that does not change, and keeps its fields in slots."""

    rate: Any


def knot() -> list[Any]:
    """A list that holds 1 and itself."""
    tied: list[Any] = [1]
    tied.append(tied)
    return tied


ONE = torch.ones(2)


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (3, [""]),
        ([1, [2]], ["[0]", "[1][0]"]),
        (Linear(1, (2, 3)), ["weight", "bias[0]", "bias[1]"]),
        ({"weights": [Linear(1)]}, ["weights[0].weight", "weights[0].bias"]),
        ({"table": {"cat": 1, 7: 2}}, ["table['cat']", "table[7]"]),
        (Cache(1, 2, [3]), ["keys", "length", "layers[0]"]),
        ({"cache": Cache(1)}, ["cache.keys", "cache.length"]),
        (Setting(1), ["rate"]),
        (Setting, [""]),
        ([], []),
        ("cat", [""]),
        ({1, 2}, [""]),
    ],
    ids=repr,
)
def test_leaves_have_paths_as_a_person_writes_them(value: Any, paths: list[str]) -> None:
    """Arguments by name, fields after a dot, places and keys in brackets."""
    assert [path for path, _ in leaves(value)] == paths


def test_tensors_are_found_wherever_they_lie() -> None:
    """In a tuple in a dataclass in a dict, and none twice over."""
    value = {"cache": Cache(Linear(ONE, "no tensor"), layers=[nn.Parameter(ONE)])}
    assert [type(tensor) for tensor in tensors(value)] == [Tensor, nn.Parameter]


@pytest.mark.parametrize(
    "value",
    [
        Cache([1, {"cat": (2,)}], layers=[Setting(0.5)]),
        OrderedDict(cat=[1]),
        Counter("aab"),
        Linear([1], {2, 3}),
        torch.Size([2, 3]),
        torch.max(torch.eye(2), dim=0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_copy_is_equal_and_of_the_same_types(value: Any) -> None:
    """Special lists, dicts and tuples stay special."""
    twin = copy(value)
    assert type(twin) is type(value)
    assert show(twin) == show(value)


def test_copy_of_a_default_dict_has_its_default() -> None:
    """It is not a plain dict, which would raise where this one answers."""
    counts = copy(defaultdict(list, cat=[1]))
    assert counts["dog"] == []


@pytest.mark.parametrize(
    "value",
    [[[1]], {"cat": [1]}, Cache([1], layers=[[1]]), ([1],), [{1}], Setting([1])],
    ids=lambda value: type(value).__name__,
)
def test_nothing_done_to_a_copy_shows_in_the_original(value: Any) -> None:
    """Every list, set, dict and dataclass on the way down is a new one."""
    before = show(value)
    for part in containers(copy(value)):
        if isinstance(part, (list, dict, set)):
            part.clear()
        elif isinstance(part, Cache):
            part.keys = None
    assert show(value) == before


def test_containers_are_what_can_be_changed() -> None:
    """Lists, sets, dicts and dataclasses, the outer ones first; a tuple is only looked into."""
    value = ({"cat": [Cache({1})]},)
    assert [type(part) for part in containers(value)] == [dict, list, Cache, set, list]


def test_copied_tensor_has_memory_of_its_own() -> None:
    """Numbers, gradient and the wish for one are copied; what is done to the copy stays there."""
    weight = torch.ones(2, requires_grad=True)
    weight.sum().backward()
    twin = copy(weight)
    twin.data.zero_()
    twin.grad.zero_()
    assert (twin.requires_grad, twin.is_leaf) == (True, True)
    assert weight.tolist() == [1.0, 1.0]
    assert weight.grad is not None
    assert weight.grad.tolist() == [1.0, 1.0]


def test_copied_generator_draws_the_same_and_on_its_own() -> None:
    """The reference must draw what the learner draws, from a generator of its own."""
    generator = torch.Generator().manual_seed(3)
    twin = copy(generator)
    drawn = torch.rand(2, generator=twin)
    assert torch.equal(drawn, torch.rand(2, generator=generator))


@pytest.mark.parametrize(
    "iterator", [iter([1]), (n for n in [1]), map(str, [1])], ids=lambda it: type(it).__name__
)
def test_iterator_cannot_be_copied(iterator: object) -> None:
    """Reading it for the copy would leave nothing for the learner."""
    with pytest.raises(NotCopyable):
        copy({"sentences": [iterator]})


def test_part_met_twice_stays_one_part() -> None:
    """Tied weights are tied in the copy too, lists as much as tensors."""
    shared = [1]
    table, again, lists = copy((ONE, Linear(ONE), [shared, shared]))
    assert table is again.weight
    assert lists[0] is lists[1]


def test_rebuild_changes_leaves_only() -> None:
    """Each leaf goes through the function; what is around them stays."""
    doubled = rebuild(Cache([1, (2,)], 3), lambda leaf: leaf * 2)
    assert doubled == Cache([2, (4,)], 6)


@pytest.mark.parametrize(
    ("container", "source"),
    [([1, 2], [3]), ({1}, {2, 3}), ({"cat": 1}, {"dog": 2, "cow": 3}), (Cache(1), Cache(2, 3))],
    ids=["list", "set", "dict", "dataclass"],
)
def test_refilled_container_is_the_same_object_with_other_parts(
    container: Any, source: Any
) -> None:
    """Whoever holds it sees what it holds now."""
    refill(container, source)
    assert container == source


@pytest.mark.parametrize(
    "value",
    [knot(), {"knot": knot()}, (knot(),), Cache(knot())],
    ids=["list", "dict", "tuple", "dataclass"],
)
def test_value_that_holds_itself_is_walked_once(value: Any) -> None:
    """Walking, copying and showing come to an end."""
    assert holds_itself(value)
    assert len(list(leaves(value))) <= 4
    assert len(list(containers(value))) <= 3
    assert show(copy(value)).count("...") == 1


def test_value_nested_without_end_counts_as_holding_itself() -> None:
    """Five thousand lists inside each other are more than Python can walk."""
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    assert holds_itself(value)
    assert show(value).endswith("]")


def test_part_held_twice_does_not_hold_itself() -> None:
    """Two references to one list are no circle."""
    shared = [1]
    assert not holds_itself([shared, [shared], {"cat": shared}])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "None"),
        (1, "an int"),
        (ONE, "a tensor"),
        (nn.Parameter(ONE), "a tensor"),
        ([], "a list"),
        (nn.parameter.Buffer(ONE), "a tensor"),
        (ONE.as_subclass(type("Masked", (Tensor,), {})), "a Masked, not a plain tensor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kind_of_value_has_its_article(value: object, kind: str) -> None:
    """As a sentence names it."""
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([[1.0, 0.5]]), "[[1.0, 0.5]]"),
        (torch.tensor(3), "3"),
        (torch.zeros(2, 0), "[[], []]"),
        (torch.ones(1, requires_grad=True), "[1.0]"),
        (1 / 3, "0.3333"),
        (1e-9, "1e-09"),
        (12345.0, "1.234e+04"),
        (2.0, "2.0"),
        (-0.0, "0.0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (True, "True"),
        ((1,), "(1,)"),
        ((), "()"),
        ({"cat": [0.5], 2: ONE}, "{'cat': [0.5], 2: [1.0, 1.0]}"),
        (Linear(ONE), "Linear(weight=[1.0, 1.0], bias=None)"),
        (Cache(ONE), "Cache(keys=[1.0, 1.0], length=0, layers=[])"),
        ("two  spaces\n", r"'two  spaces\n'"),
        (None, "None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_value_is_shown_as_a_person_would_write_it(value: object, text: str) -> None:
    """Few digits, nested lists, and no word about tensors."""
    assert show(value) == text


def test_whatever_is_shown_is_one_short_line() -> None:
    """A value that writes itself in several lines, or in a long one, is cut to size."""

    class Wordy:
        def __repr__(self) -> str:
            return "much\n ado " * 100

    assert show(Wordy()).startswith("much ado much ado")
    assert len(show(Wordy())) == 300


def test_gradient_is_asked_for_without_a_warning() -> None:
    """A tensor inside a graph keeps no gradient, and torch warns who asks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradient_of(torch.ones(2, requires_grad=True) * 2) is None
