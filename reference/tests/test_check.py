"""The check kit: what must not pass is red, what must pass passes, and red shows why."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, nan
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specs.harness import check
from specs.harness.check import TOLERANCE, assert_close, assert_equal, rejects
from specs.harness.failure import Red
from specs.harness.values import show

Compare = Callable[..., None]
BOTH = pytest.mark.parametrize("compare", [assert_close, assert_equal], ids=["close", "equal"])
DTYPES = pytest.mark.parametrize("dtype", [getattr(torch, name) for name in TOLERANCE], ids=str)
WIDE = torch.arange(20.0).reshape(4, 5)


class Pair(NamedTuple):
    """A named tuple, as weights and states are."""

    first: Any
    second: Any


def named(value: Any) -> str:
    """A short name for a value in a test's name."""
    return show(value)[:30]


def red(compare: Compare, answer: Any, expected: Any, **tolerance: float) -> Red:
    """How a comparison fails."""
    with pytest.raises(Red) as caught:
        compare(answer, expected, **tolerance)
    return caught.value


def rows(compare: Compare, answer: Any, expected: Any, **tolerance: float) -> dict[str, str]:
    """The labelled lines of a failed comparison."""
    return dict(red(compare, answer, expected, **tolerance).rows)


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (torch.tensor([[1.0, 2.0]]), [[1.0, 2.0]]),
        (torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 2.0]])),
        (torch.tensor(3.0), 3.0),
        (torch.tensor([inf, -inf]), [inf, -inf]),
        (torch.tensor([nan, 1.0]), [nan, 1.0]),
        (torch.tensor([1, 2]), [1, 2]),
        (torch.tensor([1, 2], dtype=torch.uint8), [1, 2]),
        (torch.tensor([True, False]), [True, False]),
        (torch.zeros(0), []),
        (torch.zeros(0, dtype=torch.int64), []),
        (torch.zeros(2, 0, dtype=torch.bool), [[], []]),
        (torch.zeros(2).requires_grad_(), [0.0, 0.0]),
        (torch.arange(6.0).reshape(2, 3).T, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]),
        (torch.tensor([0.1, 1 / 3]), torch.tensor([0.1, 1 / 3])),
        (torch.tensor([0.1, 1 / 3]), [0.1, 1 / 3]),
        (nan, float("nan")),
        (inf, inf),
        (10**400, 10**400),
        ("cat", "cat"),
        (None, None),
        ([1, [2.0, "cat"]], [1, [2.0, "cat"]]),
        ({"cat": 1, "dog": [2]}, {"cat": 1, "dog": [2]}),
        ({1, 2}, {2, 1}),
        ((torch.tensor([1.0]), 2), ([1.0], 2)),
        (Pair(torch.tensor([1.0]), {"step": 3}), Pair([1.0], {"step": 3})),
        ([], []),
    ],
    ids=named,
)
def test_same_values_pass(compare: Compare, answer: Any, expected: Any) -> None:
    """What is written down as expected is met by the value that it describes."""
    compare(answer, expected)


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (torch.tensor([nan, 1.0]), [0.0, 1.0]),
        (torch.tensor([0.0, 1.0]), [nan, 1.0]),
        (torch.tensor(nan), 0.0),
        (torch.tensor([inf]), [1e30]),
        (torch.tensor([1.0]), [inf]),
        (torch.tensor([inf]), [-inf]),
        (torch.tensor([-inf]), torch.tensor([inf])),
        (nan, 0.0),
        (0.0, nan),
        (1.0, inf),
        (-inf, inf),
        (inf, 1e308),
        ([1.0, nan], [1.0, 2.0]),
        (10**400, 1.0),
    ],
    ids=named,
)
def test_nan_and_infinity_are_no_numbers_to_come_near(
    compare: Compare, answer: Any, expected: Any
) -> None:
    """NaN agrees with NaN only, and an infinity only with itself."""
    assert red(compare, answer, expected).kind == "values"


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.zeros(2, 3), torch.zeros(2, 3, 1)),
        (torch.zeros(1, 3), [0.0, 0.0, 0.0]),
        (torch.zeros(1), 0.0),
        (torch.tensor(0.0), [0.0]),
        (torch.zeros(3), [[0.0, 0.0, 0.0]] * 3),
        (torch.zeros(0), torch.zeros(0, 3)),
        (torch.zeros(0), [[]]),
        (torch.zeros(0), [0.0]),
    ],
    ids=lambda value: str(torch.as_tensor(value).shape)[10:],
)
def test_shapes_that_broadcast_are_still_two_shapes(
    compare: Compare, answer: Any, expected: Any
) -> None:
    """All entries are equal, but there are not the same number of them on each axis."""
    assert red(compare, answer, expected).kind == "shape"


