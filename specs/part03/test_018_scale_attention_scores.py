"""018 · scale_attention_scores. Lesson: 018_scale_attention_scores.md."""

from itertools import product
from math import inf

import pytest
import torch

from kata.part03_attention import scale_attention_scores
from specs.harness import draw
from specs.harness.check import assert_close, rejects


def test_score_6_at_width_4():
    """√4 = 2, and 6 / 2 = 3."""
    assert_close(scale_attention_scores(torch.tensor([[6.0]]), d_k=4), expected=[[3.0]])


@pytest.mark.parametrize(("d_k", "scaled"), [(1, 6.0), (4, 3.0), (16, 1.5), (1024, 0.1875)])
def test_wider_heads_are_turned_down_more(d_k, scaled):
    """6 divided by 1, 2, 4 and 32."""
    assert_close(scale_attention_scores(torch.tensor([[6.0]]), d_k), expected=[[scaled]])


def test_width_is_not_the_number_of_keys():
    """Nine keys with width 4: the scores are halved, not divided by √9."""
    scores = torch.full((1, 9), 6.0)
    assert_close(scale_attention_scores(scores, d_k=4), expected=[[3.0] * 9])


@pytest.mark.parametrize("d_k", [1, 3, 8])
def test_volume_is_one_at_every_width(d_k):
    """All 2^d_k keys made of +1 and −1, heard by a query of ones: mean square d_k, then 1."""
    keys = torch.tensor(list(product([-1.0, 1.0], repeat=d_k)))
    scores = keys.sum(-1)[None, :]
    mean_square = scale_attention_scores(scores, d_k).square().mean()
    assert_close(mean_square, expected=1.0)


def test_sign_is_kept():
    """−6 becomes −3, 0 stays 0, and −∞ stays −∞."""
    scores = torch.tensor([[-6.0, 0.0, -inf]])
    assert_close(scale_attention_scores(scores, d_k=4), expected=[[-3.0, 0.0, -inf]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """6 becomes 3 in every type, and the type stays."""
    assert_close(scale_attention_scores(torch.tensor([[6.0]], dtype=dtype), d_k=4), [[3.0]])


def test_float64_is_scaled_in_float64():
    """6e300 is infinite in float32; here its half is 3e300."""
    scores = torch.tensor([[6e300]], dtype=torch.float64)
    assert_close(scale_attention_scores(scores, d_k=4), expected=[[3e300]])


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_k"), ids=str)
def test_agrees_with_the_power_minus_one_half(size):
    """scores · d_k^(−1/2), in float64."""
    scores = draw.floats(size.batch, size.heads, size.queries, size.keys)
    expected = scores.double() * size.d_k**-0.5
    assert_close(scale_attention_scores(scores, size.d_k), expected)


@pytest.mark.parametrize("d_k", [0, -4])
def test_width_below_one_is_an_error(d_k):
    """There is no vector of width 0 or −4: the message names it."""
    with rejects(ValueError, naming=d_k):
        scale_attention_scores(torch.ones(2, 3), d_k)
