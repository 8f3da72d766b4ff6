"""090 · swiglu_feed_forward. Lesson: 090_swiglu_feed_forward.md."""

from math import log

import pytest
import torch

from kata.part13_decoder_only import swiglu_feed_forward
from kata.weights import GatedFeedForwardWeights, LinearWeights
from specs.harness import draw, draw_decoder_only, draw_weights, torch_decoder_only
from specs.harness.check import assert_close

NOT_WITH = ("silu",)

L = log(3)
# One feature, two doors. For x = 1 the gates are ln 3 and −ln 3, what comes through is 4 and 8.
WEIGHTS = GatedFeedForwardWeights(
    gate=LinearWeights(torch.tensor([[L], [-L]])),
    up=LinearWeights(torch.tensor([[4.0], [8.0]])),
    down=LinearWeights(torch.tensor([[1.0, 10.0]])),
)
ONE = torch.tensor([[[1.0]]])


def plain(gate, up=1.0, down=1.0):
    """One door, its gate's weight, and what comes through."""
    return GatedFeedForwardWeights(
        *(LinearWeights(torch.tensor([[number]])) for number in (gate, up, down))
    )


def test_two_doors_by_hand():
    """σ(ln 3) = 3/4 and σ(−ln 3) = 1/4: 3/4 · ln 3 · 4 = 3 ln 3, and −1/4 · ln 3 · 8 = −2 ln 3.

    Down: 3 ln 3 − 10 · 2 ln 3 = −17 ln 3.
    """
    assert_close(swiglu_feed_forward(ONE, WEIGHTS), expected=[[[-17 * L]]])


def test_each_layer_adds_its_own_bias():
    """x = 0: gate ln 3 opens 3/4 ln 3 of 4, three times over and 5 more: 9 ln 3 + 5."""
    weights = GatedFeedForwardWeights(
        gate=LinearWeights(torch.tensor([[1.0]]), torch.tensor([L])),
        up=LinearWeights(torch.tensor([[1.0]]), torch.tensor([4.0])),
        down=LinearWeights(torch.tensor([[3.0]]), torch.tensor([5.0])),
    )
    assert_close(swiglu_feed_forward(0 * ONE, weights), expected=[[[9 * L + 5]]])


@pytest.mark.parametrize(
    ("missing", "answer"), [("gate", 5.0), ("up", 5.0), ("down", 9 * L)], ids=["gate", "up", "down"]
)
def test_any_layer_may_come_without_a_bias(missing, answer):
    """x = 0: without its bias gate or up is 0, and only the last 5 is left; or else 9 ln 3."""
    weights = GatedFeedForwardWeights(
        gate=LinearWeights(torch.tensor([[1.0]]), torch.tensor([L])),
        up=LinearWeights(torch.tensor([[1.0]]), torch.tensor([4.0])),
        down=LinearWeights(torch.tensor([[3.0]]), torch.tensor([5.0])),
    )
    bare = getattr(weights, missing)._replace(bias=None)
    answer_without = swiglu_feed_forward(0 * ONE, weights._replace(**{missing: bare}))
    assert_close(answer_without, expected=[[[answer]]])


def test_gate_is_opened_not_the_product():
    """Gate 1, up −2: silu(1) · −2 = −2/(1 + 1/e) = −1.462; silu of the product is −0.238."""
    answer = swiglu_feed_forward(ONE, plain(gate=1.0, up=-2.0))
    assert_close(answer, expected=[[[-1.4621171573]]])


def test_shut_and_open_doors():
    """A gate at −100 is shut, one at 0 too, and one at 100 lets through 100 times what comes."""
    x = torch.tensor([[[-1.0], [1.0], [0.0]]])
    answer = swiglu_feed_forward(x, plain(gate=100.0, up=3.0))
    assert_close(answer, expected=[[[0.0], [300.0], [0.0]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize(("z", "slope"), [(-100.0, 0.0), (100.0, 1.0)])
def test_gradient_of_a_gate_far_from_zero_is_finite(z, slope, dtype):
    """exp(100) is infinite in float32, and ∞/∞ is NaN: the slope is 0 when shut, 1 when open."""
    gate = torch.tensor([[z]], dtype=dtype, requires_grad=True)
    weights = draw_weights.cast(plain(gate=0.0), dtype)._replace(gate=LinearWeights(gate))
    swiglu_feed_forward(ONE.to(dtype), weights).backward()
    assert_close(gate.grad, expected=[[slope]])


def test_slope_of_the_gate_by_hand():
    """At ln 3: σ (1 + z (1 − σ)) = 3/4 (1 + ln 3 / 4)."""
    gate = torch.tensor([[L]], requires_grad=True)
    weights = plain(gate=0.0)._replace(gate=LinearWeights(gate))
    swiglu_feed_forward(ONE, weights).backward()
    assert_close(gate.grad, expected=[[0.75 * (1 + L / 4)]])


def test_each_position_alone():
    """Three tokens in any order: each gives what it gives alone, −17 ln 3 for a 1."""
    x = torch.tensor([[[0.0], [1.0], [0.0]], [[1.0], [0.0], [0.0]]])
    expected = [[[0.0], [-17 * L], [0.0]], [[-17 * L], [0.0], [0.0]]]
    assert_close(swiglu_feed_forward(x, WEIGHTS), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The two doors again, in half and in double precision."""
    weights = GatedFeedForwardWeights(
        gate=LinearWeights(torch.tensor([[L], [-L]], dtype=dtype)),
        up=LinearWeights(torch.tensor([[4.0], [8.0]], dtype=dtype)),
        down=LinearWeights(torch.tensor([[1.0, 10.0]], dtype=dtype)),
    )
    assert_close(swiglu_feed_forward(ONE.to(dtype), weights), expected=[[[-17 * L]]])


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("size", draw.sizes("batch length d_model d_ff"), ids=str)
def test_agrees_with_torch(size, bias):
    """F.silu on the gate and three F.linear, in float64."""
    x = draw.floats(size.batch, size.length, size.d_model)
    weights = draw_decoder_only.gated_feed_forward(size.d_model, size.d_ff, bias=bias)
    answer = swiglu_feed_forward(x, weights)
    assert_close(answer, torch_decoder_only.feed_forward(x, weights))
