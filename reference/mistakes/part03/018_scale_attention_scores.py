"""Wrong versions of step 018, one slip each."""

import math


def divided_by_the_width(scores, d_k):
    """The scores are divided by d_k, not by its square root."""
    return scores / _checked(d_k)


def multiplied(scores, d_k):
    """The scores are multiplied by the root of d_k: louder, not quieter."""
    return scores * math.sqrt(_checked(d_k))


def not_scaled(scores, d_k):
    """The scores are not divided by sqrt(d_k)."""
    _checked(d_k)
    return scores.clone()


def number_of_keys(scores, d_k):
    """The root is taken of the number of keys, not of d_k."""
    _checked(d_k)
    return scores / math.sqrt(scores.shape[-1])


def whole_root(scores, d_k):
    """The root is cut off to a whole number."""
    return scores / math.isqrt(_checked(d_k))


def in_place(scores, d_k):
    """The scores are divided in place: the caller's tensor changes."""
    scores /= math.sqrt(_checked(d_k))
    return scores


def in_float32(scores, d_k):
    """The result is float32, whatever the scores were."""
    return scores.float() / math.sqrt(_checked(d_k))


def width_unchecked(scores, d_k):
    """A width of 0 or below is not refused."""
    return scores / d_k**0.5


def _checked(d_k):
    if d_k <= 0:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    return d_k
