"""Wrong versions of position_wise_feed_forward, one slip each."""

import torch
from torch.nn import functional

from kata.part04_multi_head import apply_linear_projection
from kata.part05_sublayers import apply_relu


def relu_at_the_end(x, weights):
    """The relu stands after the second projection, not between the two."""
    hidden = apply_linear_projection(x, *weights.expand)
    return apply_relu(apply_linear_projection(hidden, *weights.contract))


def relu_twice(x, weights):
    """A second relu stands at the end: no output is ever negative."""
    return apply_relu(_feed_forward(x, weights))


def no_relu(x, weights):
    """The relu is left out: two projections in a row are one projection."""
    hidden = apply_linear_projection(x, *weights.expand)
    return apply_linear_projection(hidden, *weights.contract)


def relu_at_the_door(x, weights):
    """The relu comes before the first projection: x is cut, and the inside is not."""
    hidden = apply_linear_projection(apply_relu(x), *weights.expand)
    return apply_linear_projection(hidden, *weights.contract)


def projections_swapped(x, weights):
    """The two projections have changed places."""
    hidden = apply_relu(apply_linear_projection(x, *weights.contract))
    return apply_linear_projection(hidden, *weights.expand)


def weights_not_transposed(x, weights):
    """x W in place of x Wᵀ: it fits only where the inside is as wide as the outside."""
    (expand, b1), (contract, b2) = weights
    return apply_linear_projection(
        apply_relu(apply_linear_projection(x, expand.T, b1)), contract.T, b2
    )


def first_bias_forgotten(x, weights):
    """b₁ is forgotten: every gate stands at zero."""
    hidden = apply_relu(apply_linear_projection(x, weights.expand.weight))
    return apply_linear_projection(hidden, *weights.contract)


def second_bias_forgotten(x, weights):
    """b₂ is forgotten."""
    hidden = apply_relu(apply_linear_projection(x, *weights.expand))
    return apply_linear_projection(hidden, weights.contract.weight)


def first_bias_after_the_relu(x, weights):
    """b₁ is added after the relu: it should move the gate, and cannot any more."""
    hidden = apply_relu(apply_linear_projection(x, weights.expand.weight))
    if weights.expand.bias is not None:
        hidden = hidden + weights.expand.bias
    return apply_linear_projection(hidden, *weights.contract)


def biases_required(x, weights):
    """A bias is added even where there is none."""
    (expand, b1), (contract, b2) = weights
    return apply_relu(x @ expand.T + b1) @ contract.T + b2


def input_added(x, weights):
    """x is added to the result: that is the work of step 038."""
    return x + _feed_forward(x, weights)


def neighbour_mixed_in(x, weights):
    """Each position hears the one before it: the width-1 window has become a wider one."""
    before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
    return _feed_forward(x + before, weights)


def hidden_detached(x, weights):
    """What is inside is detached: x and the first projection learn nothing."""
    hidden = apply_relu(apply_linear_projection(x, *weights.expand)).detach()
    return apply_linear_projection(hidden, *weights.contract)


def torch_does_it(x, weights):
    """Torch's relu does the work of step 032."""
    hidden = functional.relu(apply_linear_projection(x, *weights.expand))
    return apply_linear_projection(hidden, *weights.contract)


def _feed_forward(x, weights):
    hidden = apply_relu(apply_linear_projection(x, *weights.expand))
    return apply_linear_projection(hidden, *weights.contract)