@BOTH
def test_shapes_are_shown(compare: Compare) -> None:
    """Of tensors whose shapes differ, the shapes are shown and not the entries."""
    shown = rows(compare, torch.zeros(2, 3), torch.zeros(3, 2))
    assert shown == {"yours": "shape (2, 3)", "expected": "shape (3, 2)"}


@BOTH
def test_swapped_axes_of_a_square_are_red(compare: Compare) -> None:
    """The shape of a square says nothing, so its entries must: two of four differ."""
    square = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert rows(compare, square.T, square) == {
        "yours": "[[1.0, 3.0], [2.0, 4.0]]",
        "expected": "[[1.0, 2.0], [3.0, 4.0]]",
        "differ": "2 of 4 values, the first at [0, 1]",
    }


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (torch.tensor([1, 0]), [1.0, 0.0]),
        (torch.tensor([1, 0]), torch.tensor([1.0, 0.0])),
        (torch.tensor([0]), [0.5]),
        (torch.tensor([True, False]), [1.0, 0.0]),
        (torch.tensor([True, False]), [1, 0]),
        (torch.tensor([True, True]), [1, 2]),
        (torch.tensor([1, 0]), [True, False]),
        (torch.tensor([1.0, 0.0]), [True, False]),
        (torch.tensor([1 + 0j]), [1.0]),
    ],
    ids=named,
)
def test_truth_whole_numbers_and_floats_are_three_things(
    compare: Compare, answer: Any, expected: Any
) -> None:
    """A tensor of another kind of numbers is red, even where each of them is equal."""
    assert red(compare, answer, expected).kind == "dtype"


@BOTH
def test_dtypes_are_shown(compare: Compare) -> None:
    """Where the dtype is wrong, both dtypes are shown."""
    shown = rows(compare, torch.tensor([1, 0]), torch.tensor([True, False]))
    assert shown == {"yours": "torch.int64", "expected": "torch.bool"}


@pytest.mark.parametrize("other", [torch.float64, torch.float16], ids=str)
def test_equal_tensors_have_one_dtype(other: torch.dtype) -> None:
    """1.0 is the same number in each precision, but not the same tensor."""
    assert red(assert_equal, torch.ones(2), torch.ones(2, dtype=other)).kind == "dtype"


def test_close_tensors_may_have_two_precisions() -> None:
    """A spec computes what it expects in float64, whatever the answer's precision."""
    assert_close(torch.tensor([1 / 3]), torch.tensor([1 / 3], dtype=torch.float64))


def test_floats_are_close_to_whole_numbers() -> None:
    """``expected=[3, 2]`` may stand for 3.0 and 2.0."""
    assert_close(torch.tensor([3.0, 2.0]), [3, 2])
    assert_close([3.0, 2.0], [3, 2])


def test_floats_do_not_equal_whole_numbers() -> None:
    """Where sameness is asked for, ``[3, 2]`` are whole numbers and nothing else."""
    assert red(assert_equal, torch.tensor([3.0, 2.0]), [3, 2]).kind == "dtype"
    assert red(assert_equal, [3.0, 2.0], [3, 2]).kind == "values"


