"""Wrong versions of step 066, one slip each."""

import torch


def not_squared(second, gradient, beta2=0.98):
    """The gradient is not squared: that is the first moment again."""
    return beta2 * second + (1 - beta2) * gradient


def sizes_for_squares(second, gradient, beta2=0.98):
    """The gradient's size stands where its square belongs."""
    return beta2 * second + (1 - beta2) * gradient.abs()


def share_squared_too(second, gradient, beta2=0.98):
    """The gradient's share is squared along with it: ((1 − β) g)²."""
    return beta2 * second + ((1 - beta2) * gradient) ** 2


def whole_tensor_at_once(second, gradient, beta2=0.98):
    """The squares are averaged over the whole tensor: every number gets the same moment."""
    return beta2 * second + (1 - beta2) * (gradient**2).mean()


def weights_swapped(second, gradient, beta2=0.98):
    """The weights have changed places: β goes to the new square."""
    return (1 - beta2) * second + beta2 * gradient**2


def not_an_average(second, gradient, beta2=0.98):
    """The square comes in whole: β v + g² is a sum that grows, not an average."""
    return beta2 * second + gradient**2


def never_forgets(second, gradient, beta2=0.98):
    """The old moment is kept whole: v + g² only ever grows, and the steps only ever shrink."""
    return second + gradient**2 + 0 * beta2


def only_the_new(second, gradient, beta2=0.98):
    """The old moment is left out: there is no memory at all."""
    return (1 - beta2) * gradient**2 + 0 * second


def deviations(second, gradient, beta2=0.98):
    """The old moment is squared too, as if it were a gradient."""
    return beta2 * second**2 + (1 - beta2) * gradient**2


def floor_under_the_moment(second, gradient, beta2=0.98):
    """The moment is kept away from 0: tiny gradients count as larger ones."""
    return (beta2 * second + (1 - beta2) * gradient**2).clamp(min=1e-8)


def default_of_torch(second, gradient, beta2=0.999):
    """β₂ is 0.999 by default, as in torch; the paper has 0.98."""
    return beta2 * second + (1 - beta2) * gradient**2


def in_place(second, gradient, beta2=0.98):
    """The old moment is overwritten: the caller's tensor changes."""
    return second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)


def gradient_squared_in_place(second, gradient, beta2=0.98):
    """The gradient is squared in place: the caller's gradient changes."""
    return beta2 * second + (1 - beta2) * gradient.square_()


def detached(second, gradient, beta2=0.98):
    """The gradient is detached: nothing can be learned through it."""
    return beta2 * second + (1 - beta2) * gradient.detach() ** 2


def moment_detached(second, gradient, beta2=0.98):
    """The old moment is detached: no gradient flows back to it."""
    return beta2 * second.detach() + (1 - beta2) * gradient**2


def beta_in_float32(second, gradient, beta2=0.98):
    """There is float32 on the way: in float64 only seven digits are right."""
    beta = torch.tensor(beta2, dtype=torch.float32).item()
    return beta * second + (1 - beta) * gradient**2


def in_float32(second, gradient, beta2=0.98):
    """The moment comes back as float32, whatever came in."""
    return beta2 * second.float() + (1 - beta2) * gradient.float() ** 2
