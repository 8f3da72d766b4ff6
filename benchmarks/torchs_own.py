"""What a person would use instead: `nn.Transformer`, `torch.optim.Adam`, plain loops to decode."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.models import END, NEVER, PAD, START

BETAS, EPS = (0.9, 0.98), 1e-9  # section 5.3 of the paper
SMOOTHING = 0.1


class TorchTransformer(nn.Module):
    """The paper's model in torch's own layers, with dropout and norms where the kata has them."""

    positions: Tensor

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.register_buffer("positions", _sinusoids(config.max_length, config.d_model))
        self.dropout = nn.Dropout(config.dropout_rate)
        self.layers = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout_rate,
            batch_first=True,
        )
        self.layers.encoder.norm = None  # a stack ends with its last layer, as in the paper
        self.layers.decoder.norm = None
        self._drop_only_where_the_paper_does()
        self.bias: Tensor | None = None

    def _drop_only_where_the_paper_does(self) -> None:
        """Without this torch would draw more masks: inside attention and between W₁ and W₂."""
        for layer in self.layers.modules():
            if isinstance(layer, nn.MultiheadAttention):
                layer.dropout = 0.0
            elif isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                layer.dropout.p = 0.0

    def never_say_end(self) -> TorchTransformer:
        """Decode to the last place that there is."""
        self.bias = torch.zeros_like(self.embedding.weight[:, 0]).detach()
        self.bias[[PAD, START, END]] = NEVER
        return self.eval()

    def embed(self, ids: Tensor) -> Tensor:
        """Embeddings, scaled, plus positions, with dropout."""
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.positions[: ids.shape[1]])  # type: ignore[no-any-return]

    def encode(self, source: Tensor) -> Tensor:
        """The memory."""
        padding = source == PAD
        return self.layers.encoder(self.embed(source), src_key_padding_mask=padding)  # type: ignore[no-any-return]

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """What the decoder makes of the target so far."""
        length = target.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        return self.layers.decoder(  # type: ignore[no-any-return]
            self.embed(target),
            memory,
            tgt_mask=future,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )

    def logits(self, x: Tensor) -> Tensor:
        """Scores for every word, from the table that the words came in by."""
        return functional.linear(x, self.embedding.weight, self.bias)


def training_step(
    model: TorchTransformer, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, Tensor]
) -> tuple[float, float]:
    """One step of the usual loop: loss and accuracy, backward, Adam."""
    source, target = batch
    optimizer.zero_grad()
    heard = functional.pad(target[:, :-1], (1, 0), value=START)
    logits = model.logits(model.decode(heard, model.encode(source), source)).flatten(0, 1)
    gold = target.flatten()
    loss = functional.cross_entropy(logits, gold, ignore_index=PAD, label_smoothing=SMOOTHING)
    accuracy = (logits.argmax(dim=-1) == gold)[gold != PAD].float().mean()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item(), accuracy.item()


@torch.no_grad()
def greedy(model: TorchTransformer, source: Tensor, length: int) -> Tensor:
    """Say the best word at each turn; the decoder hears everything anew."""
    memory = model.encode(source)
    target = source.new_full((len(source), 1), START)
    for _ in range(length):
        last = model.decode(target, memory, source)[:, -1]
        target = torch.cat([target, model.logits(last).argmax(-1, keepdim=True)], dim=1)
    return target[:, 1:]


@torch.no_grad()
def beam(model: TorchTransformer, source: Tensor, length: int, size: int = 4) -> Tensor:
    """Keep the best few beginnings of each sentence, one sentence after the other."""
    return torch.cat([_best(model, row[None], length, size) for row in source])


def _best(model: TorchTransformer, source: Tensor, length: int, size: int) -> Tensor:
    memory = model.encode(source)
    beams, scores = source.new_full((1, 1), START), memory.new_zeros(1, 1)
    for _ in range(length):
        memories, sources = memory.expand(len(beams), -1, -1), source.expand(len(beams), -1)
        last = model.decode(beams, memories, sources)[:, -1]
        totals = scores + model.logits(last).log_softmax(dim=-1)
        best, where = totals.flatten().topk(size)
        rows, words = where // totals.shape[1], where % totals.shape[1]
        beams, scores = torch.cat([beams[rows], words[:, None]], dim=1), best[:, None]
    return beams[:1, 1:]


def _sinusoids(length: int, d_model: int) -> Tensor:
    """Section 3.5 of the paper."""
    angles = torch.arange(length)[:, None] * 10000 ** -(torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def adam(parameters: Any) -> torch.optim.Adam:
    """Torch's Adam, with the paper's settings."""
    return torch.optim.Adam(parameters, lr=1e-4, betas=BETAS, eps=EPS)
