"""027 · project_to_query_key_value. Lesson: 027_project_to_query_key_value.md."""

import pytest
import torch
from torch.nn import functional

from kata.part04_multi_head import project_to_query_key_value
from kata.weights import AttentionWeights, LinearWeights
from specs.harness import draw
from specs.harness.check import assert_close

X = torch.tensor([[[1.0, 2.0]]])  # one token asks
MEMORY = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])  # three tokens answer
OUTPUT = LinearWeights(torch.tensor([[9.0, 8.0], [7.0, 6.0]]))  # belongs to step 030
WEIGHTS = AttentionWeights(
    query=LinearWeights(torch.tensor([[0.0, 3.0], [4.0, 0.0]]), torch.tensor([10.0, 20.0])),
    key=LinearWeights(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([30.0, 40.0])),
    value=LinearWeights(torch.tensor([[5.0, 6.0], [7.0, 8.0]]), torch.tensor([50.0, 60.0])),
    output=OUTPUT,
)


def test_queries_come_from_x():
    """[1, 2] gives 3·2 + 10 = 16 and 4·1 + 20 = 24: one query, whatever the memory's length."""
    queries, _, _ = project_to_query_key_value(X, MEMORY, WEIGHTS)
    assert_close(queries, expected=[[[16.0, 24.0]]])


def test_keys_come_from_the_memory():
    """[1, 0], [0, 1], [1, 1] read the matrix's columns [1, 3], [2, 4], their sum; plus [30, 40]."""
    _, keys, _ = project_to_query_key_value(X, MEMORY, WEIGHTS)
    assert_close(keys, expected=[[[31.0, 43.0], [32.0, 44.0], [33.0, 47.0]]])


def test_values_come_from_the_memory_by_their_own_matrix():
    """The same tokens read the value matrix's [5, 7], [6, 8], their sum; plus [50, 60]."""
    _, _, values = project_to_query_key_value(X, MEMORY, WEIGHTS)
    assert_close(values, expected=[[[55.0, 67.0], [56.0, 68.0], [61.0, 75.0]]])


def test_in_self_attention_a_sentence_asks_and_answers_itself():
    """x = memory = [1, 2]: 16, 24 as before; 1+4+30, 3+8+40; 5+12+50, 7+16+60."""
    queries, keys, values = project_to_query_key_value(X, X, WEIGHTS)
    assert_close(queries, expected=[[[16.0, 24.0]]])
    assert_close(keys, expected=[[[35.0, 51.0]]])
    assert_close(values, expected=[[[67.0, 83.0]]])


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ("query", ([6.0, 4.0], [35.0, 51.0], [67.0, 83.0])),
        ("key", ([16.0, 24.0], [5.0, 11.0], [67.0, 83.0])),
        ("value", ([16.0, 24.0], [35.0, 51.0], [17.0, 23.0])),
    ],
)
def test_each_projection_may_come_without_its_bias(without, expected):
    """x = memory = [1, 2] again; the projection without a bias gives its products alone."""
    no_bias = LinearWeights(getattr(WEIGHTS, without).weight)
    projected = project_to_query_key_value(X, X, WEIGHTS._replace(**{without: no_bias}))
    assert_close(torch.cat(projected), expected=[[row] for row in expected])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_answers_keep_the_dtype(dtype):
    """Whole numbers up to 83 are exact in every dtype."""
    cast = [LinearWeights(weight.to(dtype), bias.to(dtype)) for weight, bias in WEIGHTS[:3]]
    weights = AttentionWeights(*cast, output=LinearWeights(OUTPUT.weight.to(dtype)))
    projected = project_to_query_key_value(X.to(dtype), X.to(dtype), weights)
    expected = torch.tensor([[[16.0, 24.0]], [[35.0, 51.0]], [[67.0, 83.0]]], dtype=dtype)
    assert_close(torch.cat(projected), expected)


@pytest.mark.parametrize("size", draw.sizes("batch queries keys d_model", count=8), ids=str)
def test_it_agrees_with_torch(size):
    """F.linear, three times: x through W^Q, the memory through W^K and W^V."""
    width = size.d_model
    x = draw.floats(size.batch, size.queries, width)
    memory = draw.floats(size.batch, size.keys, width, seed=1)
    query, key, value, output = (
        LinearWeights(draw.floats(width, width, seed=2 + i), draw.floats(width, seed=2 + i))
        for i in range(4)
    )
    projected = project_to_query_key_value(x, memory, AttentionWeights(query, key, value, output))
    expected = (
        functional.linear(x, *query),
        functional.linear(memory, *key),
        functional.linear(memory, *value),
    )
    assert_close(projected, expected)
