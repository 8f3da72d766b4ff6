"""The small pieces of a training step: layer norm, the loss and Adam against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from benchmarks.codes import Steps
from benchmarks.models import PAD, copied
from benchmarks.row import Row, both_ways
from benchmarks.runner import Call
from benchmarks.torchs_own import SMOOTHING, adam

BATCH, LENGTH, D_MODEL = 32, 24, 256


@pytest.mark.step(36)
@both_ways
def test_layer_norm(row: Row) -> None:
    """Step 036."""
    x = row.normal(BATCH, LENGTH, D_MODEL)
    weights = row.containers.LayerNormWeights(row.normal(D_MODEL), row.normal(D_MODEL))

    def ours(steps: Steps) -> Call:
        return lambda: steps.layer_norm(x, weights)

    def torchs() -> Call:
        return lambda: functional.layer_norm(x, (D_MODEL,), *weights)

    row.time(ours, torchs, leaves=[x, *weights])


@pytest.mark.step(62)
@both_ways
def test_label_smoothed_loss(row: Row) -> None:
    """Steps 050 and 058 to 062 on logits; torch spreads the belief over padding too."""
    config = row.config("medium")
    logits = row.normal(BATCH, LENGTH, config.vocab_size)
    targets = row.sentences(config, BATCH, LENGTH)

    def ours(steps: Steps) -> Call:
        def call() -> torch.Tensor:
            log_probs = steps.apply_log_softmax_over_vocab(logits)
            wanted = steps.build_uniform_smoothing_distribution(
                targets, config.vocab_size, SMOOTHING, log_probs.dtype
            )
            wanted = steps.set_confidence_on_gold_tokens(wanted, targets, 1 - SMOOTHING)
            wanted = steps.zero_pad_column_and_pad_token_rows(wanted, targets, PAD)
            total = steps.compute_label_smoothed_kl_loss(log_probs.flatten(0, 1), wanted)
            loss: torch.Tensor = steps.average_loss_over_non_pad_tokens(total, targets, PAD)
            return loss

        return call

    def torchs() -> Call:
        gold = targets.flatten()
        return lambda: functional.cross_entropy(
            logits.flatten(0, 1), gold, ignore_index=PAD, label_smoothing=SMOOTHING
        )

    row.time(ours, torchs, leaves=[logits])


@pytest.mark.step(68)
def test_adam_step(row: Row) -> None:
    """Step 068 on every parameter of the large model."""
    weights = row.weights(row.config("large"))
    gather = row.reference.steps.gather_parameters

    def parameters() -> list[torch.Tensor]:
        copies: list[torch.Tensor] = gather(copied(weights))
        for copy in copies:
            copy.grad = torch.full_like(copy, 0.01)
        return copies

    def ours(steps: Steps) -> Call:
        trained = parameters()
        state = steps.initialize_adam_state(trained)

        def call() -> torch.Tensor:
            nonlocal state
            state = steps.take_adam_step(trained, state, 1e-4)
            return trained[0]

        return call

    def torchs() -> Call:
        optimizer = adam(parameters())
        return optimizer.step

    row.time(ours, torchs)
