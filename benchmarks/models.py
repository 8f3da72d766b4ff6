"""Given sizes, made-up sentences, and weights that can be copied."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

PAD, START, END = 0, 1, 2
WORDS = 3  # the first id that is a word
NEVER = -1e4  # a bias that no score makes up for
#            vocab, d_model, heads, d_ff, layers
SIZES = {
    "small": (100, 64, 2, 128, 1),
    "medium": (1000, 128, 4, 512, 2),
    "large": (8000, 256, 4, 1024, 3),
}
MAX_LENGTH = 64
DROPOUT = 0.1


def config_of(size: str, containers: Any) -> Any:
    """The settings of a size, in the kata's own container."""
    vocab, d_model, heads, d_ff, layers = SIZES[size]
    return containers.TransformerConfig(
        vocab_size=vocab,
        d_model=d_model,
        num_heads=heads,
        d_ff=d_ff,
        num_layers=layers,
        max_length=MAX_LENGTH,
        dropout_rate=DROPOUT,
        pad_id=PAD,
        start_id=START,
        end_id=END,
    )


def sentences(config: Any, count: int, length: int, device: str) -> Tensor:
    """Sentences of words alone: no padding, no end."""
    generator = torch.Generator().manual_seed(count)
    ids = torch.randint(WORDS, config.vocab_size, (count, length), generator=generator)
    return ids.to(device)


def copied(weights: Any, known: dict[int, Tensor] | None = None) -> Any:
    """The same weights in new tensors; what was one tensor is one again."""
    known = {} if known is None else known
    if isinstance(weights, Tensor):
        if id(weights) not in known:
            copy = weights.detach().clone().requires_grad_(weights.requires_grad)
            known[id(weights)] = copy
        return known[id(weights)]
    if isinstance(weights, tuple):
        parts = [copied(part, known) for part in weights]
        return type(weights)(*parts) if hasattr(weights, "_fields") else tuple(parts)
    return weights


def without_end(weights: Any, config: Any) -> Any:
    """Weights that never say the end token, so that every sentence gets as long as it may."""
    table = weights.token_embedding
    bias = torch.zeros(config.vocab_size, device=table.device, dtype=table.dtype)
    bias[[PAD, START, END]] = NEVER
    return weights._replace(output_projection=weights.output_projection._replace(bias=bias))
