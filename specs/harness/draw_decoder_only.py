"""Drawn weights of the decoder-only model, the same on every run, that look trained.

Gains are not 1, there are biases, and no two tensors are alike.
"""

from __future__ import annotations

from kata.weights import (
    AttentionWeights,
    DecoderOnlyConfig,
    DecoderOnlyLayerWeights,
    DecoderOnlyWeights,
    GatedFeedForwardWeights,
)
from specs.harness.pen import Pen

TINY = DecoderOnlyConfig(
    vocab_size=11,
    d_model=8,
    num_heads=4,
    d_ff=12,
    num_layers=2,
    max_length=9,
    dropout_rate=0.0,
    pad_id=0,
    start_id=1,
    end_id=2,
    num_kv_heads=2,
)


def gated_feed_forward(
    d_model: int, d_ff: int, *, bias: bool = True, seed: int = 0
) -> GatedFeedForwardWeights:
    """Draw the gated network of a layer."""
    pen = Pen(2000 + seed)
    return GatedFeedForwardWeights(
        gate=pen.linear(d_ff, d_model, bias=bias),
        up=pen.linear(d_ff, d_model, bias=bias),
        down=pen.linear(d_model, d_ff, bias=bias),
    )


def layer(
    num_heads: int, num_kv_heads: int, d_k: int, d_ff: int, *, bias: bool = True, seed: int = 0
) -> DecoderOnlyLayerWeights:
    """Draw one layer; its key and value projections are as wide as ``num_kv_heads`` heads."""
    pen, d_model, kv_width = Pen(2100 + seed), num_heads * d_k, num_kv_heads * d_k
    return DecoderOnlyLayerWeights(
        attention_norm=pen.gain(d_model),
        attention=AttentionWeights(
            query=pen.linear(d_model, d_model, bias=bias),
            key=pen.linear(kv_width, d_model, bias=bias),
            value=pen.linear(kv_width, d_model, bias=bias),
            output=pen.linear(d_model, d_model, bias=bias),
        ),
        feed_forward_norm=pen.gain(d_model),
        feed_forward=gated_feed_forward(d_model, d_ff, bias=bias, seed=200 + seed),
    )


def model(config: DecoderOnlyConfig = TINY, *, bias: bool = True) -> DecoderOnlyWeights:
    """Draw a whole model, each layer of its own."""
    pen, d_k = Pen(2300), config.d_model // config.num_heads
    layers = (
        layer(config.num_heads, config.num_kv_heads, d_k, config.d_ff, bias=bias, seed=index)
        for index in range(config.num_layers)
    )
    return DecoderOnlyWeights(
        token_embedding=pen.normal(config.vocab_size, config.d_model),
        layers=tuple(layers),
        final_norm=pen.gain(config.d_model),
    )
