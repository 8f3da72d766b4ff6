"""Part 5 · Feed-Forward, LayerNorm, and Dropout.

Attention lets the tokens hear each other; afterwards each of them has to think by itself. Between
two projections stands a gate at zero (032), and together they are the feed-forward network, the
other half of every layer (033). Around each half goes the same frame. Layer normalization measures
a token (034), brings it to one common scale (035), and lets the model choose a scale of its own
(036). Dropout silences numbers at random, so that nothing can lean on any one of them (037). Step
038 nails the frame together: LayerNorm(x + Dropout(Sublayer(x))).
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from kata.part04_multi_head import apply_linear_projection
from kata.weights import FeedForwardWeights, LayerNormWeights


def apply_relu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Let what is above zero through, and hold back the rest: each number is its own gate.

    ``max(0, x)``. The slope is 1 above zero and 0 below it, and at zero itself, where the kink has
    none, it is 0 too. −∞ gives 0, and NaN stays NaN. Not with torch's relu.

    Section 3.3 of the paper, the max of equation 2.
    """
    return _Gate.apply(x)


def position_wise_feed_forward(
    x: Float[Tensor, "batch length d_model"], weights: FeedForwardWeights
) -> Float[Tensor, "batch length d_model"]:
    """Send each token alone into a wider room to think, and call it back with what it found.

    ``max(0, x W₁ᵀ + b₁) W₂ᵀ + b₂``, where ``weights.expand`` holds W₁ and b₁, ``weights.contract``
    W₂ and b₂. The same weights serve every position, and no position sees another. Either bias may
    be ``None``.

    Section 3.3 of the paper, equation 2.
    """
    hidden = apply_relu(apply_linear_projection(x, *weights.expand))
    return apply_linear_projection(hidden, *weights.contract)


def compute_mean_and_variance(
    x: Float[Tensor, "... d_model"],
) -> tuple[Float[Tensor, "... 1"], Float[Tensor, "... 1"]]:
    """Measure each token: where its numbers lie, and how far they are spread.

    ``μ = Σ xᵢ / D`` and ``σ² = Σ (xᵢ − μ)² / D`` over the last dimension, which stays as one of
    size 1. Half inputs are measured in float32, and the two results are float32 then: the square
    of a deviation of 256 is more than float16 can hold.

    Section 3.1 of the paper; equation 3 of Ba, Kiros and Hinton, "Layer Normalization" (2016).
    """
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = wide.mean(dim=-1, keepdim=True)
    variance = (wide - mean).square().mean(dim=-1, keepdim=True)
    return mean, variance


def normalize_last_dim(
    x: Float[Tensor, "... d_model"], eps: float = 1e-5
) -> Float[Tensor, "... d_model"]:
    """Bring every token to one scale: mean 0 and variance 1, however loud it came in.

    ``(x − μ) / √(σ² + ε)``. The ε stands inside the root: a token whose numbers are all alike has
    no spread to divide by, and becomes zeros. Half inputs are computed in float32 and rounded once,
    at the end.

    Section 3.1 of the paper; Ba, Kiros and Hinton, "Layer Normalization" (2016).
    """
    normalized, _ = _Normalize.apply(x, eps)
    return normalized.to(x.dtype)


def layer_norm(
    x: Float[Tensor, "... d_model"], weights: LayerNormWeights, eps: float = 1e-5
) -> Float[Tensor, "... d_model"]:
    """Bring every token to one scale, then let the model set each feature's volume and zero.

    ``gain · (x − μ) / √(σ² + ε) + bias``, with one gain and one bias for each feature. The result
    has the dtype of ``x``. Not with torch's layer norm.

    A gain or bias that is not ``(d_model,)`` raises ``ValueError``.

    Section 3.1 of the paper; Ba, Kiros and Hinton, "Layer Normalization" (2016).
    """
    one_per_feature = x.shape[-1:]
    for name, vector in weights._asdict().items():
        if vector.shape != one_per_feature:
            raise ValueError(
                f"{name} must have shape {tuple(one_per_feature)}, got {tuple(vector.shape)}"
            )
    normalized, _ = _Normalize.apply(x, eps)
    return (normalized * weights.gain + weights.bias).to(x.dtype)


