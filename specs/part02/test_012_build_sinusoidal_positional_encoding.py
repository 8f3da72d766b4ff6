"""012 · build_sinusoidal_positional_encoding. Lesson: 012_build_sinusoidal_positional_encoding.md."""  # noqa: E501  two names in full

from math import cos, sin

import pytest
import torch

from kata.part02_embeddings import build_sinusoidal_positional_encoding
from specs.harness.check import assert_close


def by_the_paper(length, d_model, base=10000.0):
    """Section 3.5, one Python float at a time: sine in even columns, cosine in odd ones."""
    slowness = [base ** (column // 2 * 2 / d_model) for column in range(d_model)]
    waves = [(sin, cos)[column % 2] for column in range(d_model)]
    return [
        [wave(pos / slow) for wave, slow in zip(waves, slowness, strict=True)]
        for pos in range(length)
    ]


def test_width_four_by_hand():
    """Two hands, at 1 and 0.01 radians a step: sin 1, cos 1, sin 0.01, cos 0.01, …"""
    encoding = build_sinusoidal_positional_encoding(3, 4)
    assert_close(
        encoding,
        expected=[
            [0.0, 1.0, 0.0, 1.0],
            [0.84147098, 0.54030231, 0.00999983, 0.99995000],
            [0.90929743, -0.41614684, 0.01999867, 0.99980001],
        ],
    )


@pytest.mark.parametrize("d_model", [1, 2, 5, 6])
def test_position_zero_is_zero_one_zero_one(d_model):
    """Every hand starts at angle 0, where the sine is 0 and the cosine 1."""
    encoding = build_sinusoidal_positional_encoding(1, d_model)
    assert_close(encoding, expected=[[float(column % 2) for column in range(d_model)]])


def test_odd_width_ends_on_a_sine():
    """Width 5 at position 1: the third hand, 10^(−3.2) radians a step, shows its sine only."""
    encoding = build_sinusoidal_positional_encoding(2, 5)
    second_row = [0.84147098, 0.54030231, 0.02511622, 0.99968454, 0.00063096]
    assert_close(encoding, expected=[[0.0, 1.0, 0.0, 1.0, 0.0], second_row])


def test_another_base():
    """Base 16 and width 4: the second hand turns 16^(−2/4) = 1/4 radian a step."""
    encoding = build_sinusoidal_positional_encoding(3, 4, base=16.0)
    expected = [[sin(pos), cos(pos), sin(pos / 4), cos(pos / 4)] for pos in range(3)]
    assert_close(encoding, expected)


def test_no_positions_make_no_rows():
    """Length 0: no rows, all the columns."""
    shape = tuple(build_sinusoidal_positional_encoding(0, 6).shape)
    assert shape == (0, 6), f"length 0 and width 6 should give shape (0, 6), not {shape}"


@pytest.mark.parametrize(
    ("dtype", "half_a_step"), [(torch.bfloat16, 2**-9), (torch.float16, 2**-12)], ids=str
)
def test_half_types_are_cast_last(dtype, half_a_step):
    """bfloat16 knows 256 and 258 but not 257: the angles need float32, the waves do not."""
    encoding = build_sinusoidal_positional_encoding(1000, 6, dtype=dtype)
    # half a step of the type just below 1, and what float32 angles near 1000 are off by
    assert_close(encoding, expected=by_the_paper(1000, 6), rtol=0.0, atol=half_a_step + 1e-4)


def test_float64_is_float64_all_the_way():
    """The same table from float32 angles would be 3e-6 off."""
    encoding = build_sinusoidal_positional_encoding(500, 6, dtype=torch.float64)
    assert_close(encoding, expected=by_the_paper(500, 6))


def test_long_table_reaches_its_last_position():
    """Position 5000: the one hand of width 2 has turned 5000 radians."""
    encoding = build_sinusoidal_positional_encoding(5001, 2)
    # half a step of float32 near 5000: a quarter turn may be added to the angle for a cosine
    assert_close(encoding[-1:], expected=[[sin(5000), cos(5000)]], rtol=0.0, atol=2**-12)


@pytest.mark.parametrize("base", [100.0, 10000.0])
@pytest.mark.parametrize(
    ("length", "d_model"), [(7, 1), (4, 9), (9, 4), (1, 6), (50, 8), (512, 16), (512, 17)]
)
def test_every_length_and_width(length, d_model, base):
    """The paper's two equations, number by number."""
    encoding = build_sinusoidal_positional_encoding(length, d_model, base)
    # the last bits of a float32 angle weigh more the larger it is: 5e-5 were measured at 512
    tolerance = 2e-7 * max(length, 5)
    assert_close(encoding, by_the_paper(length, d_model, base), rtol=0.0, atol=tolerance)
