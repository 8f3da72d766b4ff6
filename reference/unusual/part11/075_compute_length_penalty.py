"""Right but unusual versions of step 075."""

import math


def through_logarithms(length, alpha=0.6):
    """A power is an exponential of a product."""
    if not length > 0:
        raise ValueError(f"length is {length}, but should be 1 or more")
    return math.exp(alpha * math.log1p((length - 1) / 6))


def two_powers(length, alpha=0.6):
    """Numerator and denominator are raised each for itself."""
    if length <= 0:
        raise ValueError(length)
    return math.pow(5 + length, alpha) / math.pow(6, alpha)


def inverse_to_a_negative_power(length, alpha=0.6):
    """The inverse fraction to the power of minus alpha."""
    if length < 1:
        raise ValueError(f"no sentence has {length} tokens")
    return (6.0 / (length + 5.0)) ** -alpha
