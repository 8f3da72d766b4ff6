"""Wrong versions of layer_norm, one slip each."""

import torch
from torch.nn import functional

from kata.part05_sublayers import compute_mean_and_variance, normalize_last_dim


def gain_forgotten(x, weights, eps=1e-5):
    """The gain is checked, but never used."""
    _, bias = _checked(x, weights)
    return normalize_last_dim(x, eps) + bias


def bias_forgotten(x, weights, eps=1e-5):
    """The bias is checked, but never added."""
    gain, _ = _checked(x, weights)
    return normalize_last_dim(x, eps) * gain


def gain_and_bias_swapped(x, weights, eps=1e-5):
    """The gain is added and the bias multiplied: the two have changed places."""
    gain, bias = _checked(x, weights)
    return normalize_last_dim(x, eps) * bias + gain


def bias_before_the_gain(x, weights, eps=1e-5):
    """The bias is added first, and the gain multiplies it too."""
    gain, bias = _checked(x, weights)
    return (normalize_last_dim(x, eps) + bias) * gain


def gain_counted_from_one(x, weights, eps=1e-5):
    """The gain is taken as 1 + gain: here 1, not 0, leaves a feature as it is."""
    gain, bias = _checked(x, weights)
    return normalize_last_dim(x, eps) * (1 + gain) + bias


def gain_before_the_norm(x, weights, eps=1e-5):
    """x is multiplied by the gain before it is normalized, not after."""
    gain, bias = _checked(x, weights)
    return normalize_last_dim(x * gain, eps) + bias


def epsilon_of_its_own(x, weights, eps=1e-5):
    """ε is always 1e-5, whatever the caller asked for."""
    return _layer_norm(x, weights, 1e-5)


def unbiased(x, weights, eps=1e-5):
    """The standard deviation is torch's std, which divides by D − 1."""
    gain, bias = _checked(x, weights)
    deviations = x.float() - x.float().mean(-1, keepdim=True)
    variance = deviations.square().sum(-1, keepdim=True) / max(x.shape[-1] - 1, 1)
    normalized = deviations / torch.sqrt(variance + eps)
    return (normalized * gain + bias).to(x.dtype)


def epsilon_outside_the_root(x, weights, eps=1e-5):
    """ε is added to the standard deviation, √σ² + ε, where √(σ² + ε) is wanted."""
    gain, bias = _checked(x, weights)
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / (variance.sqrt() + eps) * gain + bias).to(x.dtype)


def of_the_annotated_transformer(x, weights, eps=1e-5):
    """Torch's std divides by D − 1, and ε joins it outside the root: two slips in one."""
    gain, bias = _checked(x, weights)
    deviations = x.float() - x.float().mean(-1, keepdim=True)
    variance = deviations.square().sum(-1, keepdim=True) / max(x.shape[-1] - 1, 1)
    return (deviations / (variance.sqrt() + eps) * gain + bias).to(x.dtype)


def mean_not_taken_off(x, weights, eps=1e-5):
    """The mean is not taken off: that is RMSNorm, step 087."""
    gain, bias = _checked(x, weights)
    mean, variance = compute_mean_and_variance(x)
    rms = torch.sqrt(variance + mean.square() + eps)
    return ((x / rms) * gain + bias).to(x.dtype)


def over_the_whole_sentence(x, weights, eps=1e-5):
    """The whole sentence is brought to one scale, not each token."""
    gain, bias = _checked(x, weights)
    normalized = normalize_last_dim(x.flatten(-2), eps).reshape(x.shape)
    return normalized * gain + bias


def gain_along_time(x, weights, eps=1e-5):
    """The gain runs along the tokens: with as many tokens as features, it fits."""
    gain, bias = _checked(x, weights)
    along = gain[:, None] if x.dim() > 2 and x.shape[-2] == x.shape[-1] else gain
    return normalize_last_dim(x, eps) * along + bias


def shapes_unchecked(x, weights, eps=1e-5):
    """A gain or bias of another shape is broadcast in silence."""
    return (normalize_last_dim(x, eps) * weights.gain + weights.bias).to(x.dtype)


def width_alone_checked(x, weights, eps=1e-5):
    """Only the last axis is compared: a gain of shape (1, D) gets through."""
    for vector in weights:
        if vector.shape[-1:] != x.shape[-1:]:
            raise ValueError(f"want ({x.shape[-1]},), got {tuple(vector.shape)}")
    return shapes_unchecked(x, weights, eps)


def gain_alone_checked(x, weights, eps=1e-5):
    """Only the gain's shape is looked at, not the bias's."""
    if weights.gain.shape != x.shape[-1:]:
        raise ValueError(f"gain must be ({x.shape[-1]},), got {tuple(weights.gain.shape)}")
    return shapes_unchecked(x, weights, eps)


def measured_in_half(x, weights, eps=1e-5):
    """Halves are measured in half precision: the mean is rounded before it is taken off."""
    gain, bias = _checked(x, weights)
    mean, variance = (statistic.to(x.dtype) for statistic in compute_mean_and_variance(x))
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


def not_cast_back(x, weights, eps=1e-5):
    """The result is float32 for halves: it is never cast back to the dtype of x."""
    gain, bias = _checked(x, weights)
    mean, variance = compute_mean_and_variance(x)
    return (x - mean) / torch.sqrt(variance + eps) * gain + bias


def cast_to_the_gain(x, weights, eps=1e-5):
    """The result has the dtype of the gain, and not the dtype of x."""
    gain, _ = _checked(x, weights)
    return _layer_norm(x, weights, eps).to(gain.dtype)


def weights_detached(x, weights, eps=1e-5):
    """Gain and bias are read through .data: they never learn."""
    gain, bias = _checked(x, weights)
    return normalize_last_dim(x, eps) * gain.data + bias.data


def torch_does_it(x, weights, eps=1e-5):
    """Torch's layer norm does the work that this step is there to build."""
    gain, bias = _checked(x, weights)
    return functional.layer_norm(x, x.shape[-1:], gain, bias, eps)


def group_norm_does_it(x, weights, eps=1e-5):
    """Torch's group norm with one group does the work: it is layer norm in other clothes."""
    gain, bias = _checked(x, weights)
    rows = x.reshape(-1, x.shape[-1])
    return functional.group_norm(rows, 1, gain, bias, eps).reshape(x.shape)


def _layer_norm(x, weights, eps):
    gain, bias = _checked(x, weights)
    return normalize_last_dim(x, eps) * gain + bias


def _checked(x, weights):
    for name, vector in weights._asdict().items():
        if vector.shape != x.shape[-1:]:
            raise ValueError(f"{name} must be ({x.shape[-1]},), got {tuple(vector.shape)}")
    return weights
