"""Where dropout fell: every row that it can leave, and whether an answer holds no others."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from kata.weights import LayerNormWeights
from specs.harness.check import TOLERANCE
from specs.harness.failure import Red
from specs.harness.torch_layers import norm
from specs.harness.values import show


def rows_left(x: Tensor, heard: Tensor, weights: LayerNormWeights, rate: float) -> Tensor:
    """List ``LayerNorm(x + Dropout(heard))`` for one row, dropped in every way there is."""
    kept = torch.tensor(list(itertools.product([0.0, 1.0], repeat=len(heard))), dtype=torch.float64)
    return norm(x.double() + kept * heard.double() / (1 - rate), weights)


def assert_dropped(answer: Tensor, rows: Tensor) -> None:
    """Assert that dropout can leave every row of the answer, and did not leave the same ones."""
    answer = answer.detach().flatten(0, -2)
    rtol, atol = TOLERANCE[str(answer.dtype).removeprefix("torch.")]
    close = torch.isclose(answer.double()[:, None], rows[None], rtol=rtol, atol=atol).all(dim=-1)
    odd = answer[~close.any(dim=1)]
    if len(odd):
        sentence = (
            "Dropping numbers of the sub-layer's output and of nothing else cannot give this row."
        )
        raise Red("dropout", sentence, rows=[("yours", show(odd[0]))], yours=odd[0])
    if bool((close == close[0]).all()):
        raise Red("dropout", "The same numbers are dropped in every row.", yours=answer[0])


def distinct_rows(answer: Tensor) -> int:
    """Count the rows of an answer that differ, rounding aside."""
    rows = answer.detach().flatten(0, -2).double()
    alike = torch.cdist(rows, rows, p=torch.inf) < 1e-4
    return int((~alike.tril(-1).any(dim=1)).sum())  # those without a twin before them
