"""Attention without the table: steps 084 and 086 against torch's own."""

from __future__ import annotations

import pytest
from torch.nn import functional

from benchmarks.codes import Steps
from benchmarks.row import Row, both_ways
from benchmarks.runner import Call

HEADS, D_K = 4, 64


@pytest.mark.step(86)
@both_ways
@pytest.mark.parametrize("T", [128, 256, 512, 1024, 2048, 4096])
def test_flash_attention(row: Row, T: int) -> None:  # noqa: N803
    """Step 086, forwards what step 084 does, in tiles of 128 by 128."""
    queries, keys, values = inputs = [row.normal(1, HEADS, T, D_K) for _ in range(3)]

    def ours(steps: Steps) -> Call:
        return lambda: steps.flash_attention(queries, keys, values)

    def torchs() -> Call:
        return lambda: functional.scaled_dot_product_attention(queries, keys, values)

    row.time(ours, torchs, leaves=inputs)
