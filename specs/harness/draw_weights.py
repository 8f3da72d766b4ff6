"""Drawn weights, the same on every run, that look trained.

Gains are not 1, biases are not 0, and no two tensors are alike.
"""

from __future__ import annotations

from typing import Any

import torch

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
from specs.harness.pen import Pen
from specs.harness.values import is_tensor, rebuild

TINY = TransformerConfig(
    vocab_size=11,
    d_model=8,
    num_heads=2,
    d_ff=12,
    num_layers=2,
    max_length=9,
    dropout_rate=0.0,
    pad_id=0,
    start_id=1,
    end_id=2,
)


class _LayerPen(Pen):
    """Draws what layers are made of."""

    def norm(self, d_model: int) -> LayerNormWeights:
        return LayerNormWeights(self.gain(d_model), self.normal(d_model, spread=0.5))

    def attention(self, d_model: int) -> AttentionWeights:
        return AttentionWeights(*(self.linear(d_model, d_model) for _ in range(4)))

    def feed_forward(self, d_model: int, d_ff: int) -> FeedForwardWeights:
        return FeedForwardWeights(self.linear(d_ff, d_model), self.linear(d_model, d_ff))


def encoder_layer(d_model: int, d_ff: int, seed: int = 0) -> EncoderLayerWeights:
    """Draw one encoder layer."""
    pen = _LayerPen(1000 + seed)
    return EncoderLayerWeights(
        pen.attention(d_model),
        pen.norm(d_model),
        pen.feed_forward(d_model, d_ff),
        pen.norm(d_model),
    )


def decoder_layer(d_model: int, d_ff: int, seed: int = 0) -> DecoderLayerWeights:
    """Draw one decoder layer."""
    pen = _LayerPen(1000 + seed)
    return DecoderLayerWeights(
        pen.attention(d_model),
        pen.norm(d_model),
        pen.attention(d_model),
        pen.norm(d_model),
        pen.feed_forward(d_model, d_ff),
        pen.norm(d_model),
    )


def encoder_layers(
    count: int, d_model: int, d_ff: int, seed: int = 0
) -> tuple[EncoderLayerWeights, ...]:
    """Draw a stack of encoder layers, each of its own."""
    return tuple(encoder_layer(d_model, d_ff, 10 * seed + index) for index in range(count))


def decoder_layers(
    count: int, d_model: int, d_ff: int, seed: int = 0
) -> tuple[DecoderLayerWeights, ...]:
    """Draw a stack of decoder layers, each of its own."""
    return tuple(decoder_layer(d_model, d_ff, 10 * seed + index) for index in range(count))


def output_projection(
    vocab_size: int, d_model: int, *, bias: bool = True, seed: int = 0
) -> LinearWeights:
    """Draw an output projection."""
    return _LayerPen(1000 + seed).linear(vocab_size, d_model, bias=bias)


def transformer(
    config: TransformerConfig = TINY, *, tied: bool = True, bias: bool = True, seed: int = 0
) -> TransformerWeights:
    """Draw a whole model; ``tied``, its output projection is the embedding table itself."""
    pen = _LayerPen(1000 + seed)
    table = pen.normal(config.vocab_size, config.d_model, spread=config.d_model**-0.5)
    output = pen.linear(config.vocab_size, config.d_model, bias=bias)
    return TransformerWeights(
        token_embedding=table,
        encoder_layers=encoder_layers(config.num_layers, config.d_model, config.d_ff, seed + 1),
        decoder_layers=decoder_layers(config.num_layers, config.d_model, config.d_ff, seed + 2),
        output_projection=output._replace(weight=table) if tied else output,
    )


def cast(weights: Any, dtype: torch.dtype) -> Any:
    """Turn every tensor of some weights to a dtype; tied tensors stay tied."""
    return rebuild(weights, lambda leaf: leaf.to(dtype) if is_tensor(leaf) else leaf)


def trainable(weights: Any) -> Any:
    """Copy weights so that every tensor is a leaf that takes a gradient; tied tensors stay tied."""
    return rebuild(
        weights, lambda leaf: leaf.detach().clone().requires_grad_() if is_tensor(leaf) else leaf
    )