def test_large_whole_numbers_are_not_rounded() -> None:
    """2⁵³ and 2⁵³ + 1 are one number in float64, but two in int64."""
    assert_close(torch.tensor([2**53]), [2**53])
    assert red(assert_close, torch.tensor([2**53]), [2**53 + 1]).kind == "values"


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected", "differ"),
    [
        (1, 1.0, "an int, not a float"),
        (True, 1, "a bool, not an int"),
        (1, True, "an int, not a bool"),
        (0.0, False, "a float, not a bool"),
        ("1", 1, "a str, not an int"),
        (None, 0, "None, not an int"),
        (None, [], "None, not a list"),
        ([1.0], torch.tensor([1.0]), "a list, not a tensor"),
        (torch.tensor(1.0), (torch.tensor(1.0),), "a tensor, not a tuple"),
        (1.0, torch.tensor(1.0), "a float, not a tensor"),
        (3.0, [3.0], "a float, not a list"),
        ([3.0], 3.0, "a list, not a float"),
        ({"cat": 1}, ["cat"], "a dict, not a list"),
        (frozenset({1}), {1}, "a frozenset, not a set"),
        ([1, [True]], [1, [1]], "first at [1][0]: a bool, not an int"),
        ({"cat": 1}, {"cat": 1.0}, "first at ['cat']: an int, not a float"),
    ],
    ids=named,
)
def test_types_differ(compare: Compare, answer: Any, expected: Any, differ: str) -> None:
    """What Python counts as equal may be of another type, which is told."""
    assert rows(compare, answer, expected)["differ"] == differ


def test_plain_tensor_expected_as_a_list_is_asked_for() -> None:
    """A list of numbers is what a spec writes for a tensor; a list from the learner is a list."""
    assert_close([3.0, 2.0], [3.0, 2.0])
    assert red(assert_close, [3.0, 2.0], torch.tensor([3.0, 2.0])).kind == "values"


def test_tuple_is_close_to_a_list_but_not_equal_to_it() -> None:
    """How several results are packed matters only where sameness is asked for."""
    assert_close((1.0, 2.0), [1.0, 2.0])
    assert rows(assert_equal, (1, 2), [1, 2])["differ"] == "a tuple, not a list"


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected", "differ"),
    [
        ([1, 2, 4], [1, 2, 3], "first at [2]"),
        ([1, 2], [1, 2, 3], "2 entries, not 3"),
        ([1, 2, 3, 4], [1, 2, 3], "4 entries, not 3"),
        ([[1], [2, 3]], [[1], [2]], "first at [1]: 2 entries, not 1"),
        (["cat", "dgo"], ["cat", "dog"], "first at [1]"),
        ({"cat": 1, "dog": 2}, {"cat": 1, "dog": 3}, "first at ['dog']"),
        ({"cat": 1}, {"cat": 1, "dog": 2}, "'dog' is missing"),
        ({"cat": 1, "dog": 2}, {"cat": 1}, "'dog' is one too many"),
        ({True: "cat"}, {1: "cat"}, "a key is a bool, not an int"),
        ([{"cat": [1]}], [{"cat": [2]}], "first at [0]['cat'][0]"),
        (Pair(1, [2, 3]), Pair(1, [2, 4]), "first at second[1]"),
    ],
    ids=named,
)
def test_place_where_plain_values_part_is_told(
    compare: Compare, answer: Any, expected: Any, differ: str
) -> None:
    """The first entry that differs is named, however deep it lies."""
    assert rows(compare, answer, expected)["differ"] == differ


@BOTH
def test_tensor_without_numbers_is_told_by_its_place(compare: Compare) -> None:
    """On the meta device a tensor has a shape and nothing else."""
    empty = torch.ones(2, device="meta")
    compare(empty, empty)
    assert rows(compare, empty, torch.ones(2)) == {"yours": "on meta", "expected": "on cpu"}
    assert rows(compare, [empty, 1], [empty, 2])["yours"] == "[(2,) on meta, 1]"


@BOTH
def test_place_of_an_entry_in_a_dict_means_nothing(compare: Compare) -> None:
    """As Python has it: whoever looks a word up finds the same."""
    compare({"dog": 2, "cat": 1}, {"cat": 1, "dog": 2})


@BOTH
@pytest.mark.parametrize(
    ("answer", "expected", "where"),
    [
        ((torch.zeros(2), torch.ones(2)), (torch.zeros(2), torch.zeros(2)), "[1]"),
        ({"first": [torch.ones(1)]}, {"first": [torch.zeros(1)]}, "['first'][0]"),
        (Pair(torch.ones(1), 0), Pair([0.0], 0), "first"),
        ([torch.ones(1), torch.ones(1, dtype=torch.int64)], [[1.0], [1.0]], "[1]"),
        ([torch.ones(2, 1)], [torch.ones(1, 2)], "[0]"),
    ],
    ids=["tuple", "dict", "named tuple", "dtype", "shape"],
)
def test_tensor_among_others_is_named(
    compare: Compare, answer: Any, expected: Any, where: str
) -> None:
    """Of several tensors, the line *where* names the one that differs."""
    assert rows(compare, answer, expected)["where"] == where


