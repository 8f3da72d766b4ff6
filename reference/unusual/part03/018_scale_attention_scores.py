"""Right but unusual versions of step 018."""

import math

import torch


def _positive(d_k):
    if not d_k > 0:
        raise ValueError(f"expected a positive d_k, got {d_k}")
    return d_k


def power_minus_one_half(scores, d_k):
    """Times d_k^(−1/2)."""
    return scores * _positive(d_k) ** -0.5


def root_held_in_a_tensor(scores, d_k):
    """√d_k is a float32 tensor on the CPU, without dimensions."""
    return scores / torch.tensor(_positive(d_k), dtype=torch.float32).sqrt()


def root_made_like_the_scores(scores, d_k):
    """1/√d_k is computed in the scores' own dtype, on their own device."""
    return scores.mul(torch.rsqrt(scores.new_full((1,), _positive(d_k))))


def diagonal_of_ones(scores, d_k):
    """√d_k is the diagonal of a cube of side 1 in d_k dimensions."""
    return scores / math.hypot(*[1.0] * _positive(d_k))


def wider_and_back(scores, d_k):
    """Half scores are divided in float32 and cast once."""
    wide = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    return wide.div(math.sqrt(_positive(d_k))).to(scores.dtype)


class _Scale:
    """An object that is called like a function."""

    def __init__(self, power):
        self.power = power

    def __call__(self, scores, d_k):
        if d_k < 1:
            raise ValueError(f"d_k = {d_k}")
        return scores * math.pow(d_k, self.power)


callable_object = _Scale(-0.5)
