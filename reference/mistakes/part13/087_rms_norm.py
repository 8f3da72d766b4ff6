"""087 · rms_norm, the ways it goes wrong."""

import torch
from torch.nn import functional as _functional


def _check(x, gain):
    """The right check, for the versions that slip elsewhere."""
    if gain.shape != x.shape[-1:]:
        raise ValueError(f"gain must be {tuple(x.shape[-1:])}, got {tuple(gain.shape)}")


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _mean_square(x):
    return _wide(x).square().mean(dim=-1, keepdim=True)


def mean_taken_off(x, gain, eps=1e-6):
    """The mean is taken off first, as layer norm does it: here nothing is."""
    _check(x, gain)
    centred = _wide(x) - _wide(x).mean(dim=-1, keepdim=True)
    return (centred / torch.sqrt(_mean_square(centred) + eps) * gain).to(x.dtype)


def sum_of_squares(x, gain, eps=1e-6):
    """The squares are summed, not averaged: a vector of length 1, however wide."""
    _check(x, gain)
    total = _wide(x).square().sum(dim=-1, keepdim=True)
    return (_wide(x) / torch.sqrt(total + eps) * gain).to(x.dtype)


def no_root(x, gain, eps=1e-6):
    """It divides by the mean square, not by its root."""
    _check(x, gain)
    return (_wide(x) / (_mean_square(x) + eps) * gain).to(x.dtype)


def mean_of_sizes(x, gain, eps=1e-6):
    """It divides by the mean size of the numbers, not by the root of their mean square."""
    _check(x, gain)
    size = torch.sqrt(_wide(x).square() + 1e-30).mean(dim=-1, keepdim=True)
    return (_wide(x) / (size + eps) * gain).to(x.dtype)


def epsilon_outside(x, gain, eps=1e-6):
    """ε is added outside the root: silence has no gradient, but NaN."""
    _check(x, gain)
    return (_wide(x) / (torch.sqrt(_mean_square(x)) + eps) * gain).to(x.dtype)


def epsilon_forgotten(x, gain, eps=1e-6):
    """ε is forgotten: silence is divided by 0."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x)) * gain).to(x.dtype)


def epsilon_of_layer_norm(x, gain, eps=1e-5):
    """ε is 1e-5 by default, as in layer norm: here it is 1e-6."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) * gain).to(x.dtype)


def gain_forgotten(x, gain, eps=1e-6):
    """The gain is not used."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) + 0 * gain).to(x.dtype)


def one_more_gain(x, gain, eps=1e-6):
    """The gain is 1 + gain, as some models store it: here it is the gain itself."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) * (1 + gain)).to(x.dtype)


def gain_before_the_norm(x, gain, eps=1e-6):
    """The gain comes before the norm, which takes most of it off again."""
    _check(x, gain)
    loud = _wide(x) * gain
    return (loud / torch.sqrt(_mean_square(loud) + eps)).to(x.dtype)


def one_loudness_for_all(x, gain, eps=1e-6):
    """The mean square is taken over all tokens: a loud one makes its neighbours quiet."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_wide(x).square().mean() + eps) * gain).to(x.dtype)


def measured_in_half(x, gain, eps=1e-6):
    """Halves are squared and summed as halves: 700² is infinite in float16."""
    _check(x, gain)
    mean_square = x.square().sum(dim=-1, keepdim=True, dtype=x.dtype) / x.shape[-1]
    return (x / torch.sqrt(mean_square + eps) * gain).to(x.dtype)


def float32_comes_back(x, gain, eps=1e-6):
    """The result is not cast back: halves turn to float32 here."""
    _check(x, gain)
    return _wide(x) / torch.sqrt(_mean_square(x) + eps) * gain


def in_float32(x, gain, eps=1e-6):
    """Float64 is measured in float32: half of its digits are lost."""
    _check(x, gain)
    mean_square = x.float().square().mean(dim=-1, keepdim=True)
    return (x.float() / torch.sqrt(mean_square + eps) * gain).to(x.dtype)


def in_place(x, gain, eps=1e-6):
    """It works in place on ``x.float()``, which is x itself where x is float32."""
    _check(x, gain)
    with torch.no_grad():
        wide = _wide(x)
        wide.mul_(torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps))
    return (wide * gain).to(x.dtype)


def gain_detached(x, gain, eps=1e-6):
    """The gain is detached, and never learns."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) * gain.detach()).to(x.dtype)


def loudness_detached(x, gain, eps=1e-6):
    """The root is detached: the gradient does not know that x is divided by its own loudness."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps).detach() * gain).to(x.dtype)


def gain_of_any_shape(x, gain, eps=1e-6):
    """The gain's shape is not checked: one gain for all features goes through unseen."""
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) * gain).to(x.dtype)


def only_the_width_checked(x, gain, eps=1e-6):
    """Of the gain only the last size is checked: (1, 3) goes through."""
    if not gain.dim() or gain.shape[-1] != x.shape[-1]:
        raise ValueError(f"gain must be {tuple(x.shape[-1:])}, got {tuple(gain.shape)}")
    return (_wide(x) / torch.sqrt(_mean_square(x) + eps) * gain).to(x.dtype)


def torch_does_it(x, gain, eps=1e-6):
    """Torch's own RMS norm does the work that this step is there to build."""
    _check(x, gain)
    return _functional.rms_norm(_wide(x), gain.shape, _wide(gain), eps).to(x.dtype)


def epsilon_as_a_floor(x, gain, eps=1e-6):
    """ε is only the least that the mean square may be: it is not added."""
    _check(x, gain)
    return (_wide(x) / torch.sqrt(_mean_square(x).clamp(min=eps)) * gain).to(x.dtype)


def one_feature_too_few(x, gain, eps=1e-6):
    """The squares are divided by D − 1, as ``std`` does it, where a mean divides by D."""
    _check(x, gain)
    mean_square = _wide(x).square().sum(dim=-1, keepdim=True) / max(1, x.shape[-1] - 1)
    return (_wide(x) / torch.sqrt(mean_square + eps) * gain).to(x.dtype)