@BOTH
def test_answer_is_kept_whole(compare: Compare) -> None:
    """Known mistakes are compared with everything that was answered, not with the part shown."""
    answer = (torch.ones(1), torch.zeros(1))
    assert red(compare, answer, ([1.0], [1.0])).yours is answer


@DTYPES
@pytest.mark.parametrize("expected", [100.0, 0.0], ids=["relative", "absolute"])
def test_tolerance_is_met_up_to_its_edge(dtype: torch.dtype, expected: float) -> None:
    """An answer nine tenths of the tolerance away is close."""
    rtol, atol = TOLERANCE[str(dtype)[6:]]
    assert_close(torch.tensor(0.9 * (atol + rtol * expected) + expected, dtype=dtype), expected)


@DTYPES
@pytest.mark.parametrize("expected", [100.0, 0.0], ids=["relative", "absolute"])
def test_tolerance_ends_at_its_edge(dtype: torch.dtype, expected: float) -> None:
    """An answer half as far again as the tolerance is red."""
    rtol, atol = TOLERANCE[str(dtype)[6:]]
    answer = torch.tensor(1.5 * (atol + rtol * expected) + expected, dtype=dtype)
    assert red(assert_close, answer, expected).kind == "values"


@DTYPES
def test_one_rounding_is_within_every_tolerance(dtype: torch.dtype) -> None:
    """A third, rounded once, is a third."""
    assert_close(torch.tensor([1 / 3, 1e3 / 3, -1 / 3], dtype=dtype), [1 / 3, 1e3 / 3, -1 / 3])


def test_plain_floats_are_compared_as_float64() -> None:
    """1e-9 of a plain float is a difference; a float32 tensor cannot hold it."""
    assert red(assert_close, 1 + 1e-9, 1.0).kind == "values"
    assert_close(1 + 1e-11, 1.0)
    assert_close(torch.tensor(1 + 1e-9), 1.0)


def test_tolerance_may_be_given() -> None:
    """``rtol`` and ``atol`` stand in the place of the dtype's own."""
    assert_close(torch.tensor([1.01]), [1.0], atol=0.02)
    assert_close([1.01], [1.0], rtol=0.02)
    assert red(assert_close, torch.tensor([1 + 1e-6]), [1.0], rtol=0.0, atol=1e-8).kind == "values"


def test_expected_number_is_not_rounded_before_it_is_compared() -> None:
    """float32's 0.1 is 1.5e-9 off, and a tolerance of 1e-10 sees that."""
    assert red(assert_close, torch.tensor(0.1), 0.1, rtol=0.0, atol=1e-10).kind == "values"


def test_tolerance_is_for_floats_only() -> None:
    """Token ids 100 and 101 are two tokens, however generous the tolerance."""
    assert red(assert_close, torch.tensor([100]), [101], rtol=0.5, atol=5.0).kind == "values"
    assert red(assert_close, [100], [101], rtol=0.5, atol=5.0).kind == "values"


def test_equal_floats_are_equal_to_the_last_bit() -> None:
    """0.1 + 0.2 is close to 0.3, but not equal to it."""
    assert_close(0.1 + 0.2, 0.3)
    assert red(assert_equal, 0.1 + 0.2, 0.3).kind == "values"


def test_both_sides_of_a_small_tensor_are_shown_whole() -> None:
    """A person sees at a glance what differs among few entries."""
    assert rows(assert_close, torch.tensor([[3.6, 0.8]]), [[3.0, 2.0]]) == {
        "yours": "[[3.6, 0.8]]",
        "expected": "[[3.0, 2.0]]",
        "differ": "2 of 2 values, the first at [0, 0]",
    }


