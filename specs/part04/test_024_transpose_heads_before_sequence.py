"""024 · transpose_heads_before_sequence. Lesson: 024_transpose_heads_before_sequence.md."""

import pytest
import torch

from kata.part04_multi_head import transpose_heads_before_sequence
from specs.harness import draw
from specs.harness.check import assert_close


def test_two_tokens_and_two_heads_by_hand():
    """Tokens [0, 1] and [2, 3]: head 0 collects 0 and 2, the first of each; head 1 gets 1 and 3."""
    x = torch.tensor([[[[0.0], [1.0]], [[2.0], [3.0]]]])
    heads = transpose_heads_before_sequence(x)
    assert_close(heads, expected=[[[[0.0], [2.0]], [[1.0], [3.0]]]])


def test_features_stay_together():
    """Three tokens, two heads, two features: the pairs move, what is inside a pair does not."""
    tokens = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[9.0, 0.0], [7.0, 5.0]]]
    heads = transpose_heads_before_sequence(torch.tensor([tokens]))
    expected = [[[1.0, 2.0], [5.0, 6.0], [9.0, 0.0]], [[3.0, 4.0], [7.0, 8.0], [7.0, 5.0]]]
    assert_close(heads, expected=[expected])


def test_sentences_stay_in_their_rows():
    """Two sentences, one token, two heads: sentence 0 keeps 1 and 2, sentence 1 keeps 3 and 4."""
    x = torch.tensor([[[[1.0], [2.0]]], [[[3.0], [4.0]]]])
    heads = transpose_heads_before_sequence(x)
    assert_close(heads, expected=[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_every_number_comes_through_in_its_own_dtype(dtype):
    """Nothing is computed, so even half precision is exact."""
    x = torch.tensor([[[[0.1], [0.2]], [[0.3], [0.4]]]], dtype=dtype)
    expected = torch.tensor([[[[0.1], [0.3]], [[0.2], [0.4]]]], dtype=dtype)
    assert_close(transpose_heads_before_sequence(x), expected, rtol=0, atol=0)


@pytest.mark.parametrize("size", draw.sizes("batch length heads d_k", count=8), ids=str)
def test_token_t_of_head_h_was_head_h_of_token_t(size):
    """result[b, h, t] = x[b, t, h]: head by head, the tokens' slices are stacked again."""
    x = draw.floats(size.batch, size.length, size.heads, size.d_k)
    per_head = [x[:, :, h] for h in range(size.heads)]
    assert_close(transpose_heads_before_sequence(x), expected=torch.stack(per_head, dim=1))
