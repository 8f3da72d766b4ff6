"""Right but unusual versions of step 067."""

import math


def _checked(step):
    if not step >= 1:
        raise ValueError(f"step {step}: nothing was seen yet")
    return step


def divided_by_the_sum_of_shares(moment, beta, step):
    """The shares of the gradients are added up, one by one."""
    return moment / sum((1 - beta) * beta**ago for ago in range(_checked(step)))


def multiplied_by_the_inverse(moment, beta, step):
    """What is missing is multiplied in."""
    return moment * (1 / (1 - pow(beta, _checked(step))))


def by_logarithms(moment, beta, step):
    """``expm1`` finds 1 − βᵗ without losing digits; a β of 0 has no logarithm."""
    return moment / (-math.expm1(_checked(step) * math.log(beta)) if beta else 1)
