"""A pen that draws weights: each tensor new, and the same on every run."""

from __future__ import annotations

import torch
from torch import Tensor

from kata.weights import LinearWeights


class Pen:
    """Draws one tensor after another, none like the one before, in torch's default dtype."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, spread: float = 1.0) -> Tensor:
        """Draw numbers around 0."""
        drawn = torch.randn(shape, generator=self.generator, dtype=torch.float64) * spread
        return drawn.to(torch.get_default_dtype())

    def gain(self, d_model: int) -> Tensor:
        """Draw numbers around 1."""
        return 1 + self.normal(d_model, spread=0.3)

    def linear(self, d_out: int, d_in: int, *, bias: bool = True) -> LinearWeights:
        """Draw a projection that keeps the size of what it is given."""
        weight = self.normal(d_out, d_in, spread=d_in**-0.5)
        return LinearWeights(weight, self.normal(d_out, spread=0.5) if bias else None)
