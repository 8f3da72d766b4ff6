"""Given: the containers that carry weights and settings from step to step.

Nothing to write here. A weight matrix is ``(d_out, d_in)``, as in ``torch.nn.Linear``:
``y = x Wᵀ + b``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


class LinearWeights(NamedTuple):
    """One linear projection, ``y = x Wᵀ + b``; without a bias, ``bias`` is ``None``."""

    weight: Float[Tensor, "d_out d_in"]
    bias: Float[Tensor, "d_out"] | None = None


class LayerNormWeights(NamedTuple):
    """The gain and bias that layer normalisation learns (section 3.1 of the paper)."""

    gain: Float[Tensor, "d_model"]
    bias: Float[Tensor, "d_model"]


class AttentionWeights(NamedTuple):
    """The four projections of multi-head attention: W^Q, W^K, W^V and W^O of section 3.2.2."""

    query: LinearWeights
    key: LinearWeights
    value: LinearWeights
    output: LinearWeights


class FeedForwardWeights(NamedTuple):
    """The two layers of the position-wise network: W₁, b₁ and W₂, b₂ of section 3.3."""

    expand: LinearWeights
    contract: LinearWeights


class EncoderLayerWeights(NamedTuple):
    """One encoder layer: self-attention and feed-forward, each with its norm."""

    self_attention: AttentionWeights
    self_attention_norm: LayerNormWeights
    feed_forward: FeedForwardWeights
    feed_forward_norm: LayerNormWeights


class DecoderLayerWeights(NamedTuple):
    """One decoder layer: masked and crossed attention and feed-forward, each with its norm."""

    self_attention: AttentionWeights
    self_attention_norm: LayerNormWeights
    cross_attention: AttentionWeights
    cross_attention_norm: LayerNormWeights
    feed_forward: FeedForwardWeights
    feed_forward_norm: LayerNormWeights


class TransformerWeights(NamedTuple):
    """The whole model: one shared embedding table, two stacks of layers, the output projection."""

    token_embedding: Float[Tensor, "vocab d_model"]
    encoder_layers: tuple[EncoderLayerWeights, ...]
    decoder_layers: tuple[DecoderLayerWeights, ...]
    output_projection: LinearWeights


class TransformerConfig(NamedTuple):
    """The model's settings; lengths are counted in tokens."""

    vocab_size: int
    d_model: int
    num_heads: int
    d_ff: int
    num_layers: int
    max_length: int
    dropout_rate: float
    pad_id: int
    start_id: int
    end_id: int


class AdamState(NamedTuple):
    """Adam's memory: a first and a second moment for each parameter, and the steps taken so far."""

    first: list[Tensor]
    second: list[Tensor]
    step: int


class StepRecord(NamedTuple):
    """What one training step reports; ``tokens`` counts real target tokens."""

    step: int
    loss: float
    accuracy: float
    learning_rate: float
    tokens: int


class Hypothesis(NamedTuple):
    """A decoded sequence, without its start token, and the sum of its log-probabilities."""

    token_ids: tuple[int, ...]
    log_prob: float


class OnlineSoftmax(NamedTuple):
    """What a softmax remembers between two blocks of keys: enough to go on, or to finish."""

    row_max: Float[Tensor, "... queries"]
    row_sum: Float[Tensor, "... queries"]
    accumulator: Float[Tensor, "... queries d_v"]


class GatedFeedForwardWeights(NamedTuple):
    """The three layers of a gated network: the gate, what it lets through, and the way back."""

    gate: LinearWeights
    up: LinearWeights
    down: LinearWeights


class DecoderOnlyLayerWeights(NamedTuple):
    """One decoder-only layer: attention and gated network, each behind a norm that is a gain alone.

    With fewer key and value heads than query heads, the key and value projections are narrower.
    """

    attention_norm: Float[Tensor, "d_model"]
    attention: AttentionWeights
    feed_forward_norm: Float[Tensor, "d_model"]
    feed_forward: GatedFeedForwardWeights


class DecoderOnlyWeights(NamedTuple):
    """The whole decoder-only model: the table words come in and leave by, layers, a last norm."""

    token_embedding: Float[Tensor, "vocab d_model"]
    layers: tuple[DecoderOnlyLayerWeights, ...]
    final_norm: Float[Tensor, "d_model"]


class DecoderOnlyConfig(NamedTuple):
    """The settings of ``TransformerConfig``, and three more.

    The functions of part 13 drop nothing, whatever ``dropout_rate`` says.
    """

    vocab_size: int
    d_model: int
    num_heads: int
    d_ff: int
    num_layers: int
    max_length: int
    dropout_rate: float
    pad_id: int
    start_id: int
    end_id: int
    num_kv_heads: int
    rope_base: float = 10000.0
    norm_eps: float = 1e-6


@dataclass
class KVCache:
    """The keys and values of one attention, in a room of fixed size, filled from the front.

    Positions 0 to ``length`` − 1 are taken; what lies behind them means nothing. Changed in place.
    """

    keys: Float[Tensor, "batch heads capacity d_k"]
    values: Float[Tensor, "batch heads capacity d_k"]
    length: int


@dataclass
class DecoderCache:
    """What a decoder need not work out again: for each layer the keys and values it has seen.

    ``self_attention`` grows with every token. ``cross_attention`` holds those of the memory, all
    of them at once; the list is empty until a first token has asked for them.
    """

    self_attention: list[KVCache]
    cross_attention: list[KVCache]