def test_of_a_large_tensor_the_first_difference_is_shown() -> None:
    """Among twenty entries one is 9 too large: it is shown with its place."""
    answer = WIDE.clone()
    answer[2, 1] += 9
    assert rows(assert_close, answer, WIDE) == {
        "yours": "20.0 at [2, 1]",
        "expected": "11.0",
        "differ": "1 of 20 values, the first at [2, 1]",
    }


def test_single_number_needs_no_place() -> None:
    """Of a number without axes both sides say everything."""
    shown = rows(assert_close, torch.tensor(2.5), 2.0)
    assert shown == {"yours": "2.5", "expected": "2.0"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [([1, 2], [1, 3]), ([*range(15), 0], [*range(16)]), (torch.arange(16), [*range(15), 0])],
    ids=["two", "sixteen", "sixteen in a tensor"],
)
def test_both_sides_of_a_short_list_are_shown_whole(answer: Any, expected: list[int]) -> None:
    """Up to sixteen entries fit on a line."""
    shown = rows(assert_equal, answer, expected)
    assert (shown["yours"], shown["expected"]) == (show(answer), show(expected))


def test_of_a_long_list_the_first_difference_is_shown() -> None:
    """Twenty entries do not fit on a line; the one that differs does."""
    answer = [*range(19), 0]
    assert rows(assert_equal, answer, [*range(20)]) == {"yours": "0 at [19]", "expected": "19"}


@pytest.mark.parametrize(
    ("answer", "expected", "shown"),
    [
        (1.5, 2.5, ("1.5", "2.5")),
        (1.00001, 1.0, ("1.00001", "1.0")),
        (1.0000001, 1.0, ("1.0000001", "1.0")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.29999999999999999")),
    ],
    ids=named,
)
def test_digits_are_enough_to_tell_apart(
    answer: float, expected: float, shown: tuple[str, str]
) -> None:
    """As many digits are shown as it takes to see a difference, and no more."""
    told = rows(assert_equal, answer, expected)
    assert (told["yours"], told["expected"]) == shown


def test_digits_are_enough_for_the_first_difference() -> None:
    """The second entry differs by 1, the first by 0.00003: both differences can be seen."""
    told = rows(assert_close, torch.tensor([1.00003, 3.0]), [1.0, 2.0])
    assert told["yours"] == "[1.00003, 3.0]"


def test_long_side_is_cut() -> None:
    """A line stays a line, whatever was answered."""
    assert len(rows(assert_equal, [*range(1000)], [])["yours"]) <= check.LONGEST


@BOTH
def test_answer_that_holds_itself_is_one_clear_failure(compare: Compare) -> None:
    """A list that was put into itself cannot be compared, and is not followed for ever."""
    answer: list[Any] = [1.0]
    answer.append(answer)
    assert str(red(compare, answer, [1.0, 2.0])) == (
        "The result holds itself, or is nested without end."
    )


# rejects


def answered(value: Any) -> None:
    """Act as a step that answers where it should have raised."""
    check.last_answer.append(value)


@pytest.mark.parametrize(
    ("error", "naming"),
    [
        (ValueError("width 4 meets width 3"), (4, 3)),
        (ValueError("got 3."), 3),
        (ValueError("(4, 3)"), 4),
        (ValueError("the rate is 0.5"), 0.5),
        (ValueError("id -1"), -1),
        (ValueError(), ()),
        (TypeError("a mask of torch.bool"), "bool"),
        (KeyError("zebra"), "zebra"),
        (json.JSONDecodeError("line 3", "", 0), 3),
    ],
    ids=named,
)
def test_error_that_names_its_cause_passes(error: Exception, naming: Any) -> None:
    """The right error, or a special case of it, with a message that says what was wrong."""
    kind = ValueError if isinstance(error, ValueError) else type(error)
    with rejects(kind, naming=naming):
        raise error


@pytest.mark.parametrize(
    ("message", "naming"),
    [
        ("", 3),
        ("a bad width", 3),
        ("got 13", 3),
        ("got 3.5", 3),
        ("got 0.3", 3),
        ("4 and 5", (4, 3)),
    ],
)
def test_error_that_does_not_name_its_cause_is_red(message: str, naming: Any) -> None:
    """3 is named neither by silence nor as a digit of another number."""
    with pytest.raises(Red) as caught, rejects(ValueError, naming=naming):
        raise ValueError(message)
    assert caught.value.kind == "message"
    assert caught.value.rows[0] == ("yours", f"ValueError: {message}")


def test_other_error_is_red() -> None:
    """An error by accident is no rejection."""
    with pytest.raises(Red) as caught, rejects(ValueError, naming=(4, 3)):
        raise IndexError("out of range\nsecond line")
    assert caught.value.rows == [
        ("yours", "raised IndexError: out of range"),
        ("expected", "raise ValueError, naming 4, naming 3"),
    ]


def test_no_error_shows_what_was_answered_instead() -> None:
    """The learner sees what came back where nothing should have."""
    with pytest.raises(Red) as caught, rejects(ValueError, naming=3):
        answered(torch.tensor([1.0, 2.0]))
    assert caught.value.rows == [
        ("yours", "returned [1.0, 2.0]"),
        ("expected", "raise ValueError, naming 3"),
    ]


def test_answer_of_an_earlier_call_is_not_shown() -> None:
    """What a call before the block gave is not what the block gave."""
    answered("earlier")
    with pytest.raises(Red) as caught, rejects(ValueError):
        pass
    assert caught.value.rows[0] == ("yours", "returned None")


@pytest.mark.parametrize("error", [AssertionError, Exception], ids=lambda error: error.__name__)
def test_red_is_no_rejection(error: type[Exception]) -> None:
    """A failed check inside the block stays what it is, whatever error is asked for."""
    with pytest.raises(Red, match="changed") as caught, rejects(error):
        raise Red("changed input", "keys was changed")
    assert caught.value.kind == "changed input"


def test_error_without_words_is_told_all_the_same() -> None:
    """An error whose message cannot be written is red, and ends nothing."""

    class MuteError(ValueError):
        def __str__(self) -> str:
            raise SystemExit

    with pytest.raises(Red) as caught, rejects(ValueError, naming=3):
        raise MuteError
    assert caught.value.rows[0] == ("yours", "MuteError: its message cannot be shown")


# Properties


QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)
NUMBERS = st.floats(-1e6, 1e6, width=32)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)
SHAPES = st.lists(st.integers(1, 4), max_size=3)


