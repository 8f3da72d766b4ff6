"""The capstone's tasks: pairs of sequences, some to train on, others to be asked about."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch import Tensor

from kata.part01_tokens import (
    add_start_and_end_ids,
    build_vocabulary,
    encode_tokens_to_ids,
    pack_batch,
)
from specs.capstone.number_words import in_english, in_german

Pair = tuple[list[str], list[str]]
SYMBOLS = "abcdefghij"
LONGEST = 10
NUMBERS = 10_000
MASTERED = {"warmup_steps": 100, "factor": 0.5, "mastered": 0.9998}  # one token in 5,000 is wrong


@dataclass
class Task:
    """What is to be learned, and how large a model gets how many steps for it."""

    name: str
    trained: list[Pair]  # drawn from for training
    held_out: list[Pair]  # never trained on
    d_model: int
    num_layers: int
    num_heads: int
    steps: int  # at most
    warmup_steps: int
    factor: float
    mastered: float = math.inf  # accuracy at which training ends early
    batch_size: int = 64
    vocabulary: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pairs = self.trained + self.held_out
        self.vocabulary = build_vocabulary(side for pair in pairs for side in pair)
        self.max_length = 1 + max(len(side) for pair in pairs for side in pair)

    def __str__(self) -> str:
        return self.name

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Draw one batch after another, the same ones on every run."""
        drawn = random.Random(self.name)
        for _ in range(self.steps):
            yield self.packed(drawn.sample(self.trained, self.batch_size))

    def packed(self, pairs: list[Pair]) -> tuple[Tensor, Tensor]:
        """Make a batch of pairs: sources, and targets that end with the end token."""
        pad = self.vocabulary["<pad>"]
        return (
            pack_batch([self.ids(source) for source, _ in pairs], pad),
            pack_batch([self.ended(target) for _, target in pairs], pad),
        )

    def ids(self, tokens: list[str]) -> list[int]:
        """The ids of a sequence."""
        return encode_tokens_to_ids(tokens, self.vocabulary)

    def ended(self, tokens: list[str]) -> list[int]:
        """The ids of a sequence and the end token; training puts the start token in front."""
        start, end = self.vocabulary["<s>"], self.vocabulary["</s>"]
        return add_start_and_end_ids(self.ids(tokens), start, end)[1:]


def _sequences() -> list[list[str]]:
    """Random sequences of every length up to the longest, each once."""
    drawn = random.Random("sequences")
    found = {"".join(drawn.choices(SYMBOLS, k=1 + turn % LONGEST)): None for turn in range(40_000)}
    return [list(text) for text in found]


def _split(pairs: list[Pair], held_out: int) -> tuple[list[Pair], list[Pair]]:
    shuffled = random.Random("split").sample(pairs, len(pairs))
    return shuffled[held_out:], shuffled[:held_out]


def copy_task() -> Task:
    """Give back what was said."""
    pairs = [(sequence, sequence) for sequence in _sequences()]
    return Task("copy", *_split(pairs, 500), 32, 1, 4, steps=2000, **MASTERED)


def reverse_task() -> Task:
    """Give it back from the end."""
    pairs = [(sequence, sequence[::-1]) for sequence in _sequences()]
    return Task("reverse", *_split(pairs, 500), 32, 1, 4, steps=2500, **MASTERED)


def numbers_task() -> Task:
    """Translate numbers in words from English to German; half of them are never trained on."""
    pairs = [(in_english(number), in_german(number)) for number in range(NUMBERS)]
    return Task(
        "numbers", *_split(pairs, NUMBERS // 2), 32, 2, 4, steps=1000, warmup_steps=200, factor=0.5
    )
