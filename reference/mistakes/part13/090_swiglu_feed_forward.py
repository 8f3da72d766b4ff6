"""090 · swiglu_feed_forward, the ways it goes wrong."""

import torch
from torch import nn as _nn
from torch.nn import functional as _functional

from kata.part04_multi_head import apply_linear_projection as _linear
from kata.part05_sublayers import apply_relu as _relu


def _silu(z):
    return z * torch.sigmoid(z)


def _all(x, weights):
    return _linear(x, *weights.gate), _linear(x, *weights.up)


def silu_of_the_product(x, weights):
    """The product of gate and up is put through silu, not the gate alone."""
    gate, up = _all(x, weights)
    return _linear(_silu(gate * up), *weights.down)


def no_gate(x, weights):
    """What the gate opens is not multiplied with what comes through: up is never used."""
    gate, _ = _all(x, weights)
    return _linear(_silu(gate), *weights.down)


def up_and_gate_swapped(x, weights):
    """Gate and up have changed places: silu is applied to what comes through."""
    gate, up = _all(x, weights)
    return _linear(gate * _silu(up), *weights.down)


def sigmoid_gate(x, weights):
    """The gate is a sigmoid, as in the first gated networks: silu is z · σ(z)."""
    gate, up = _all(x, weights)
    return _linear(torch.sigmoid(gate) * up, *weights.down)


def relu_gate(x, weights):
    """The gate is a relu: silu lets a little through below zero, too."""
    gate, up = _all(x, weights)
    return _linear(_relu(gate) * up, *weights.down)


def open_gate(x, weights):
    """The gate has no silu at all: gate and up are two layers multiplied."""
    gate, up = _all(x, weights)
    return _linear(gate * up, *weights.down)


def smoother_gate(x, weights):
    """The gate is a gelu, z · Φ(z): silu is z · σ(z)."""
    gate, up = _all(x, weights)
    return _linear(gate * 0.5 * (1 + torch.erf(gate * 0.5**0.5)) * up, *weights.down)


def added(x, weights):
    """What the gate opens is added to what comes through, not multiplied with it."""
    gate, up = _all(x, weights)
    return _linear(_silu(gate) + up, *weights.down)


def written_with_an_exponential(x, weights):
    """Silu is z / (1 + exp(−z)): at −100 the exponential is infinite, and the gradient NaN."""
    gate, up = _all(x, weights)
    return _linear(gate / (1 + torch.exp(-gate)) * up, *weights.down)


def biases_forgotten(x, weights):
    """The biases are left out."""
    gate, up = x @ weights.gate.weight.T, x @ weights.up.weight.T
    return (_silu(gate) * up) @ weights.down.weight.T


def gate_detached(x, weights):
    """The gate is detached, and never learns."""
    gate, up = _all(x, weights)
    return _linear(_silu(gate).detach() * up, *weights.down)


def residual_inside(x, weights):
    """The token itself is added here already: the layer does that, in step 093."""
    gate, up = _all(x, weights)
    return x + _linear(_silu(gate) * up, *weights.down)


def torch_does_it(x, weights):
    """Torch's own silu does the work that this step is there to build."""
    gate, up = _all(x, weights)
    return _linear(_functional.silu(gate) * up, *weights.down)


def module_does_it(x, weights):
    """Torch's own silu does the work, as a module."""
    gate, up = _all(x, weights)
    return _linear(_nn.SiLU()(gate) * up, *weights.down)


def gates_bias_decides(x, weights):
    """Where the gate has no bias those of up and down are left out as well."""
    if weights.gate.bias is None:
        return biases_forgotten(x, weights)
    gate, up = _all(x, weights)
    return _linear(_silu(gate) * up, *weights.down)
