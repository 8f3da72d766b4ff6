"""091 · repeat_key_value_heads. Lesson: 091_repeat_key_value_heads.md."""

import pytest
import torch

from kata.part13_decoder_only import repeat_key_value_heads
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("repeat_interleave",)

# Two heads of two tokens, one feature each.
HEADS = torch.tensor([[[[1.0], [2.0]], [[3.0], [4.0]]]])
FIRST, SECOND = [[1.0], [2.0]], [[3.0], [4.0]]


def test_copies_stand_side_by_side():
    """Heads a and b three times each: a, a, a, b, b, b, not a, b, a, b, a, b."""
    expected = [[FIRST, FIRST, FIRST, SECOND, SECOND, SECOND]]
    assert_close(repeat_key_value_heads(HEADS, 3), expected)


def test_once_changes_nothing():
    """As many key heads as query heads: nothing to do."""
    assert_close(repeat_key_value_heads(HEADS, 1), expected=[[FIRST, SECOND]])


def test_one_head_for_all():
    """Multi-query attention: the one head there is, four times."""
    assert_close(repeat_key_value_heads(HEADS[:, :1], 4), expected=[[FIRST] * 4])


def test_each_sentence_keeps_its_heads():
    """Two sentences: the second one's heads are the negatives of the first one's."""
    answer = repeat_key_value_heads(torch.cat([HEADS, -HEADS]), 2)
    expected = torch.tensor([FIRST, FIRST, SECOND, SECOND])
    assert_close(answer, expected=torch.stack([expected, -expected]))


def test_gradients_of_the_copies_add_up():
    """Head a's copies send 1 and 2, head b's 4 and 8: 3 and 12 for every number in them."""
    heads = HEADS.clone().requires_grad_()
    answer = repeat_key_value_heads(heads, 2)
    (answer * torch.tensor([1.0, 2.0, 4.0, 8.0])[:, None, None]).sum().backward()
    assert_close(heads.grad, expected=[[[[3.0], [3.0]], [[12.0], [12.0]]]])


@pytest.mark.parametrize("repeats", [0, -1, -2])
def test_less_than_once_is_an_error(repeats):
    """No copy at all is no head at all; and −1 means "as it is" to torch's expand."""
    with rejects(ValueError, naming=repeats):
        repeat_key_value_heads(HEADS, repeats)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Copies are exact in every type: thirds, to their last digit."""
    answer = repeat_key_value_heads(HEADS.to(dtype) / 3, 2)
    expected = torch.tensor([[FIRST, FIRST, SECOND, SECOND]], dtype=dtype) / 3
    assert_close(answer, expected, rtol=0.0, atol=0.0)


@pytest.mark.parametrize("size", draw.sizes("batch kv_heads repeats length d_k"), ids=str)
def test_agrees_with_torch(size):
    """torch.repeat_interleave along the heads."""
    x = draw.floats(size.batch, size.kv_heads, size.length, size.d_k)
    answer = repeat_key_value_heads(x, size.repeats)
    assert_close(answer, expected=x.repeat_interleave(size.repeats, dim=1))
