"""088 · build_rotary_table. Lesson: 088_build_rotary_table.md."""

from math import cos, sin

import pytest
import torch

from kata.part13_decoder_only import build_rotary_table
from specs.harness.check import assert_close, rejects


def by_the_paper(length, d_k, base=10000.0):
    """Every angle as a Python float: position times base^(−2i/d_k)."""
    angles = [[pos * base ** (-2 * i / d_k) for i in range(d_k // 2)] for pos in range(length)]
    return tuple([[wave(angle) for angle in row] for row in angles] for wave in (cos, sin))


def test_two_pairs_by_hand():
    """Width 4: one hand turns 1 radian a step, the other 10000^(−2/4) = 0.01."""
    answer = build_rotary_table(3, 4)
    cosines = [[1.0, 1.0], [0.54030231, 0.99995000], [-0.41614684, 0.99980001]]
    sines = [[0.0, 0.0], [0.84147098, 0.00999983], [0.90929743, 0.01999867]]
    assert_close(answer, expected=(cosines, sines))


def test_position_zero_does_not_turn():
    """Every hand starts at angle 0: cosine 1 and sine 0."""
    assert_close(build_rotary_table(1, 6), expected=([[1.0] * 3], [[0.0] * 3]))


def test_another_base():
    """Base 16 and width 4: the second hand turns 16^(−2/4) = 1/4 radian a step."""
    cosines, sines = build_rotary_table(3, 4, base=16.0)
    assert_close(cosines, expected=[[cos(pos), cos(pos / 4)] for pos in range(3)])
    assert_close(sines, expected=[[sin(pos), sin(pos / 4)] for pos in range(3)])


def test_another_base_after_the_first():
    """Two tables of one size, bases 16 and 81: the second hand turns 1/4, then 1/9 a step."""
    build_rotary_table(5, 4, base=16.0)
    _, sines = build_rotary_table(5, 4, base=81.0)
    assert_close(sines, expected=[[sin(pos), sin(pos / 9)] for pos in range(5)])


def test_no_positions_make_no_rows():
    """Length 0: no rows, all the pairs."""
    shapes = [tuple(table.shape) for table in build_rotary_table(0, 6)]
    assert shapes == [(0, 3), (0, 3)], f"length 0 and width 6 should give (0, 3), not {shapes}"


@pytest.mark.parametrize("d_k", [1, 7])
def test_odd_width_is_an_error(d_k):
    """The last feature has no partner to turn with."""
    with rejects(ValueError, naming=d_k):
        build_rotary_table(3, d_k)


@pytest.mark.parametrize(
    ("dtype", "half_a_step"), [(torch.bfloat16, 2**-9), (torch.float16, 2**-12)], ids=str
)
def test_half_types_are_cast_last(dtype, half_a_step):
    """bfloat16 knows 256 and 258 but not 257: the angles need float32, the waves do not."""
    answer = build_rotary_table(600, 6, dtype=dtype)
    # half a step of the type just below 1, and what float32 angles near 600 are off by
    assert_close(answer, by_the_paper(600, 6), rtol=0.0, atol=half_a_step + 1e-4)


def test_float64_is_float64_all_the_way():
    """The same table from float32 angles would be 2e-6 off."""
    assert_close(build_rotary_table(300, 6, dtype=torch.float64), by_the_paper(300, 6))


@pytest.mark.parametrize("base", [100.0, 10000.0, 500000.0])
@pytest.mark.parametrize(("length", "d_k"), [(4, 8), (9, 2), (1, 6), (50, 10), (300, 4)])
def test_every_length_and_width(length, d_k, base):
    """The angles of the paper, number by number."""
    # the last bits of a float32 angle weigh more the larger it is
    tolerance = 2e-7 * max(length, 5)
    answer = build_rotary_table(length, d_k, base)
    assert_close(answer, by_the_paper(length, d_k, base), rtol=0.0, atol=tolerance)
