"""Decoding 60 tokens: steps 074, 079 and 100 against plain loops over `nn.Transformer`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from torch import Tensor

from benchmarks.codes import Steps
from benchmarks.models import without_end
from benchmarks.row import Row
from benchmarks.runner import Call
from benchmarks.torchs_own import TorchTransformer, beam, greedy

# Torch's own words on how its encoder leaves out padding.
pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
LENGTH, TOKENS = 24, 60
batches = pytest.mark.parametrize("batch", [1, 32])


class Task:
    """A model that never says the end, and sentences for it to translate."""

    def __init__(self, row: Row, size: str, batch: int) -> None:
        self.config = row.config(size)
        self.weights = without_end(row.weights(self.config), self.config)
        self.source = row.sentences(self.config, batch, LENGTH)
        self.row = row

    def ours(self, name: str, steps: Steps) -> Call:
        """A decoder of ours."""
        decode = getattr(steps, name)
        return partial(decode, self.source, self.weights, self.config, max_length=TOKENS)

    def torchs(self, decode: Callable[[Any, Tensor, int], Tensor]) -> Call:
        """A loop over torch's own layers."""
        model = TorchTransformer(self.config).to(self.row.device, self.row.dtype)
        return partial(decode, model.never_say_end(), self.source, TOKENS)


@pytest.mark.step(74)
@batches
@pytest.mark.parametrize("size", ["medium"])
def test_greedy_decode(row: Row, size: str, batch: int) -> None:
    """Step 074."""
    task = Task(row, size, batch)
    row.time(partial(task.ours, "greedy_decode"), partial(task.torchs, greedy), comparable=False)


@pytest.mark.step(79)
@batches
@pytest.mark.parametrize("size", ["small"])
def test_beam_search_decode(row: Row, size: str, batch: int) -> None:
    """Step 079, four beams, one sentence after the other."""
    task = Task(row, size, batch)
    row.time(partial(task.ours, "beam_search_decode"), partial(task.torchs, beam), comparable=False)


@pytest.mark.step(100)
@batches
@pytest.mark.parametrize("size", ["medium"])
def test_greedy_decode_with_kv_cache(row: Row, size: str, batch: int) -> None:
    """Step 100; torch has no cache, and the reference's own 074 runs along."""
    task = Task(row, size, batch)
    row.time(
        partial(task.ours, "greedy_decode_with_kv_cache"),
        partial(task.torchs, greedy),
        also={"reference's 074": partial(task.ours, "greedy_decode")},
        comparable=False,
    )
