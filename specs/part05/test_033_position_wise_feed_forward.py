"""033 · position_wise_feed_forward. Lesson: 033_position_wise_feed_forward.md."""

from math import sqrt

import pytest
import torch
from torch.nn import functional

from kata.part05_sublayers import position_wise_feed_forward
from kata.weights import FeedForwardWeights, LinearWeights
from specs.harness import draw
from specs.harness.check import assert_close

# Width 2, three wide inside. x = [1, 2] gives 1 + 1 = 2, −2 + 0 = −2 and 3 − 2 = 1.
X = torch.tensor([[[1.0, 2.0]]])
EXPAND = LinearWeights(
    torch.tensor([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), torch.tensor([1.0, 0.0, -2.0])
)
CONTRACT = LinearWeights(
    torch.tensor([[1.0, 5.0, 2.0], [-3.0, 7.0, 1.0]]), torch.tensor([10.0, -1.0])
)
WEIGHTS = FeedForwardWeights(EXPAND, CONTRACT)


def test_one_token_by_hand():
    """2, −2, 1 become 2, 0, 1; then 2 + 2 + 10 = 14 and −6 + 1 − 1 = −6, which stays negative."""
    assert_close(position_wise_feed_forward(X, WEIGHTS), expected=[[[14.0, -6.0]]])


def test_each_position_thinks_alone():
    """[0, 0] gives 1, 0, −2 inside, so 1 + 10 = 11 and −3 − 1 = −4. [1, 2] gives what it gave."""
    x = torch.tensor([[[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]])
    answer = position_wise_feed_forward(x, WEIGHTS)
    assert_close(answer, expected=[[[14.0, -6.0], [11.0, -4.0], [14.0, -6.0]]])


def test_as_wide_inside_as_outside():
    """x = [1, 2]: 1 + 4 = 5 and 2 inside; 5 − 2 = 3 and 3 · 5 = 15. No shape tells W₁ from W₂."""
    expand = LinearWeights(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    contract = LinearWeights(torch.tensor([[1.0, -1.0], [3.0, 0.0]]))
    answer = position_wise_feed_forward(X, FeedForwardWeights(expand, contract))
    assert_close(answer, expected=[[[3.0, 15.0]]])


@pytest.mark.parametrize(
    ("without", "expected"),
    [(("expand",), [17.0, -1.0]), (("contract",), [4.0, -5.0]), (WEIGHTS._fields, [7.0, 0.0])],
    ids=["no b₁", "no b₂", "neither"],
)
def test_either_bias_may_be_missing(without, expected):
    """Without b₁ 1, −2, 3 inside: 1 + 6 = 7 and −3 + 3 = 0, plus b₂. Without b₂ 4 and −5."""
    plain = {name: LinearWeights(getattr(WEIGHTS, name).weight) for name in without}
    answer = position_wise_feed_forward(X, WEIGHTS._replace(**plain))
    assert_close(answer, expected=[[expected]])


def test_gradient_by_hand():
    """Inside, 0 and 2 are open: the first output moves by 1 · [1, 0] + 2 · [1, 1] = [3, 2]."""
    x = X.clone().requires_grad_()
    position_wise_feed_forward(x, WEIGHTS)[0, 0, 0].backward()
    assert_close(x.grad, expected=[[[3.0, 2.0]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Whole numbers up to 14 are exact in every type, and the type stays."""
    cast = (LinearWeights(weight.to(dtype), bias.to(dtype)) for weight, bias in WEIGHTS)
    answer = position_wise_feed_forward(X.to(dtype), FeedForwardWeights(*cast))
    assert_close(answer, expected=[[[14.0, -6.0]]])


SIZES = draw.sizes("batch length d_model d_ff", count=8)
SIZES += draw.sizes("batch length", count=1, d_model=5, d_ff=5)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_torch(size):
    """F.linear, F.relu, F.linear, in float64: over sizes that all differ, and a square one."""
    x = draw.floats(size.batch, size.length, size.d_model)
    expand = draw.floats(size.d_ff, size.d_model, seed=1) / sqrt(size.d_model)
    contract = draw.floats(size.d_model, size.d_ff, seed=2) / sqrt(size.d_ff)
    b1, b2 = draw.floats(size.d_ff, seed=3), draw.floats(size.d_model, seed=4)
    weights = FeedForwardWeights(LinearWeights(expand, b1), LinearWeights(contract, b2))
    hidden = functional.relu(functional.linear(x.double(), expand.double(), b1.double()))
    expected = functional.linear(hidden, contract.double(), b2.double())
    assert_close(position_wise_feed_forward(x, weights), expected)
