"""009 · build_position_column. Lesson: 009_build_position_column.md."""

import pytest
import torch

from kata.part02_embeddings import build_position_column
from specs.harness.check import assert_close


def test_four_positions_stand_one_below_the_other():
    """Counting starts at 0: four rows of one number."""
    assert_close(build_position_column(4), expected=[[0.0], [1.0], [2.0], [3.0]])


def test_a_single_position_is_still_a_column():
    """One token stands at position 0."""
    assert_close(build_position_column(1), expected=[[0.0]])


def test_no_positions_make_no_rows():
    """Length 0: no rows, one column."""
    assert build_position_column(0).shape == (0, 1), "length 0 should give shape (0, 1)"


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_the_type_is_the_one_asked_for(dtype):
    """Small whole numbers are exact in every type."""
    column = build_position_column(3, dtype=dtype)
    assert_close(column, expected=[[0.0], [1.0], [2.0]])


@pytest.mark.parametrize(("dtype", "last"), [(torch.bfloat16, 256), (torch.float16, 2048)], ids=str)
def test_half_types_are_cast_last(dtype, last):
    """The type has this number but not the next: counted up to that and down by 1, it is lost."""
    column = build_position_column(last + 1, dtype=dtype)
    assert column[last].item() == last, f"row {last} should hold {last}, not {column[last].item()}"


@pytest.mark.parametrize("length", [2, 7, 512, 5001])
def test_row_i_holds_i(length):
    """0, 1, 2, … up to length − 1."""
    expected = [[float(position)] for position in range(length)]
    assert_close(build_position_column(length), expected=expected)
