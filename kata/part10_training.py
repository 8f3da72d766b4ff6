"""Part 10 · Training Step and Loop.

All the pieces meet. The model reads a source and hears the target up to each place; what it expects
next is held against what really comes, and one number says how wrong it was (070). From that number
a gradient runs back to every weight, the pace is set, and every weight walks one step (071). Then
comes the next batch, and the next, until there are none left (072). Nothing here is new: it is the
order that counts.

A batch is a pair ``(source_ids, target_ids)``. A row of ``target_ids`` is a sentence, the end
token, then padding; the start token is put in front by step 056.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from kata.part06_transformer import run_transformer_forward
from kata.part07_weights import gather_parameters
from kata.part08_objective import (
    average_loss_over_non_pad_tokens,
    build_uniform_smoothing_distribution,
    compute_label_smoothed_kl_loss,
    compute_noam_learning_rate,
    compute_token_accuracy_ignoring_pad,
    set_confidence_on_gold_tokens,
    shift_targets_right_with_start_token,
    zero_pad_column_and_pad_token_rows,
)
from kata.part09_adam import initialize_adam_state, take_adam_step, zero_gradients
from kata.weights import AdamState, StepRecord, TransformerConfig, TransformerWeights


def compute_batch_loss(
    source_ids: Int[Tensor, "batch source_length"],
    target_ids: Int[Tensor, "batch target_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    smoothing: float = 0.1,
    generator: torch.Generator | None = None,
) -> tuple[Float[Tensor, ""], float]:
    """Put the model to the test, place by place: what it expected against what really came.

    The decoder hears the targets one seat late, behind ``config.start_id`` (teacher forcing). Its
    log-probabilities are held against the smoothed targets: the Kullback-Leibler divergence, as a
    mean over all real tokens of the batch. Returns this loss, with its graph, and the share of real
    tokens that the model would have guessed right. A batch of padding alone gives 0 and 0.0.
    Dropout is at ``config.dropout_rate``.

    Sections 3.1 and 5.4 of the paper.
    """
    raise NotImplementedError("step 070: write compute_batch_loss")


def run_training_step(
    batch: tuple[Int[Tensor, "batch source_length"], Int[Tensor, "batch target_length"]],
    weights: TransformerWeights,
    parameters: list[Tensor],
    state: AdamState,
    config: TransformerConfig,
    smoothing: float = 0.1,
    warmup_steps: int = 4000,
    factor: float = 1.0,
    generator: torch.Generator | None = None,
) -> tuple[AdamState, StepRecord]:
    """Learn from one batch: look, see how wrong it was, and let every weight walk one step.

    Clears the old gradients, computes the loss, sends it back, and takes an Adam step on
    ``parameters``, the tensors of ``weights`` that are to learn. The step's number is
    ``state.step + 1``; its learning rate is that of step 057. Works in place on the parameters.
    Returns the optimiser's new state and a record: the step's number, the loss and the accuracy as
    they were before the step, the rate, and how many real target tokens there were.

    A loss that is infinite or NaN raises ``FloatingPointError``, which names the step, and no
    weight has changed.

    Section 5.3 of the paper.
    """
    raise NotImplementedError("step 071: write run_training_step")


def run_training_loop(
    batches: Iterable[
        tuple[Int[Tensor, "batch source_length"], Int[Tensor, "batch target_length"]]
    ],
    weights: TransformerWeights,
    config: TransformerConfig,
    smoothing: float = 0.1,
    warmup_steps: int = 4000,
    factor: float = 1.0,
    generator: torch.Generator | None = None,
) -> list[StepRecord]:
    """Go through the whole book once, page by page, and get a little better with every page.

    One training step for each batch, from an Adam state that is fresh at first and handed on from
    step to step. ``batches`` is any iterable, and is gone through once. Works in place: all tensors
    of ``weights`` that require a gradient are trained. Returns one record for each step.

    Section 5 of the paper.
    """
    raise NotImplementedError("step 072: write run_training_loop")
