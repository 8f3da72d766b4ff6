"""040 · encoder_layer_feed_forward_sublayer, right all the same."""

import torch
from torch.nn import functional

from kata.part05_sublayers import apply_dropout, layer_norm


def convolutions_of_width_1(x, layer, dropout_rate=0.0, generator=None):
    """Two convolutions of width 1, as section 3.3 of the paper puts it; dropout by hand."""
    (w1, b1), (w2, b2) = layer.feed_forward
    hidden = functional.conv1d(x.mT, w1[..., None], b1).clamp(min=0)
    thought = functional.conv1d(hidden, w2[..., None], b2).mT
    if dropout_rate == 1:
        thought = thought * 0
    elif dropout_rate:
        chance = torch.rand(thought.shape, generator=generator, device=x.device)
        thought = thought * (chance > dropout_rate) / (1 - dropout_rate)
    return layer_norm(thought + x, layer.feed_forward_norm)


def dropout_always_called(x, layer, dropout_rate=0.0, generator=None):
    """The hidden numbers by maximum, and the sum the other way round."""
    (w1, b1), (w2, b2) = layer.feed_forward
    hidden = torch.maximum(_plus(x @ w1.T, b1), torch.zeros_like(x[..., :1]))
    thought = _plus(hidden @ w2.T, b2)
    total = apply_dropout(thought, dropout_rate, generator) + x
    return layer_norm(total, layer.feed_forward_norm)


def _plus(x, bias):
    return x if bias is None else x + bias
