"""Right but unusual versions of step 038."""

from functools import wraps

import torch

from kata.part05_sublayers import apply_dropout, layer_norm, normalize_last_dim
from kata.weights import LayerNormWeights


def _same_shapes(function):
    """Refuse shapes that differ before the function sees them."""

    @wraps(function)
    def safe(x, sublayer_output, norm_weights, dropout_rate=0.0, generator=None):
        if x.shape != sublayer_output.shape:
            raise ValueError(f"x {tuple(x.shape)}, its sub-layer {tuple(sublayer_output.shape)}")
        return function(x, sublayer_output, norm_weights, dropout_rate, generator)

    return safe


@_same_shapes
def pile_of_two(x, sublayer_output, norm_weights, dropout_rate, generator):
    """Both are stacked on a new axis, which is summed away."""
    pile = torch.stack([x, apply_dropout(sublayer_output, dropout_rate, generator)])
    return layer_norm(pile.sum(dim=0), norm_weights)


@_same_shapes
def added_into_a_copy(x, sublayer_output, norm_weights, dropout_rate, generator):
    """The sum is made in place, in a copy of what dropout left."""
    total = apply_dropout(sublayer_output, dropout_rate, generator).clone()
    total += x
    return layer_norm(total, norm_weights)


@_same_shapes
def ones_dropped_first(x, sublayer_output, norm_weights, dropout_rate, generator):
    """Dropout of a field of ones is a mask with its scale, and ``addcmul`` takes it from there."""
    mask = apply_dropout(torch.ones_like(sublayer_output), dropout_rate, generator)
    return layer_norm(torch.addcmul(x, sublayer_output, mask), norm_weights)


@_same_shapes
def halves_added_in_float32(x, sublayer_output, norm_weights, dropout_rate, generator):
    """The sum and the norm are float32 at least, and cast once at the end."""
    wide = torch.promote_types(x.dtype, torch.float32)
    dropped = apply_dropout(sublayer_output.to(wide), dropout_rate, generator)
    wide_weights = LayerNormWeights(*(vector.to(wide) for vector in norm_weights))
    return layer_norm(x.to(wide) + dropped, wide_weights).to(x.dtype)


@_same_shapes
def rows_of_one_matrix(x, sublayer_output, norm_weights, dropout_rate, generator):
    """All tokens are the rows of one matrix."""
    rows = (-1, x.shape[-1])
    dropped = apply_dropout(sublayer_output.reshape(rows), dropout_rate, generator)
    return layer_norm(x.reshape(rows) + dropped, norm_weights).view(x.shape)


@_same_shapes
def written_out(x, sublayer_output, norm_weights, dropout_rate, generator):
    """No layer norm is called: step 035 normalizes, gain and bias follow."""
    for vector in norm_weights:
        if vector.shape != x.shape[-1:]:
            raise ValueError(f"{tuple(vector.shape)} is no gain or bias for a width {x.shape[-1]}")
    total = apply_dropout(sublayer_output, dropout_rate, generator) + x
    wide = total.to(torch.promote_types(x.dtype, torch.float32))
    gain, bias = norm_weights
    return torch.addcmul(bias, normalize_last_dim(wide), gain).to(x.dtype)
