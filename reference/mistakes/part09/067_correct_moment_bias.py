"""Wrong versions of step 067, one slip each."""

import torch


def multiplied(moment, beta, step):
    """The moment is multiplied by 1 − βᵗ: what was too small gets smaller still."""
    return moment * (1 - beta ** _checked(step))


def complement_twice(moment, beta, step):
    """The complement is taken twice: 1 − (1 − βᵗ) is βᵗ."""
    return moment / (1 - (1 - beta ** _checked(step)))


def first_step_forever(moment, beta, step):
    """The step is never used: every moment is corrected as if it were the first."""
    return moment / (1 - beta + 0 * _checked(step))


def product_for_power(moment, beta, step):
    """β is multiplied by the step, not raised to it."""
    return moment / (1 - beta * _checked(step))


def one_step_late(moment, beta, step):
    """The exponent is one too large, as if the first step were number 2."""
    return moment / (1 - beta ** (_checked(step) + 1))


def one_step_early(moment, beta, step):
    """The exponent is one too small: the first step divides by 1 − β⁰ = 0."""
    return moment / (1 - beta ** (_checked(step) - 1))


def share_for_power(moment, beta, step):
    """The new share is raised in place of β: 1 − (1 − β)ᵗ."""
    return moment / (1 - (1 - beta) ** _checked(step))


def power_outside(moment, beta, step):
    """The power stands outside the bracket: (1 − β)ᵗ for 1 − βᵗ."""
    return moment / (1 - beta) ** _checked(step)


def warm_after_100(moment, beta, step):
    """From some step on nothing is corrected any more: a long memory is still cold by then."""
    return moment / (1 - beta**step) if _checked(step) <= 100 else moment * 1


def beta_in_the_moments_type(moment, beta, step):
    """β is rounded to the moment's type first: in bfloat16 0.999 is 1, and 1 − 1 = 0."""
    rounded = torch.tensor(beta, dtype=moment.dtype, device=moment.device)
    return moment / (1 - rounded ** _checked(step))


def root_taken(moment, beta, step):
    """The root is taken here already: √(1 − βᵗ)."""
    return moment / (1 - beta ** _checked(step)) ** 0.5


def left_alone(moment, beta, step):
    """The moment comes back as it was: the cold start is not made up for."""
    return moment * (1 + 0 * beta * _checked(step))


def step_not_checked(moment, beta, step):
    """A step below 1 is not refused."""
    return moment / (1 - beta**step)


def zero_let_through(moment, beta, step):
    """Only a negative step is refused; step 0 divides by zero."""
    if step < 0:
        raise ValueError(f"the first update is step 1, got step {step}")
    return moment / (1 - beta**step)


def in_place(moment, beta, step):
    """The moment is divided in place: the caller's average is changed for good."""
    return moment.detach().div_(1 - beta ** _checked(step))


def detached(moment, beta, step):
    """The moment is detached: nothing can be learned through it."""
    return moment.detach() / (1 - beta ** _checked(step))


def in_float32(moment, beta, step):
    """The corrected moment comes back as float32, whatever came in."""
    return moment.float() / (1 - beta ** _checked(step))


def _checked(step):
    if step < 1:
        raise ValueError(f"the first update is step 1, got step {step}")
    return step
