"""Right but unusual versions of step 036."""

import torch

from kata.part05_sublayers import normalize_last_dim


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _check(x, weights):
    for name, vector in zip(("gain", "bias"), weights, strict=True):
        if tuple(vector.shape) != (x.shape[-1],):
            raise ValueError(f"{name} {tuple(vector.shape)} for a width of {x.shape[-1]}")


def mean_square_minus_squared_mean(x, weights, eps=1e-5):
    """The variance is E[x²] − E[x]², which rounding must not push below 0."""
    _check(x, weights)
    numbers = _wide(x)
    mean = numbers.mean(dim=-1, keepdim=True)
    variance = numbers.square().mean(dim=-1, keepdim=True) - mean.square()
    normalized = (numbers - mean) / (variance.clamp(min=0) + eps).sqrt()
    return (normalized * weights.gain + weights.bias).to(x.dtype)


def both_measures_at_once(x, weights, eps=1e-5):
    """``var_mean`` measures, and ``addcmul`` starts from the bias."""
    _check(x, weights)
    numbers = _wide(x)
    variance, mean = torch.var_mean(numbers, dim=-1, keepdim=True, correction=0)
    normalized = (numbers - mean) * torch.rsqrt(variance + eps)
    gain, bias = (vector.to(numbers.dtype) for vector in weights)
    return torch.addcmul(bias, normalized, gain).to(x.dtype)


def letters_for_the_axes(x, weights, eps=1e-5):
    """``einsum`` for the mean, for the variance, and for deviation times scale times gain."""
    _check(x, weights)
    numbers = _wide(x)
    d_model = numbers.shape[-1]
    apart = numbers - torch.einsum("...d->...", numbers).unsqueeze(-1) / d_model
    variance = torch.einsum("...d,...d->...", apart, apart) / d_model
    scale = (variance + eps) ** -0.5
    scaled = torch.einsum("...d,...,d->...d", apart, scale, _wide(weights.gain))
    return (scaled + weights.bias).to(x.dtype)


def each_token_by_vmap(x, weights, eps=1e-5):
    """The norm is written for one token, out of step 035, and ``vmap`` is all of them."""
    _check(x, weights)

    def norm(token):
        return normalize_last_dim(token, eps) * weights.gain + weights.bias

    tokens = _wide(x).reshape(-1, x.shape[-1])
    return torch.vmap(norm)(tokens).reshape(x.shape).to(x.dtype)


def gain_on_the_diagonal(x, weights, eps=1e-5):
    """The gain is a diagonal matrix, and the bias is what ``addmm`` starts from."""
    _check(x, weights)
    rows = _wide(x).reshape(-1, x.shape[-1])
    apart = rows - rows.mean(dim=-1, keepdim=True)
    normalized = apart / (apart.square().mean(dim=-1, keepdim=True) + eps).sqrt()
    gain, bias = (vector.to(rows.dtype) for vector in weights)
    return torch.addmm(bias, normalized, torch.diag(gain)).reshape(x.shape).to(x.dtype)


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain, bias, eps):
        numbers = _wide(x)
        variance, mean = torch.var_mean(numbers, dim=-1, keepdim=True, correction=0)
        scale = (variance + eps).rsqrt()
        normalized = (numbers - mean) * scale
        ctx.save_for_backward(normalized, scale, gain)
        ctx.types = x.dtype, gain.dtype, bias.dtype
        return (normalized * gain + bias).to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        normalized, scale, gain = ctx.saved_tensors
        arriving = gradient.to(normalized.dtype)
        flow = arriving * gain
        blame = (flow * normalized).mean(dim=-1, keepdim=True) * normalized
        to_x = (flow - flow.mean(dim=-1, keepdim=True) - blame) * scale
        to_gain = (arriving * normalized).sum(dim=0)
        to_bias = arriving.sum(dim=0)
        flows = zip((to_x, to_gain, to_bias), ctx.types, strict=True)
        return *(flow.to(dtype) for flow, dtype in flows), None


def own_function(x, weights, eps=1e-5):
    """An ``autograd.Function`` with its backward written by hand."""
    _check(x, weights)
    rows = x.reshape(-1, x.shape[-1])
    return _LayerNorm.apply(rows, *weights, eps).reshape(x.shape)
