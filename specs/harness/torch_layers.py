"""Torch's own layers as judges: they carry given weights, and answer in float64.

They are made without numbers of their own, so no random generator moves. They run in training mode
with dropout 0, where torch takes no short cuts. Their masks are ours turned round: True hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
)

State = dict[str, Tensor]


def attend(
    x: Tensor, memory: Tensor, weights: AttentionWeights, num_heads: int, mask: Tensor
) -> Tensor:
    """The output of ``nn.MultiheadAttention``."""
    d_model = x.shape[-1]
    module = nn.MultiheadAttention(d_model, num_heads, batch_first=True, device="meta")
    _carry(module, _attention(weights))
    x, memory = x.double(), memory.double()
    hidden = _hidden(mask, x, memory, num_heads)
    return Tensor(module(x, memory, memory, attn_mask=hidden, need_weights=False)[0])


def norm(x: Tensor, weights: LayerNormWeights) -> Tensor:
    """The output of ``F.layer_norm``."""
    gain, bias = weights.gain.double(), weights.bias.double()
    return nn.functional.layer_norm(x.double(), gain.shape, gain, bias)


def feed_forward(x: Tensor, weights: FeedForwardWeights) -> Tensor:
    """The output of two ``F.linear`` with ``F.relu`` between them."""
    return linear(nn.functional.relu(linear(x, weights.expand)), weights.contract)


def linear(x: Tensor, weights: LinearWeights) -> Tensor:
    """The output of ``F.linear``."""
    bias = None if weights.bias is None else weights.bias.double()
    return nn.functional.linear(x.double(), weights.weight.double(), bias)


def encode(
    x: Tensor, layers: Sequence[EncoderLayerWeights], num_heads: int, source_mask: Tensor
) -> Tensor:
    """The output of ``nn.TransformerEncoder``, made of post-norm layers and with ``norm=None``."""
    layer = nn.TransformerEncoderLayer(*_sizes(layers[0], num_heads), **POST_NORM)
    stack = nn.TransformerEncoder(layer, len(layers), norm=None, enable_nested_tensor=False)
    _carry(stack, _stacked(_encoder_layer(weights) for weights in layers))
    return Tensor(stack(x.double(), src_key_padding_mask=~source_mask[:, 0, 0]))


def decode(
    x: Tensor,
    memory: Tensor,
    layers: Sequence[DecoderLayerWeights],
    num_heads: int,
    target_mask: Tensor,
    source_mask: Tensor,
) -> Tensor:
    """The output of ``nn.TransformerDecoder``, made of post-norm layers and with ``norm=None``."""
    layer = nn.TransformerDecoderLayer(*_sizes(layers[0], num_heads), **POST_NORM)
    stack = nn.TransformerDecoder(layer, len(layers), norm=None)
    _carry(stack, _stacked(_decoder_layer(weights) for weights in layers))
    hidden = _hidden(target_mask, x, x, num_heads)
    blank = ~source_mask[:, 0, 0]
    return Tensor(
        stack(x.double(), memory.double(), tgt_mask=hidden, memory_key_padding_mask=blank)
    )


POST_NORM: dict[str, Any] = {
    "dropout": 0.0,
    "batch_first": True,
    "norm_first": False,
    "device": "meta",
}


def _sizes(
    layer: EncoderLayerWeights | DecoderLayerWeights, num_heads: int
) -> tuple[int, int, int]:
    d_ff, d_model = layer.feed_forward.expand.weight.shape
    return d_model, num_heads, d_ff


def _hidden(mask: Tensor, x: Tensor, memory: Tensor, num_heads: int) -> Tensor:
    return ~mask.expand(len(x), num_heads, x.shape[1], memory.shape[1]).flatten(0, 1)


def _carry(module: nn.Module, state: State) -> None:
    """Give a module without numbers its weights, in float64."""
    module.load_state_dict(
        {name: part.detach().double() for name, part in state.items()}, assign=True
    )


def _under(prefix: str, state: State) -> State:
    return {f"{prefix}.{name}": part for name, part in state.items()}


def _stacked(states: Iterable[State]) -> State:
    """The state of a stack from those of its layers."""
    stack: State = {}
    for index, state in enumerate(states):
        stack |= _under(f"layers.{index}", state)
    return stack


def _linear(weights: LinearWeights) -> State:
    assert weights.bias is not None, "these judges want a bias"
    return {"weight": weights.weight, "bias": weights.bias}


def _norm(weights: LayerNormWeights) -> State:
    return {"weight": weights.gain, "bias": weights.bias}


def _attention(weights: AttentionWeights) -> State:
    rows = [_linear(projection) for projection in weights[:3]]
    packed = {
        f"in_proj_{part}": torch.cat([row[part] for row in rows]) for part in ("weight", "bias")
    }
    return packed | _under("out_proj", _linear(weights.output))


def _feed_forward(weights: FeedForwardWeights) -> State:
    return _under("linear1", _linear(weights.expand)) | _under("linear2", _linear(weights.contract))


def _encoder_layer(layer: EncoderLayerWeights) -> State:
    return {
        **_under("self_attn", _attention(layer.self_attention)),
        **_under("norm1", _norm(layer.self_attention_norm)),
        **_feed_forward(layer.feed_forward),
        **_under("norm2", _norm(layer.feed_forward_norm)),
    }


def _decoder_layer(layer: DecoderLayerWeights) -> State:
    return {
        **_under("self_attn", _attention(layer.self_attention)),
        **_under("norm1", _norm(layer.self_attention_norm)),
        **_under("multihead_attn", _attention(layer.cross_attention)),
        **_under("norm2", _norm(layer.cross_attention_norm)),
        **_feed_forward(layer.feed_forward),
        **_under("norm3", _norm(layer.feed_forward_norm)),
    }