@BOTH
@QUICK
@given(value=VALUES)
def test_value_equals_itself(compare: Compare, value: Any) -> None:
    """Whatever it is made of, NaN included."""
    compare(value, value)


@BOTH
@QUICK
@given(shape=SHAPES, number=st.floats(width=32))
def test_tensor_equals_itself(compare: Compare, shape: list[int], number: float) -> None:
    """As a tensor and as the lists that it is written as."""
    answer = torch.full(shape, number)
    compare(answer, answer.clone())
    compare(answer, answer.tolist())


@BOTH
@QUICK
@given(data=st.data(), shape=SHAPES, number=NUMBERS)
def test_single_changed_element_is_red(
    compare: Compare, data: st.DataObject, shape: list[int], number: float
) -> None:
    """One element, moved by more than its tolerance or turned to NaN, is found where it is."""
    expected = torch.full(shape, number)
    place = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    answer = expected.clone()
    answer[place] = data.draw(st.sampled_from([number + abs(number) + 1, nan, inf, -inf]))
    shown = red(compare, answer, expected)
    assert shown.kind == "values"
    if answer.numel() > 1:
        told = dict(shown.rows)["differ"]
        assert told == f"1 of {answer.numel()} values, the first at {list(place)}"


@BOTH
@QUICK
@given(shape=st.lists(st.integers(1, 4), min_size=2, max_size=4, unique=True))
def test_swapped_axes_are_red(compare: Compare, shape: list[int]) -> None:
    """Sizes that all differ give every swap of two axes away."""
    answer = torch.zeros(shape)
    assert red(compare, answer.transpose(0, -1), answer).kind == "shape"


@QUICK
@given(value=VALUES.filter(lambda value: isinstance(value, (list, dict)) and len(value) > 0))
def test_missing_entry_is_red(value: Any) -> None:
    """A list or dict less its last entry is another."""
    less = value[:-1] if isinstance(value, list) else dict([*value.items()][:-1])
    assert red(assert_equal, less, value).kind == "values"
