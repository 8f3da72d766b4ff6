"""A model that is trained, and then asked, with the kata's own functions and nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from kata.part01_tokens import decode_ids_to_tokens
from kata.part07_weights import gather_parameters, initialize_transformer_weights
from kata.part09_adam import initialize_adam_state
from kata.part10_training import run_training_step
from kata.part11_decoding import beam_search_decode, greedy_decode
from kata.weights import StepRecord, TransformerConfig, TransformerWeights
from specs.capstone.tasks import Pair, Task

SMOOTHING = 0.1  # as in section 5.4 of the paper
LAST = 100  # batches that tell whether a task is mastered
Decode = Callable[[Tensor, TransformerWeights, TransformerConfig], Tensor]


@dataclass
class Apprentice:
    """A model and the task it was trained for."""

    task: Task
    config: TransformerConfig
    weights: TransformerWeights

    def says(self, sources: list[list[str]], decode: Decode) -> list[list[str]]:
        """Answer to sources: the tokens up to the end."""
        batch, _ = self.task.packed([(source, []) for source in sources])
        answers = decode(batch, self.weights, self.config)
        return [
            decode_ids_to_tokens(row, self.task.vocabulary, self.config.end_id)
            for row in answers.tolist()
        ]

    def share_right(self, pairs: list[Pair], decode: Decode) -> float:
        """The share of sources that are answered right from the first token to the last."""
        answers = self.says([source for source, _ in pairs], decode)
        right = [answer == wanted for answer, (_, wanted) in zip(answers, pairs, strict=True)]
        return sum(right) / len(right)


def apprentice(task: Task) -> Apprentice:
    """Make an untrained model of the task's size."""
    vocabulary = task.vocabulary
    config = TransformerConfig(
        vocab_size=len(vocabulary),
        d_model=task.d_model,
        num_heads=task.num_heads,
        d_ff=4 * task.d_model,
        num_layers=task.num_layers,
        max_length=task.max_length,
        dropout_rate=0.0,
        pad_id=vocabulary["<pad>"],
        start_id=vocabulary["<s>"],
        end_id=vocabulary["</s>"],
    )
    generator = torch.Generator().manual_seed(0)
    return Apprentice(task, config, initialize_transformer_weights(config, generator))


def train(task: Task, report: Callable[[StepRecord, int], None]) -> Apprentice:
    """Train a new model on the task's batches, step by step, until they are over or mastered.

    How soon that is depends on the last digits of every number, and so on how a step is written.
    """
    torch.set_num_threads(1)  # the tensors are tiny
    pupil = apprentice(task)
    parameters = gather_parameters(pupil.weights)
    state = initialize_adam_state(parameters)
    recent: deque[float] = deque(maxlen=LAST)
    for batch in task.batches():
        state, record = run_training_step(
            batch,
            pupil.weights,
            parameters,
            state,
            pupil.config,
            smoothing=SMOOTHING,
            warmup_steps=task.warmup_steps,
            factor=task.factor,
        )
        report(record, task.steps)
        recent.append(record.accuracy)
        if len(recent) == LAST and sum(recent) / LAST >= task.mastered:
            break
    return pupil


def greedy(source_ids: Tensor, weights: TransformerWeights, config: TransformerConfig) -> Tensor:
    """The learner's greedy search."""
    return greedy_decode(source_ids, weights, config)


def beam(source_ids: Tensor, weights: TransformerWeights, config: TransformerConfig) -> Tensor:
    """The learner's beam search, a beam of three."""
    return beam_search_decode(source_ids, weights, config, beam_size=3)
