"""A translator: its best weights are kept, and its training can be taken up again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kata.part01_tokens import (
    add_start_and_end_ids,
    build_vocabulary,
    decode_ids_to_tokens,
    encode_tokens_to_ids,
    pack_batch,
)
from kata.part07_weights import gather_parameters, initialize_transformer_weights
from kata.part09_adam import initialize_adam_state
from kata.part10_training import run_training_step
from kata.weights import AdamState, StepRecord, TransformerConfig
from specs.capstone.apprentice import Decode
from specs.capstone.corpus import Corpus, Pair, batches_of_like_lengths
from specs.harness.allocator import keep_memory

TOKENS = 1600  # in a batch: rows times the longest sentence
LONGEST = 64  # tokens in a sentence; longer ones are left out of training
WARMUP_STEPS, FACTOR = 400, 0.8
ASKED_AT_ONCE = 64


@dataclass
class Translator:
    """The model, and where it stands in its training."""

    corpus: Corpus
    folder: Path
    vocabulary: dict[str, int] = field(init=False)
    config: TransformerConfig = field(init=False)

    def __post_init__(self) -> None:
        torch.set_num_threads(os.cpu_count() or 1)
        keep_memory()  # a batch's log-probabilities alone are some 90 MB
        sides = [side for pair in self.corpus.train for side in pair]
        self.vocabulary = build_vocabulary(sides, min_frequency=2)
        ids = [self.vocabulary[token] for token in ("<pad>", "<s>", "</s>")]
        size = len(self.vocabulary)
        self.config = TransformerConfig(size, 256, 4, 512, 2, LONGEST, 0.1, *ids)
        self.generator = torch.Generator().manual_seed(0)
        self.weights = initialize_transformer_weights(self.config, self.generator)
        self.parameters = gather_parameters(self.weights)
        self.state: AdamState = initialize_adam_state(self.parameters)
        self.curve: dict[int, float] = {}  # step: BLEU on the validation sentences
        self._take_up()

    @property
    def quiet(self) -> TransformerConfig:
        """The settings without dropout, for translating."""
        return self.config._replace(dropout_rate=0.0)

    def batches(self, steps: int) -> Iterator[list[Pair]]:
        """What is left to train on until so many steps, the same on every run."""
        pairs = [pair for pair in self.corpus.train if max(map(len, pair)) < LONGEST]
        done, epoch = 0, 0
        while done < steps:
            for batch in batches_of_like_lengths(pairs, TOKENS, seed=epoch):
                if self.state.step <= done < steps:
                    yield batch
                done += 1
            epoch += 1

    def train(self, steps: int, report: Callable[[StepRecord, int], None]) -> None:
        """Train until the model has taken so many steps in all."""
        for batch in self.batches(steps):
            self.state, record = run_training_step(
                self.packed(batch),
                self.weights,
                self.parameters,
                self.state,
                self.config,
                warmup_steps=WARMUP_STEPS,
                factor=FACTOR,
                generator=self.generator,
            )
            report(record, steps)

    def packed(self, pairs: list[Pair]) -> tuple[Tensor, Tensor]:
        """Make a batch: sources, and targets that end with the end token."""
        pad, start, end = self.config.pad_id, self.config.start_id, self.config.end_id
        sources = [encode_tokens_to_ids(source, self.vocabulary) for source, _ in pairs]
        targets = [encode_tokens_to_ids(target, self.vocabulary) for _, target in pairs]
        ended = [add_start_and_end_ids(target, start, end)[1:] for target in targets]
        return pack_batch(sources, pad), pack_batch(ended, pad)

    def translate(self, sources: list[list[str]], decode: Decode) -> list[str]:
        """Translate sentences, those of like lengths together, and give them back in order."""
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
        said: dict[int, str] = {}
        for first in range(0, len(order), ASKED_AT_ONCE):
            chosen = order[first : first + ASKED_AT_ONCE]
            batch, _ = self.packed([(sources[index][:LONGEST], []) for index in chosen])
            rows = decode(batch, self.weights, self.quiet).tolist()
            for index, row in zip(chosen, rows, strict=True):
                tokens = decode_ids_to_tokens(row, self.vocabulary, self.config.end_id)
                said[index] = " ".join(tokens)
        return [said[index] for index in range(len(sources))]

    def keep(self, bleu: float) -> None:
        """Note the score, and keep where training stands; the best weights stay beside it."""
        self.curve[self.state.step] = bleu
        standing: dict[str, Any] = {
            "size": list(self.config),
            "parameters": [parameter.detach() for parameter in self.parameters],
            "state": tuple(self.state),
            "generator": self.generator.get_state(),
            "curve": self.curve,
        }
        self._write("last.pt", standing)
        if bleu == max(self.curve.values()):
            self._write("best.pt", standing)

    def recall_best(self) -> None:
        """Go back to the weights with the best score."""
        self._read("best.pt")

    def _write(self, name: str, standing: dict[str, Any]) -> None:
        """Write a file whole: an interruption leaves the one before."""
        unfinished = self.folder / f"{name}.unfinished"
        torch.save(standing, unfinished)
        unfinished.replace(self.folder / name)

    def _take_up(self) -> None:
        """Go on where an earlier run of the same size was interrupted."""
        if (self.folder / "last.pt").exists():
            self._read("last.pt")

    def _read(self, name: str) -> None:
        standing = torch.load(self.folder / name, weights_only=True)
        if standing["size"] != list(self.config):
            return  # kept by another model
        with torch.no_grad():
            for parameter, kept in zip(self.parameters, standing["parameters"], strict=True):
                parameter.copy_(kept)
        self.state = AdamState(*standing["state"])
        self.generator.set_state(standing["generator"])
        self.curve = dict(standing["curve"])
