"""Wrong versions of normalize_last_dim, one slip each."""

import torch

from kata.part05_sublayers import compute_mean_and_variance


def epsilon_outside_the_root(x, eps=1e-5):
    """ε is added to the root, √σ² + ε, where √(σ² + ε) is wanted."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / (variance.sqrt() + eps)).to(x.dtype)


def no_epsilon(x, eps=1e-5):
    """ε is forgotten: a constant row is 0 / 0, NaN."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / variance.sqrt()).to(x.dtype)


def epsilon_of_its_own(x, eps=1e-5):
    """ε is always 1e-5, whatever the caller asked for."""
    return _normalize(x, 1e-5)


def epsilon_as_a_floor(x, eps=1e-5):
    """ε is a floor under the variance, where it should be added."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / variance.clamp(min=eps).sqrt()).to(x.dtype)


def no_root(x, eps=1e-5):
    """The deviations are divided by the variance: the root is forgotten."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / (variance + eps)).to(x.dtype)


def squared(x, eps=1e-5):
    """σ² + ε is squared where its root is to be taken."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / (variance + eps) ** 2).to(x.dtype)


def multiplied_by_the_root(x, eps=1e-5):
    """The deviations are multiplied by the root: what is loud grows louder."""
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) * torch.sqrt(variance + eps)).to(x.dtype)


def mean_not_taken_off(x, eps=1e-5):
    """The mean is not taken off: only the scale is set."""
    _, variance = compute_mean_and_variance(x)
    return (x / torch.sqrt(variance + eps)).to(x.dtype)


def root_mean_square(x, eps=1e-5):
    """The mean is taken off nowhere, not in the variance either: that is RMSNorm, step 087."""
    mean, variance = compute_mean_and_variance(x)
    return (x / torch.sqrt(variance + mean.square() + eps)).to(x.dtype)


def epsilon_squared(x, eps=1e-5):
    """ε is squared before it is added."""
    return _normalize(x, eps**2)


def unbiased(x, eps=1e-5):
    """The variance is divided by D − 1, not by D."""
    mean, variance = compute_mean_and_variance(x)
    variance = variance * x.shape[-1] / max(x.shape[-1] - 1, 1)
    return ((x - mean) / torch.sqrt(variance + eps)).to(x.dtype)


def of_the_annotated_transformer(x, eps=1e-5):
    """Torch's std divides by D − 1, and ε joins it outside the root: two slips in one."""
    deviations = x.float() - x.float().mean(-1, keepdim=True)
    variance = deviations.square().sum(-1, keepdim=True) / max(x.shape[-1] - 1, 1)
    return (deviations / (variance.sqrt() + eps)).to(x.dtype)


def along_time(x, eps=1e-5):
    """Each feature is normalized over the tokens, not each token over its features."""
    return _normalize(x.transpose(-2, -1), eps).transpose(-2, -1)


def over_the_whole_sentence(x, eps=1e-5):
    """One scale for the whole sentence: a loud token keeps the others small."""
    return _normalize(x.flatten(-2), eps).reshape(x.shape)


def between_zero_and_one(x, eps=1e-5):
    """The smallest number becomes 0 and the largest 1: that is another scale."""
    lowest, highest = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - lowest) / (highest - lowest + eps)


def in_half_precision(x, eps=1e-5):
    """Halves are normalized in half precision: the mean is rounded, the variance overflows."""
    mean, variance = (statistic.to(x.dtype) for statistic in compute_mean_and_variance(x))
    return (x - mean) / torch.sqrt(variance + eps)


def not_cast_back(x, eps=1e-5):
    """The float32 of the statistics is never cast back to the dtype of x."""
    mean, variance = compute_mean_and_variance(x)
    return (x - mean) / torch.sqrt(variance + eps)


def always_float32(x, eps=1e-5):
    """Everything is computed in float32: float64 loses half its digits on the way."""
    return _normalize(x.float(), eps).to(x.dtype)


def statistics_detached(x, eps=1e-5):
    """μ and σ² are detached: the gradient ignores that they move with x."""
    mean, variance = (statistic.detach() for statistic in compute_mean_and_variance(x))
    return ((x - mean) / torch.sqrt(variance + eps)).to(x.dtype)


def in_place(x, eps=1e-5):
    """The mean is taken off in place: the caller's tensor changes."""
    mean, variance = compute_mean_and_variance(x)
    x -= mean
    return (x / torch.sqrt(variance + eps)).to(x.dtype)


def _normalize(x, eps):
    mean, variance = compute_mean_and_variance(x)
    return ((x - mean) / torch.sqrt(variance + eps)).to(x.dtype)
