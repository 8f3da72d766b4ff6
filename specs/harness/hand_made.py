"""Models made by hand: what they say can be worked out on paper.

With drawn weights most models say one word over and over, and a mistake in decoding does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
    TransformerConfig,
    TransformerWeights,
)

PAD, START, END = 0, 1, 2
VOCAB = 8  # 3 to 7 are words

# Positions are numbers up to 1: beside these they do not count.
LOUD, FAR_LOUDER = 1e3, 1e6


class Walked(tuple[Any, ...]):
    """Layers that count how often somebody walks through them."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()


def table_model(
    follows: Mapping[int, Mapping[int, float]], max_length: int = 6
) -> tuple[TransformerWeights, TransformerConfig]:
    """Make a model without layers: how likely one word follows another stands in a table.

    ``{START: {3: 0.6, 4: 0.4}}``: 3 is said first with probability 0.6. A word without a row is
    followed by the end. The source plays no part.
    """
    chances = torch.full((VOCAB, VOCAB), 1e-9)
    for word in range(VOCAB):
        for following, chance in follows.get(word, {END: 1.0}).items():
            chances[following, word] = chance
    config = _config(d_model=VOCAB, num_layers=0, max_length=max_length)
    embedding = FAR_LOUDER * torch.eye(VOCAB)
    output = LinearWeights(chances.log() / FAR_LOUDER)
    return _model(embedding, Walked(), output), config


def counting_model(max_length: int = 6) -> tuple[TransformerWeights, TransformerConfig]:
    """Make a model that counts: 3, 4, … up to the mean of the source's words, and then the end.

    Cross-attention looks at all words of the source alike and hands over their mean; what is said
    next follows from the last word and that mean. Whoever lets it go on after the end hears 6.

    Each word has an axis of its own; the mean has one, and one makes up for the mean that the norms
    take off. Two numbers far larger than the rest make every vector's spread the same, so that the
    norms change nothing.
    """
    mean, rest, high, low, d_model = range(VOCAB, VOCAB + 5)
    embedding = torch.zeros(VOCAB, d_model)
    embedding[:, :VOCAB] = LOUD * torch.eye(VOCAB)
    embedding[:, high], embedding[:, low] = FAR_LOUDER, -FAR_LOUDER
    look = torch.zeros(d_model, d_model)
    look[mean, :VOCAB] = torch.arange(VOCAB)

    votes = torch.zeros(VOCAB, d_model)
    votes[3, START] = votes[6, END] = 50.0
    for word in range(3, VOCAB):
        votes[(word + 1) % VOCAB, word] = 50.0
        votes[END, word] = 50.0 + 20.0 * (
            word + 0.5
        )  # less 20 times the mean: above 50 once it is reached
    votes[END, mean] = -20.0
    votes[:, rest] = -votes.sum(dim=1)

    config = _config(d_model, num_layers=1, max_length=max_length)
    layers = Walked([_layer(look)])
    return _model(embedding, layers, LinearWeights(votes / LOUD)), config


def _layer(look: Tensor) -> DecoderLayerWeights:
    """One layer that looks at the source evenly, and does nothing else."""
    d_model = len(look)
    nothing = LinearWeights(torch.zeros(d_model, d_model))
    plain = LinearWeights(torch.eye(d_model))
    spread = FAR_LOUDER * (2 / d_model) ** 0.5
    norm = LayerNormWeights(torch.full((d_model,), spread), torch.zeros(d_model))
    return DecoderLayerWeights(
        self_attention=AttentionWeights(nothing, nothing, nothing, nothing),
        self_attention_norm=norm,
        cross_attention=AttentionWeights(nothing, nothing, LinearWeights(look), plain),
        cross_attention_norm=norm,
        feed_forward=FeedForwardWeights(nothing, nothing),
        feed_forward_norm=norm,
    )


def _model(embedding: Tensor, layers: Walked, output: LinearWeights) -> TransformerWeights:
    """Put a model together; its embeddings are made smaller by what scaling makes them larger."""
    return TransformerWeights(embedding * embedding.shape[1] ** -0.5, Walked(), layers, output)


def _config(d_model: int, num_layers: int, max_length: int) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=VOCAB,
        d_model=d_model,
        num_heads=1,
        d_ff=d_model,
        num_layers=num_layers,
        max_length=max_length,
        dropout_rate=0.0,
        pad_id=PAD,
        start_id=START,
        end_id=END,
    )
