"""The whole training step: step 071 against `nn.Transformer` and `torch.optim.Adam`."""

from __future__ import annotations

import pytest

from benchmarks.codes import Steps
from benchmarks.models import copied
from benchmarks.row import Row
from benchmarks.runner import Call
from benchmarks.torchs_own import TorchTransformer, adam, training_step

BATCH, LENGTH = 32, 24


@pytest.mark.step(71)
@pytest.mark.parametrize("size", ["medium", "large"])
def test_training_step(row: Row, size: str) -> None:
    """Forward with dropout, loss, backward and Adam, on the same batch again and again."""
    config = row.config(size)
    weights = row.weights(config)
    batch = row.sentences(config, BATCH, LENGTH), row.sentences(config, BATCH, LENGTH)

    def ours(steps: Steps) -> Call:
        own = copied(weights)
        parameters = steps.gather_parameters(own)
        state = steps.initialize_adam_state(parameters)

        def call() -> float:
            nonlocal state
            state, record = steps.run_training_step(batch, own, parameters, state, config)
            loss: float = record.loss
            return loss

        return call

    def torchs() -> Call:
        model = TorchTransformer(config).to(row.device, row.dtype)
        optimizer = adam(model.parameters())
        return lambda: training_step(model, optimizer, batch)

    row.time(ours, torchs, comparable=False)
