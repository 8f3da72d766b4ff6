"""075 · compute_length_penalty. Lesson: 075_compute_length_penalty.md."""

from math import exp, log

import pytest

from kata.part11_decoding import compute_length_penalty
from specs.harness.check import assert_close, rejects


@pytest.mark.parametrize(
    ("length", "penalty"), [(1, 1.0), (2, 7 / 6), (7, 2.0), (13, 3.0), (55, 10.0)]
)
def test_sixths_by_hand(length, penalty):
    """At α = 1 it is (5 + length) / 6: 6/6, 7/6, 12/6, 18/6, 60/6."""
    assert_close(compute_length_penalty(length, 1.0), expected=penalty)


@pytest.mark.parametrize(("length", "penalty"), [(1, 1.0), (19, 2.0), (49, 3.0)])
def test_alpha_is_a_power(length, penalty):
    """At α = 1/2 the root is taken: of 1, of 24/6 = 4, of 54/6 = 9."""
    assert_close(compute_length_penalty(length, alpha=0.5), expected=penalty)


@pytest.mark.parametrize("length", [1, 2, 100])
def test_alpha_zero_excuses_nothing(length):
    """Every length counts the same: 1."""
    assert_close(compute_length_penalty(length, alpha=0.0), expected=1.0)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0])
def test_single_token_is_the_measure(alpha):
    """(5 + 1) / 6 = 1, to whatever power."""
    assert_close(compute_length_penalty(1, alpha), expected=1.0)


def test_alpha_of_the_paper_if_nothing_is_said():
    """(5 + 187) / 6 = 32 = 2⁵, and 2^(5 · 0.6) = 8."""
    assert_close(compute_length_penalty(187), expected=8.0)


@pytest.mark.parametrize("alpha", [0.2, 0.6, 1.5])
@pytest.mark.parametrize("length", [2, 3, 10, 1000])
def test_agrees_with_logarithms(length, alpha):
    """A power is a product of logarithms: e^(α · (ln(5 + length) − ln 6))."""
    expected = exp(alpha * (log(5 + length) - log(6)))
    assert_close(compute_length_penalty(length, alpha), expected=expected)


@pytest.mark.parametrize("length", [0, -7])
def test_length_below_one_is_an_error(length):
    """A sentence that has ended holds at least its end token."""
    with rejects(ValueError, naming=length):
        compute_length_penalty(length)
