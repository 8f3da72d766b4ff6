"""Wrong versions of add_and_norm, one slip each."""

import torch

from kata.part05_sublayers import apply_dropout, layer_norm
from kata.weights import LayerNormWeights


def norm_on_the_branch(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Only the sub-layer's part is normalized, and x is added afterwards."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return x + layer_norm(dropped, norm_weights)


def norm_on_the_token(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Only x is normalized, and the sub-layer's part is added afterwards."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x, norm_weights) + dropped


def no_norm(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The sum is handed on as it is: the norm is forgotten."""
    _check(x, sublayer_output)
    return x + apply_dropout(sublayer_output, dropout_rate, generator)


def no_residual(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """x is not added: what the token was is lost."""
    _check(x, sublayer_output)
    return layer_norm(apply_dropout(sublayer_output, dropout_rate, generator), norm_weights)


def subtracted(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The sub-layer's part is taken off x, not added."""
    _check(x, sublayer_output)
    return layer_norm(x - apply_dropout(sublayer_output, dropout_rate, generator), norm_weights)


def no_dropout(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The rate is ignored: nothing is dropped."""
    _check(x, sublayer_output)
    return layer_norm(x + sublayer_output, norm_weights)


def dropout_on_the_sum(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The sum is dropped, and x with it: there is no safe way through any more."""
    _check(x, sublayer_output)
    return layer_norm(apply_dropout(x + sublayer_output, dropout_rate, generator), norm_weights)


def dropout_on_the_token(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """x is dropped, not what the sub-layer found."""
    _check(x, sublayer_output)
    return layer_norm(apply_dropout(x, dropout_rate, generator) + sublayer_output, norm_weights)


def dropout_after_the_norm(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Dropout comes last, after the norm."""
    _check(x, sublayer_output)
    return apply_dropout(layer_norm(x + sublayer_output, norm_weights), dropout_rate, generator)


def generator_forgotten(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The generator is not passed on: torch's default one is drawn from."""
    _check(x, sublayer_output)
    return layer_norm(x + apply_dropout(sublayer_output, dropout_rate), norm_weights)


def always_some_dropout(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Rate 0 is read as no rate given, and the paper's 0.1 is used."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate or 0.1, generator)
    return layer_norm(x + dropped, norm_weights)


def dropout_only_above_zero(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """A rate below 0 is taken for 0, and not refused."""
    _check(x, sublayer_output)
    dropped = sublayer_output
    if dropout_rate > 0:
        dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x + dropped, norm_weights)


def seeded_when_none(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Without a generator one with a fixed seed is made: every call drops the same numbers."""
    _check(x, sublayer_output)
    if generator is None and 0 < dropout_rate < 1:
        generator = torch.Generator(x.device).manual_seed(0)
    return layer_norm(x + apply_dropout(sublayer_output, dropout_rate, generator), norm_weights)


def survivors_not_scaled(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """What survives is not scaled up by 1 / (1 − p)."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator) * (1 - dropout_rate)
    return layer_norm(x + dropped, norm_weights)


def each_part_normalized(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Each part is normalized by itself, and then they are added."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x, norm_weights) + layer_norm(dropped, norm_weights)


def epsilon_of_its_own(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The norm's ε is another than the 1e-5 of step 036: a millionth."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x + dropped, norm_weights, eps=1e-6)


def in_float32(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """All is computed in float32 and cast back: float64 loses half its digits on the way."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output.float(), dropout_rate, generator)
    wide = LayerNormWeights(*(vector.float() for vector in norm_weights))
    return layer_norm(x.float() + dropped, wide).to(x.dtype)


def shapes_unchecked(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Shapes that differ are broadcast in silence."""
    return layer_norm(x + apply_dropout(sublayer_output, dropout_rate, generator), norm_weights)


def widths_alone_checked(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """Only the widths are compared: one token's finding is added to all of them."""
    _check(x[..., :1, :], sublayer_output[..., :1, :].reshape(x[..., :1, :].shape))
    if x.shape[-1] != sublayer_output.shape[-1]:
        raise ValueError(f"want {tuple(x.shape)}, got {tuple(sublayer_output.shape)}")
    return shapes_unchecked(x, sublayer_output, norm_weights, dropout_rate, generator)


def added_in_place(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The sum is written into x: the caller's tensor changes."""
    _check(x, sublayer_output)
    x += apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x, norm_weights)


def token_detached(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """x is detached: the straight way back for the gradient is cut."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output, dropout_rate, generator)
    return layer_norm(x.detach() + dropped, norm_weights)


def sublayer_detached(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
    """The sub-layer's part is detached: attention and feed-forward never learn."""
    _check(x, sublayer_output)
    dropped = apply_dropout(sublayer_output.detach(), dropout_rate, generator)
    return layer_norm(x + dropped, norm_weights)


def _check(x, sublayer_output):
    if x.shape != sublayer_output.shape:
        raise ValueError(f"want {tuple(x.shape)}, got {tuple(sublayer_output.shape)}")
