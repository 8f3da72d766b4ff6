"""Decoding without any trick, one sentence and one word at a time: what quicker ways must say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from kata.weights import TransformerConfig, TransformerWeights
from specs.harness import draw_weights

# Two of the three are padded, with 0.
SOURCES = torch.tensor([[5, 3, 7, 0, 0], [4, 0, 0, 0, 0], [9, 8, 3, 6, 10]])
ALONE = SOURCES[:1, :3], SOURCES[1:2, :1], SOURCES[2:]


def model() -> tuple[TransformerWeights, TransformerConfig]:
    """Draw a whole model that says words, pad ids and ends."""
    config = draw_weights.TINY._replace(num_layers=1, max_length=6)
    return draw_weights.transformer(config, tied=False, seed=1363), config


def said(
    forward: Callable[..., Tensor],
    source_ids: Tensor,
    weights: TransformerWeights,
    config: TransformerConfig,
) -> list[Any]:
    """Say the best word again and again: one sentence, and the whole model for every word."""
    words: list[Any] = []
    while len(words) < config.max_length and config.end_id not in words:
        heard = torch.tensor([[config.start_id, *words]])
        scores = forward(source_ids, heard, weights, config)[0, -1].tolist()
        words.append(scores.index(max(scores)))
    return words + [config.pad_id] * (config.max_length - len(words))
