"""010 · compute_inverse_frequencies. Lesson: 010_compute_inverse_frequencies.md."""

import pytest
import torch

from kata.part02_embeddings import compute_inverse_frequencies
from specs.harness.check import assert_close


def by_hand(d_model, base):
    """One Python float for each pair of columns: base^(−2i/D)."""
    return [base ** (-2 * pair / d_model) for pair in range((d_model + 1) // 2)]


def test_width_eight_makes_four_decades():
    """10000^(−2i/8) = 10^(−i): each clock hand turns ten times slower than the one before."""
    assert_close(compute_inverse_frequencies(8), expected=[1.0, 0.1, 0.01, 0.001])


def test_odd_width_keeps_its_last_half_pair():
    """Width 5: exponents 0, −2/5 and −4/5, so 1, 10^(−1.6) and 10^(−3.2)."""
    frequencies = compute_inverse_frequencies(5)
    assert_close(frequencies, expected=[1.0, 0.025118864315, 0.00063095734448])


def test_width_one_has_one_frequency():
    """10000^0 = 1."""
    assert_close(compute_inverse_frequencies(1), expected=[1.0])


def test_another_base():
    """64^(−2i/6) = 4^(−i)."""
    assert_close(compute_inverse_frequencies(6, base=64.0), expected=[1.0, 0.25, 0.0625])


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_the_type_is_the_one_asked_for(dtype):
    """Base 4 and width 4: 1 and 1/2, exact in every type."""
    frequencies = compute_inverse_frequencies(4, base=4.0, dtype=dtype)
    assert_close(frequencies, expected=[1.0, 0.5])


def test_float64_is_float64_all_the_way():
    """Computed in float32 and cast up, the numbers would be right to 7 digits only."""
    frequencies = compute_inverse_frequencies(6, dtype=torch.float64)
    assert_close(frequencies, expected=[1.0, 0.046415888336127774, 0.0021544346900318843])


@pytest.mark.parametrize(
    ("dtype", "half_a_step"), [(torch.bfloat16, 2**-8), (torch.float16, 2**-11)], ids=str
)
def test_half_types_are_cast_last(dtype, half_a_step):
    """Computed in float32 and rounded once, a number is off by at most half a step of its type."""
    frequencies = compute_inverse_frequencies(250, dtype=dtype)
    # a hair more than half a step, for what float32 itself is off by
    assert_close(frequencies, by_hand(250, base=10000.0), rtol=1.01 * half_a_step, atol=0.0)


@pytest.mark.parametrize("base", [2.5, 10000.0, 500000.0])
@pytest.mark.parametrize("d_model", [2, 3, 7, 64, 511, 512])
def test_every_width_and_base(d_model, base):
    """Python's own powers, one by one; exp of a logarithm is as good, to about 1e-6."""
    frequencies = compute_inverse_frequencies(d_model, base)
    # exp turns the last bit of an exponent near −13 into 13 last bits of the answer
    assert_close(frequencies, expected=by_hand(d_model, base), rtol=1e-5, atol=0.0)
