"""Part 7 · Parameter Initialization.

Before it learns anything a model is made of dice, and it matters which. Thrown too high, signals
grow from layer to layer until softmax hears one voice only; too low, and they die away. Each matrix
gets dice that keep a signal at its volume, in an encoder layer (052) and in a decoder layer (053);
the whole model is one table and two stacks of them, each layer with a throw of its own (054). What
the optimiser will turn is then collected, every tensor once (055).

The paper does not tell how its weights began. This is the usual way for its kind of model: Glorot
and Bengio's uniform dice ("Xavier", 2010), biases 0, gains 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
    TransformerConfig,
    TransformerWeights,
)


def initialize_encoder_layer_weights(
    config: TransformerConfig,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> EncoderLayerWeights:
    """Throw the dice for one encoder layer, so that no matrix makes what passes through it louder.

    Each matrix ``(d_out, d_in)`` is drawn evenly from ±√(6 / (d_in + d_out)), biases are 0, gains
    are 1. All are leaf tensors that require a gradient, and no two share storage.
    ``generator=None`` draws from torch's default one; ``device=None`` is torch's own default.

    The matrices are those of sections 3.2.2 and 3.3 of the paper.
    """
    raise NotImplementedError("step 052: write initialize_encoder_layer_weights")


def initialize_decoder_layer_weights(
    config: TransformerConfig,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> DecoderLayerWeights:
    """Throw the dice for one decoder layer: as for an encoder layer, and once more to look across.

    Matrices, biases and gains are as in step 052. The two attentions, of the sentence to itself and
    to the encoder's output, have weights of their own.

    Section 3.1 of the paper: the decoder "inserts a third sub-layer".
    """
    raise NotImplementedError("step 053: write initialize_decoder_layer_weights")


def initialize_transformer_weights(
    config: TransformerConfig,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> TransformerWeights:
    """Set up the whole model: one table of words, two stacks of layers, each with dice of its own.

    The embedding table is normal with standard deviation ``1/√d_model``, which the scaling of step
    008 turns into 1. There are ``config.num_layers`` layers on each side, as steps 052 and 053 make
    them. The output projection's matrix *is* the table, the very same tensor, and it has no bias.
    A generator with the same seed gives the same weights.

    Sections 3.1 and 3.4 of the paper: "we share the same weight matrix".
    """
    raise NotImplementedError("step 054: write initialize_transformer_weights")


def gather_parameters(weights: tuple[object, ...]) -> list[Tensor]:
    """Walk through the whole model and collect what learns, every tensor once.

    ``weights`` is any container of ``kata.weights``. Its tensors that require a gradient are listed
    in the order in which the containers name them, so that two models of one kind are listed alike.
    A tensor met twice, such as the table that is also the output projection, is listed once; a
    missing bias is not listed.

    Section 5.3 of the paper hands this list to Adam.
    """
    raise NotImplementedError("step 055: write gather_parameters")
