"""Wrong versions of step 065, one slip each."""

import torch


def weights_swapped(first, gradient, beta1=0.9):
    """The weights have changed places: β goes to the gradient, and the memory is short."""
    return (1 - beta1) * first + beta1 * gradient


def not_an_average(first, gradient, beta1=0.9):
    """The gradient comes in whole: β m + g is a sum that grows, not an average."""
    return beta1 * first + gradient


def only_the_new(first, gradient, beta1=0.9):
    """The old moment is left out: there is no memory at all."""
    return (1 - beta1) * gradient + 0 * first


def old_kept_whole(first, gradient, beta1=0.9):
    """The old moment is kept whole: m + (1 − β) g never forgets."""
    return first + (1 - beta1) * gradient


def only_the_old(first, gradient, beta1=0.9):
    """The gradient is left out: nothing new is ever heard."""
    return beta1 * first + 0 * gradient


def squared(first, gradient, beta1=0.9):
    """The gradient is squared: that is the second moment."""
    return beta1 * first + (1 - beta1) * gradient**2


def subtracted(first, gradient, beta1=0.9):
    """The gradient is subtracted: downhill is the business of step 068."""
    return beta1 * first - (1 - beta1) * gradient


def beta_of_the_second(first, gradient, beta1=0.98):
    """β₁ is 0.98 by default, which is β₂."""
    return beta1 * first + (1 - beta1) * gradient


def beta_written_out(first, gradient, beta1=0.9):
    """0.9 is written out: the β that is asked for is never read."""
    return 0.9 * first + 0.1 * gradient


def in_place(first, gradient, beta1=0.9):
    """The old moment is overwritten: the caller's tensor changes."""
    return first.mul_(beta1).add_(gradient, alpha=1 - beta1)


def detached(first, gradient, beta1=0.9):
    """The gradient is detached: nothing can be learned through it."""
    return beta1 * first + (1 - beta1) * gradient.detach()


def moment_detached(first, gradient, beta1=0.9):
    """The old moment is detached: no gradient flows back to it."""
    return beta1 * first.detach() + (1 - beta1) * gradient


def beta_in_float32(first, gradient, beta1=0.9):
    """There is float32 on the way: in float64 only seven digits are right."""
    beta = torch.tensor(beta1, dtype=torch.float32).item()
    return beta * first + (1 - beta) * gradient


def in_float32(first, gradient, beta1=0.9):
    """The moment comes back as float32, whatever came in."""
    return beta1 * first.float() + (1 - beta1) * gradient.float()
