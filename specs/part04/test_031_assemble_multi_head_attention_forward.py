"""031 · assemble_multi_head_attention_forward.

Lesson: 031_assemble_multi_head_attention_forward.md.
"""

from math import log, sqrt

import pytest
import torch
from torch import nn

from kata.part04_multi_head import assemble_multi_head_attention_forward
from kata.weights import AttentionWeights, LinearWeights
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("multi_head_attention",)

# Two heads of width 1. The query is [ln 3, 0]; head 0's keys are 6 and 5, head 1's 2 and 2, so the
# weights are 3/4, 1/4 and 1/2, 1/2. Head 0's values are 4 and 0, head 1's 2 and 6.
X = torch.tensor([[[1.0, log(3)]]])
MEMORY = torch.tensor([[[1.0, 2.0], [3.0, 0.0]]])
WEIGHTS = AttentionWeights(
    query=LinearWeights(torch.tensor([[0.0, 1.0], [2.0, 0.0]]), torch.tensor([0.0, -2.0])),
    key=LinearWeights(torch.tensor([[0.0, 0.5], [1.0, 1.0]]), torch.tensor([5.0, -1.0])),
    value=LinearWeights(torch.tensor([[1.0, 3.0], [1.0, -1.0]]), torch.tensor([-3.0, 3.0])),
    output=LinearWeights(torch.tensor([[1.0, 1.0], [2.0, 0.0]]), torch.tensor([10.0, 20.0])),
)


def test_two_heads_by_hand():
    """Heads give 3/4 · 4 = 3 and (2 + 6)/2 = 4; then 3 + 4 + 10 = 17 and 2 · 3 + 20 = 26."""
    output, _ = assemble_multi_head_attention_forward(X, MEMORY, WEIGHTS, 2)
    assert_close(output, expected=[[[17.0, 26.0]]])


def test_each_head_shows_its_own_weights():
    """(3/4, 1/4) and (1/2, 1/2), not their average."""
    _, weights = assemble_multi_head_attention_forward(X, MEMORY, WEIGHTS, 2)
    assert_close(weights, expected=[[[[0.75, 0.25]], [[0.5, 0.5]]]])


def test_a_hidden_token_has_no_say():
    """Only the second token is visible: values 0 and 6, so 0 + 6 + 10 = 16 and 0 + 20 = 20."""
    second = torch.tensor([[False, True]])
    output, _ = assemble_multi_head_attention_forward(X, MEMORY, WEIGHTS, 2, second)
    assert_close(output, expected=[[[16.0, 20.0]]])


def test_a_query_that_sees_nothing_gets_the_output_bias():
    """Nothing gathered, nothing projected: (10, 20) is left, and all weights are 0."""
    nothing = torch.zeros(1, 1, 1, 2, dtype=torch.bool)
    answer = assemble_multi_head_attention_forward(X, MEMORY, WEIGHTS, 2, nothing)
    assert_close(answer, (torch.tensor([[[10.0, 20.0]]]), torch.zeros(1, 2, 1, 2)))


@pytest.mark.parametrize(
    "shape", [(17,), (1, 17), (2, 17), (2, 13, 17), (2, 2, 17, 13), (3, 1, 1, 17)], ids=str
)
def test_a_mask_of_another_shape_is_an_error(shape):
    """Two sentences and heads, 13 queries, 17 keys: the message says that (13, 17) is wanted."""
    x, memory = torch.ones(2, 13, 2), torch.ones(2, 17, 2)
    mask = torch.ones(shape, dtype=torch.bool)
    with rejects(ValueError, naming=(13, 17, *shape)):
        assemble_multi_head_attention_forward(x, memory, WEIGHTS, 2, mask)


