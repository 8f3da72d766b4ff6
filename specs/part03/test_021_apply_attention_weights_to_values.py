"""021 · apply_attention_weights_to_values. Lesson: 021_apply_attention_weights_to_values.md."""

import pytest
import torch

from kata.part03_attention import apply_attention_weights_to_values
from specs.harness import draw
from specs.harness.check import assert_close

WEIGHTS = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
VALUES = torch.tensor([[4.0, 0.0, 8.0], [0.0, 8.0, 4.0]])


def test_two_values_by_hand():
    """¾ of (4, 0, 8) and ¼ of (0, 8, 4) make (3, 2, 7); half of each makes (2, 4, 6)."""
    output = apply_attention_weights_to_values(WEIGHTS, VALUES)
    assert_close(output, expected=[[3.0, 2.0, 7.0], [2.0, 4.0, 6.0]])


def test_all_the_weight_brings_a_value_back_whole():
    """Weights (0, 1): the second value, untouched."""
    output = apply_attention_weights_to_values(torch.tensor([[0.0, 1.0]]), VALUES)
    assert_close(output, expected=[[0.0, 8.0, 4.0]])


def test_as_many_queries_as_keys_as_channels():
    """A square is where a swapped axis hides: ¾ · 4 = 3 and ¼ · 8 = 2; ½ · 4 = 2 and ½ · 8 = 4."""
    output = apply_attention_weights_to_values(WEIGHTS, VALUES[:, :2])
    assert_close(output, expected=[[3.0, 2.0], [2.0, 4.0]])


def test_no_weight_makes_zeros():
    """A query that sees no key has weights 0 and gets zeros, not NaN."""
    output = apply_attention_weights_to_values(torch.tensor([[0.0, 0.0]]), VALUES)
    assert_close(output, expected=[[0.0, 0.0, 0.0]])


def test_weights_are_taken_as_they_come():
    """Weights ½ and 0 make half of the first value: nobody tops them up to 1."""
    output = apply_attention_weights_to_values(torch.tensor([[0.5, 0.0]]), VALUES)
    assert_close(output, expected=[[2.0, 0.0, 4.0]])


def test_each_head_mixes_its_own_values():
    """Two heads with the same weights ½, ½: the means of (4, 0) and of (8, 2)."""
    weights = torch.full((2, 1, 2), 0.5)
    values = torch.tensor([[[4.0], [0.0]], [[8.0], [2.0]]])
    output = apply_attention_weights_to_values(weights, values)
    assert_close(output, expected=[[[2.0]], [[5.0]]])


def test_heads_may_share_their_values():
    """Values without the leading dimension are everybody's: it broadcasts."""
    output = apply_attention_weights_to_values(WEIGHTS[:, None, :], VALUES)
    assert_close(output, expected=[[[3.0, 2.0, 7.0]], [[2.0, 4.0, 6.0]]])


def test_one_key_and_one_channel():
    """1 · 5 = 5."""
    output = apply_attention_weights_to_values(torch.tensor([[1.0]]), torch.tensor([[5.0]]))
    assert_close(output, expected=[[5.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Quarters and halves are exact in every type."""
    output = apply_attention_weights_to_values(WEIGHTS.to(dtype), VALUES.to(dtype))
    assert_close(output, expected=[[3.0, 2.0, 7.0], [2.0, 4.0, 6.0]])


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_v", count=6), ids=str)
def test_agrees_with_shares_poured_together(size):
    """Σ_j weight[j] · value[j] for every query, in float64."""
    weights = draw.floats(size.batch, size.heads, size.queries, size.keys)
    values = draw.floats(size.batch, size.heads, size.keys, size.d_v, seed=1)
    shares = weights.double()[..., :, :, None] * values.double()[..., None, :, :]
    assert_close(apply_attention_weights_to_values(weights, values), expected=shares.sum(-2))
