"""Right but unusual versions of step 045."""

from functools import partial

import torch
from torch.nn import functional

from kata.part04_multi_head import apply_linear_projection
from kata.part05_sublayers import add_and_norm, apply_relu, position_wise_feed_forward
from kata.part06_transformer import encoder_layer_feed_forward_sublayer


def encoders_sublayer(x, layer, dropout_rate=0.0, generator=None):
    """The encoder's sub-layer does it: the names that it looks up are the same."""
    return encoder_layer_feed_forward_sublayer(x, layer, dropout_rate, generator)


def convolutions_of_width_one(x, layer, dropout_rate=0.0, generator=None):
    """Two width-1 convolutions, as section 3.3 of the paper puts it."""
    (w1, b1), (w2, b2) = layer.feed_forward
    signal = x.reshape(-1, x.shape[-1], 1)
    hidden = apply_relu(functional.conv1d(signal, w1.unsqueeze(-1), b1))
    thought = functional.conv1d(hidden, w2.unsqueeze(-1), b2).view(x.shape)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def rows_of_one_matrix(x, layer, dropout_rate=0.0, generator=None):
    """All words of all sentences are one long sentence."""
    rows = x.reshape(1, -1, x.shape[-1])
    thought = position_wise_feed_forward(rows, layer.feed_forward)
    norm = layer.feed_forward_norm
    return add_and_norm(rows, thought, norm, dropout_rate, generator).view(x.shape)


def each_word_by_vmap(x, layer, dropout_rate=0.0, generator=None):
    """The network is written for one word, and ``vmap`` of ``vmap`` is the batch of sentences."""

    def think(word):
        hidden = apply_relu(apply_linear_projection(word, *layer.feed_forward.expand))
        return apply_linear_projection(hidden, *layer.feed_forward.contract)

    thought = torch.vmap(torch.vmap(think))(x)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def place_after_place(x, layer, dropout_rate=0.0, generator=None):
    """The whole sub-layer for one place after the other; the last two fields are its weights."""
    *_, network, norm = layer
    places = [
        add_and_norm(
            place, position_wise_feed_forward(place, network), norm, dropout_rate, generator
        )
        for place in x.split(1, dim=1)
    ]
    return torch.cat(places, dim=1)


def _sublayer(network, norm, x, layer, dropout_rate=0.0, generator=None):
    thought = position_wise_feed_forward(x, getattr(layer, network))
    return add_and_norm(x, thought, getattr(layer, norm), dropout_rate, generator)


fields_by_name = partial(_sublayer, "feed_forward", "feed_forward_norm")
fields_by_name.__doc__ = "A ``partial`` of a sub-layer for any two fields."
fields_by_name.__module__ = __name__