def test_a_mask_that_is_not_bool_is_an_error():
    """A mask of numbers could mean anything: TypeError, which names the dtype."""
    with rejects(TypeError, naming=torch.int64):
        assemble_multi_head_attention_forward(
            X, MEMORY, WEIGHTS, 2, torch.ones(1, 2, dtype=torch.int64)
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """Keys and values of one token alone: 4 and 2 come through whole, 4 + 2 + 10 and 8 + 20."""
    halves = [LinearWeights(weight.to(dtype), bias.to(dtype)) for weight, bias in WEIGHTS]
    output, _ = assemble_multi_head_attention_forward(
        X.to(dtype), MEMORY[:, :1].to(dtype), AttentionWeights(*halves), 2
    )
    assert_close(output, expected=[[[16.0, 28.0]]])


def drawn_weights(d_model, *, bias):
    """Four trained-looking projections, none of them like another."""
    return AttentionWeights(
        *(
            LinearWeights(
                draw.floats(d_model, d_model, seed=10 + i) / sqrt(d_model),
                draw.floats(d_model, seed=20 + i) if bias else None,
            )
            for i in range(4)
        )
    )


def test_heads_that_do_not_divide_the_width_are_an_error():
    """7 features cannot be shared by 2 heads: an error, whichever, and nothing is cut off."""
    x = torch.zeros(1, 3, 7)
    with rejects(Exception):
        assemble_multi_head_attention_forward(x, x, drawn_weights(7, bias=True), 2)


def torch_answer(x, memory, weights, num_heads, mask):
    """The module's answer, with the same weights and the mask turned round: True hides."""
    d_model, bias = x.shape[-1], weights.output.bias is not None
    module = nn.MultiheadAttention(d_model, num_heads, bias=bias, batch_first=True)
    state = {
        "in_proj_weight": torch.cat([projection.weight for projection in weights[:3]]),
        "out_proj.weight": weights.output.weight,
    }
    if bias:
        state["in_proj_bias"] = torch.cat([projection.bias for projection in weights[:3]])
        state["out_proj.bias"] = weights.output.bias
    module.load_state_dict(state)
    full = (x.shape[0], num_heads, x.shape[1], memory.shape[1])
    hidden = None if mask is None else ~mask.expand(full).flatten(0, 1)
    return module(x, memory, memory, attn_mask=hidden, average_attn_weights=False)


SIZES = draw.sizes("batch heads queries keys d_k", count=10)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_without_a_mask_it_agrees_with_torch(size, bias):
    """nn.MultiheadAttention is the judge, with the same weights."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.queries, d_model)
    memory = draw.floats(size.batch, size.keys, d_model, seed=1)
    weights = drawn_weights(d_model, bias=bias)
    answer = assemble_multi_head_attention_forward(x, memory, weights, size.heads)
    assert_close(answer, torch_answer(x, memory, weights, size.heads, None))


@pytest.mark.parametrize(
    "axes", ["queries keys", "batch 1 1 keys", "batch 1 queries keys", "batch heads queries keys"]
)
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_with_a_mask_it_agrees_with_torch(size, axes):
    """Every query sees at least one token: where it sees none, the module gives NaN."""
    d_model = size.heads * size.d_k
    x = draw.floats(size.batch, size.queries, d_model)
    memory = draw.floats(size.batch, size.keys, d_model, seed=1)
    weights = drawn_weights(d_model, bias=True)
    mask = draw.visible(*(vars(size).get(axis, 1) for axis in axes.split()), seed=3)
    answer = assemble_multi_head_attention_forward(x, memory, weights, size.heads, mask)
    assert_close(answer, torch_answer(x, memory, weights, size.heads, mask))


@pytest.mark.parametrize(
    "mask",
    [draw.visible(3, 1, 1, 5), torch.ones(5, 5, dtype=torch.bool).tril(), None],
    ids=["padding", "causal", "no mask"],
)
def test_in_self_attention_it_agrees_with_torch(mask):
    """One sentence as x and memory: with padding of its own in each row, a staircase, no mask."""
    x, weights = draw.floats(3, 5, 8), drawn_weights(8, bias=True)
    answer = assemble_multi_head_attention_forward(x, x, weights, 4, mask)
    assert_close(answer, torch_answer(x, x, weights, 4, mask))
