"""Attention with its whole table of scores: steps 022 and 031 against torch's own."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn
from torch.nn import functional

from benchmarks.codes import Steps
from benchmarks.row import Row, both_ways
from benchmarks.runner import Call

HEADS, D_K = 4, 64
D_MODEL = HEADS * D_K


@pytest.mark.step(22)
@both_ways
@pytest.mark.parametrize("T", [128, 256, 512, 1024, 2048, 4096])
def test_scaled_dot_product_attention(row: Row, T: int) -> None:  # noqa: N803
    """Step 022; torch's function hands out no weights."""
    queries, keys, values = inputs = [row.normal(1, HEADS, T, D_K) for _ in range(3)]

    def ours(steps: Steps) -> Call:
        return lambda: steps.scaled_dot_product_attention(queries, keys, values)[0]

    def torchs() -> Call:
        return lambda: functional.scaled_dot_product_attention(queries, keys, values)

    row.time(ours, torchs, leaves=inputs)


@pytest.mark.step(31)
@both_ways
@pytest.mark.parametrize("T", [128, 512, 2048])
def test_multi_head_attention(row: Row, T: int) -> None:  # noqa: N803
    """Step 031, self-attention; ``nn.MultiheadAttention`` is asked for each head's weights too."""
    x = row.normal(1, T, D_MODEL)
    weights = attention_weights(row)

    def ours(steps: Steps) -> Call:
        attend = steps.assemble_multi_head_attention_forward
        return lambda: attend(x, x, weights, HEADS)[0]

    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    module.to(x.device, x.dtype)

    def torchs() -> Call:
        return lambda: module(x, x, x, average_attn_weights=False)[0]

    leaves = [x, *(tensor for projection in weights for tensor in projection)]
    row.time(ours, torchs, leaves=leaves, torch_leaves=[x, *module.parameters()])


def attention_weights(row: Row) -> Any:
    """Four projections that keep a signal at its volume."""
    containers = row.containers
    return containers.AttentionWeights(
        *(
            containers.LinearWeights(
                row.normal(D_MODEL, D_MODEL, scale=D_MODEL**-0.5), row.normal(D_MODEL)
            )
            for _ in range(4)
        )
    )