def apply_dropout(
    x: Float[Tensor, "..."], dropout_rate: float, generator: torch.Generator | None = None
) -> Float[Tensor, "..."]:
    """Silence each number by the toss of a coin, and let the survivors speak up for the silent.

    With probability p = ``dropout_rate`` a number becomes 0, each by a toss of its own; the others
    are divided by 1 − p, so that the mean to be expected stays. The mask is new at every call.

    Rate 0 is evaluation: ``x`` as it is, and nothing is drawn. Rate 1 gives zeros. Chance comes
    from ``generator``; ``None`` is torch's default one. Not with torch's dropout.

    A rate outside [0, 1] raises ``ValueError``.

    Section 5.4 of the paper; Srivastava et al., "Dropout" (2014).
    """
    if not 0 <= dropout_rate <= 1:
        raise ValueError(f"dropout_rate must be from 0 to 1, got {dropout_rate}")
    if dropout_rate == 0:
        return x
    if dropout_rate == 1:
        return x.masked_fill(torch.ones_like(x, dtype=torch.bool), 0.0)  # ∞ · 0 would be NaN
    return x * _toss_coins(x, dropout_rate, generator).div_(1 - dropout_rate)


def add_and_norm(
    x: Float[Tensor, "... d_model"],
    sublayer_output: Float[Tensor, "... d_model"],
    norm_weights: LayerNormWeights,
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "... d_model"]:
    """Keep what the token was, add what the sub-layer found, and bring the sum to one scale.

    ``LayerNorm(x + Dropout(Sublayer(x)))``: only the sub-layer's part is dropped, never ``x``.

    Shapes that differ raise ``ValueError``; a bad gain, bias or rate raises what steps 036 and 037
    raise.

    Section 3.1 of the paper; section 5.4 for where dropout stands.
    """
    if sublayer_output.shape != x.shape:
        raise ValueError(
            "the sub-layer's output must have the shape of x, "
            f"{tuple(x.shape)}, got {tuple(sublayer_output.shape)}"
        )
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x + dropped, norm_weights)


def _toss_coins(x: Tensor, dropout_rate: float, generator: torch.Generator | None) -> Tensor:
    """1 for each number of ``x`` that survives, 0 for each that does not.

    Drawing is what dropout spends its time on, so every draw of 64 bits is cut into two coins.
    """
    pairs = x.flatten()[::2]
    draws = torch.empty_like(pairs, dtype=torch.int64, memory_format=torch.contiguous_format)
    draws.random_(-(2**63), None, generator=generator)
    coins = draws.view(torch.int32)[: x.numel()].view(x.shape)
    heads = torch.iinfo(torch.int32).min + dropout_rate * 2**32
    return torch.ge(coins, heads, out=torch.empty_like(x))


class _Gate(torch.autograd.Function):
    """max(0, x), where the gradient passes only at what came through.

    Autograd could find this gradient and the next by itself; written down they take half the time
    or less.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def setup_context(ctx, _inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, gradient):
        (through,) = ctx.saved_tensors
        return gradient * through.sign()


class _Normalize(torch.autograd.Function):
    """n = (x − μ) · s with s = 1 / √(σ² + ε): all numbers of a token share the blame for μ and σ².

    In float32 or wider, not rounded to the dtype of ``x`` yet. Returns n, and s for the way back.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x, eps):
        mean, variance = compute_mean_and_variance(x)
        scale = torch.rsqrt(variance + eps)
        return (x - mean) * scale, scale

    @staticmethod
    def setup_context(ctx, _inputs, output):
        ctx.save_for_backward(*output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient, _):
        normalized, scale = ctx.saved_tensors
        through_mean = gradient.mean(dim=-1, keepdim=True)
        through_variance = (gradient * normalized).mean(dim=-1, keepdim=True)
        return (gradient - through_mean - through_variance * normalized) * scale, None
