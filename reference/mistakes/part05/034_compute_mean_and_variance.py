"""Wrong versions of compute_mean_and_variance, one slip each."""

import torch

_HALVES = (torch.float16, torch.bfloat16)


def unbiased(x):
    """The variance is divided by D − 1: torch's var does so unless told otherwise."""
    mean, variance = _measure(_wide(x))
    return mean, variance * x.shape[-1] / (x.shape[-1] - 1)


def standard_deviation(x):
    """The second result is the standard deviation: the root was taken already."""
    mean, variance = _measure(_wide(x))
    return mean, variance.sqrt()


def mean_square(x):
    """The mean is not taken off before squaring: that is the mean square, not the variance."""
    wide = _wide(x)
    return wide.mean(-1, keepdim=True), wide.square().mean(-1, keepdim=True)


def mean_deviation(x):
    """The deviations are made positive, not squared."""
    wide = _wide(x)
    mean = wide.mean(-1, keepdim=True)
    return mean, (wide - mean).abs().mean(-1, keepdim=True)


def summed(x):
    """The squares are added up, but not divided by their number."""
    mean, variance = _measure(_wide(x))
    return mean, variance * x.shape[-1]


def along_time(x):
    """The statistics run along the axis before the last: over the tokens, one for each feature."""
    wide = _wide(x)
    mean = wide.mean(-2, keepdim=True)
    return mean, (wide - mean).square().mean(-2, keepdim=True)


def over_the_whole_sentence(x):
    """One mean and one variance for the whole sentence, not for each token."""
    wide = _wide(x)
    axes = (-2, -1)
    mean = wide.mean(axes, keepdim=True)
    variance = (wide - mean).square().mean(axes, keepdim=True)
    return mean.expand(*x.shape[:-1], 1), variance.expand(*x.shape[:-1], 1)


def axis_dropped(x):
    """The last axis is gone: the results do not broadcast against x any more."""
    mean, variance = _measure(_wide(x))
    return mean.squeeze(-1), variance.squeeze(-1)


def results_swapped(x):
    """The two results have changed places: the mean comes first."""
    mean, variance = _measure(_wide(x))
    return variance, mean


def measured_in_half(x):
    """Halves are measured in half precision, and the result is widened when it is too late."""
    mean = _wide(x.mean(-1, keepdim=True))
    return mean, _wide((x - mean.to(x.dtype)).square().mean(-1, keepdim=True))


def returned_in_half(x):
    """Halves come back in half precision: the mean is rounded, and the variance overflows."""
    mean, variance = _measure(_wide(x))
    return mean.to(x.dtype), variance.to(x.dtype)


def always_float32(x):
    """Everything is turned to float32, float64 too."""
    return _measure(x.float())


def detached(x):
    """The statistics are detached: no gradient flows back."""
    mean, variance = _measure(_wide(x))
    return mean.detach(), variance.detach()


def mean_taken_off_in_place(x):
    """The mean is taken off in place: the caller's tensor changes."""
    mean = x.mean(-1, keepdim=True)
    x -= mean
    return _wide(mean), _wide(x).square().mean(-1, keepdim=True)


def _wide(x):
    return x.float() if x.dtype in _HALVES else x


def _measure(wide):
    mean = wide.mean(-1, keepdim=True)
    return mean, (wide - mean).square().mean(-1, keepdim=True)
