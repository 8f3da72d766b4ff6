"""085 · flash_attention_backward. Lesson: 085_flash_attention_backward.md."""

from math import inf, log

import pytest
import torch
from torch.nn import functional

from kata.part12_flash_attention import flash_attention_backward
from specs.harness import draw
from specs.harness.check import assert_close, rejects
from specs.harness.live_bytes import measured

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
OUTPUT, LOG_SUM_EXP = torch.tensor([[3.0, 2.0]]), torch.tensor([log(4)])
TILES = pytest.mark.parametrize("sizes", [(3, 2), (2, 4), (128, 128)], ids=str)
CAUSAL = pytest.mark.parametrize("case", [False, True], ids=["all", "causal"])


def drawn(queries, keys, d_k, d_v, causal, lead=()):
    """Inputs in float64, what 084 makes of them, and the gradients that torch sends back."""
    inputs = [
        draw.floats(*lead, length, width, seed=seed).double().requires_grad_()
        for seed, (length, width) in enumerate([(queries, d_k), (keys, d_k), (keys, d_v)])
    ]
    visible = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries if causal else keys)
    output = functional.scaled_dot_product_attention(*inputs, visible)
    scores = (inputs[0] @ inputs[1].mT / d_k**0.5).masked_fill(~visible, -inf)
    sent_back = draw.floats(*lead, d_v, queries, seed=3).double().mT
    expected = torch.autograd.grad(output, inputs, sent_back)
    known = [part.detach() for part in (*inputs, output, torch.logsumexp(scores, dim=-1))]
    return sent_back, known, expected


def test_queries_by_hand():
    """Weights 3/4, 1/4 hear 4 and 0, on average 3: dS = (3/4, −3/4), and dQ = ¾ · ln 3 / 2."""
    sent_back = torch.tensor([[1.0, 0.0]])
    grads = flash_attention_backward(sent_back, QUERY, KEYS, VALUES, OUTPUT, LOG_SUM_EXP)
    assert_close(grads[0], expected=[[0.375 * log(3), 0.0, 0.0, 0.0]])


def test_keys_by_hand():
    """dS = (3/4, −3/4), halved like the scores, times the query's 2: 3/4 and −3/4."""
    sent_back = torch.tensor([[1.0, 0.0]])
    grads = flash_attention_backward(sent_back, QUERY, KEYS, VALUES, OUTPUT, LOG_SUM_EXP)
    assert_close(grads[1], expected=[[0.75, 0.0, 0.0, 0.0], [-0.75, 0.0, 0.0, 0.0]])


def test_values_by_hand():
    """Each value gets what came back, by the share it was heard with: 3/4 and 1/4."""
    sent_back = torch.tensor([[1.0, 0.0]])
    grads = flash_attention_backward(sent_back, QUERY, KEYS, VALUES, OUTPUT, LOG_SUM_EXP)
    assert_close(grads[2], expected=[[0.75, 0.0], [0.25, 0.0]])


def test_tiles_add_up():
    """Two equal queries: keys and values get twice of what one query sends them."""
    sent_back, queries = torch.tensor([[1.0, 0.0]]).repeat(2, 1), QUERY.repeat(2, 1)
    known = (queries, KEYS, VALUES, OUTPUT.repeat(2, 1), LOG_SUM_EXP.repeat(2))
    grads = flash_attention_backward(sent_back, *known, query_block=1, key_block=1)
    slope = [0.375 * log(3), 0.0, 0.0, 0.0]
    blame = [[1.5, 0.0, 0.0, 0.0], [-1.5, 0.0, 0.0, 0.0]]
    assert_close(grads, expected=([slope, slope], blame, [[1.5, 0.0], [0.5, 0.0]]))


def test_query_that_saw_no_key_sends_nothing_back():
    """Causal, two queries, one key: query 0 saw nothing. −∞ − (−∞) would be NaN; here it is 0."""
    sent_back, queries = torch.ones(2, 1), torch.tensor([[5.0], [3.0]])
    keys, values, output = torch.ones(1, 1), torch.tensor([[7.0]]), torch.tensor([[0.0], [7.0]])
    log_sum_exp = torch.tensor([-inf, 3.0])
    grads = flash_attention_backward(
        sent_back, queries, keys, values, output, log_sum_exp, True, 2, 1
    )
    assert_close(grads, expected=([[0.0], [0.0]], [[0.0]], [[1.0]]))


@pytest.mark.parametrize(
    "sent_back", [torch.ones(2, 2).mT, torch.ones(()).expand(2, 2)], ids=["transposed", "expanded"]
)
def test_what_comes_back_may_have_any_layout(sent_back):
    """All ones, laid out in columns, or one number for all, as ``sum().backward()`` sends it."""
    known = (QUERY.repeat(2, 1), KEYS, VALUES, OUTPUT.repeat(2, 1), LOG_SUM_EXP.repeat(2))
    grads = flash_attention_backward(sent_back, *known, False, 2, 1)
    assert_close(grads[0], expected=[[-0.375 * log(3), 0.0, 0.0, 0.0]] * 2)


def test_no_graph_is_built():
    """It is the way back itself; with a graph every tile would be kept after all."""
    sent_back, query = torch.tensor([[1.0, 0.0]]), QUERY.clone().requires_grad_()
    grads = flash_attention_backward(sent_back, query, KEYS, VALUES, OUTPUT, LOG_SUM_EXP)
    assert not any(grad.requires_grad for grad in grads), "the results carry a graph"


def test_small_shares_are_not_lost_in_half_precision():
    """To one key 1 comes back, and 1/1024 from 64 more: 1.0625, but in bfloat16 for ever 1."""
    ones, log_sum_exp = torch.ones(65, 1).bfloat16(), torch.zeros(65, dtype=torch.float32)
    sent_back = torch.tensor([[1.0]] + [[2**-10]] * 64).bfloat16()
    known = (torch.zeros_like(ones), ones[:1], ones[:1], ones, log_sum_exp)
    grads = flash_attention_backward(sent_back, *known, False, 4, 1)
    assert_close(grads[2], expected=[[1.0625]])


@pytest.mark.parametrize(
    ("dtype", "large"), [(torch.float16, 2048.0), (torch.bfloat16, 256.0)], ids=str
)
def test_average_is_taken_in_float32(dtype, large):
    """One key, weight 1, which nothing moves: 256 + 1 is heard and taken off; as halves, 256."""
    ones, values = torch.ones(1, 1, dtype=dtype), torch.tensor([[large, 1.0]], dtype=dtype)
    log_sum_exp = torch.tensor([1.0], dtype=torch.float32)
    sent_back = torch.ones(1, 2, dtype=dtype)
    grads = flash_attention_backward(sent_back, ones, ones, values, values, log_sum_exp)
    assert_close(grads, expected=([[0.0]], [[0.0]], [[1.0, 1.0]]))


@TILES
@CAUSAL
def test_tiles_of_any_size_give_torchs_gradients(sizes, case):
    """Four queries and five keys, to ten digits in float64; the gradient arrives transposed."""
    sent_back, known, expected = drawn(4, 5, d_k=4, d_v=3, causal=case)
    assert_close(flash_attention_backward(sent_back, *known, case, *sizes), expected)


@pytest.mark.parametrize("size", draw.sizes("batch heads queries more d_k d_v"), ids=str)
def test_equals_torch(size):
    """Sizes that all differ, tiles of 4 × 5 that do not divide them."""
    sent_back, known, expected = drawn(
        size.queries,
        size.queries + size.more,
        d_k=size.d_k,
        d_v=size.d_v,
        causal=True,
        lead=(size.batch, size.heads),
    )
    assert_close(flash_attention_backward(sent_back, *known, True, 4, 5), expected)


def test_shared_keys_hear_from_every_head():
    """Two heads with one set of keys and values: what both send back is added up."""
    sent_back, queries = torch.tensor([[1.0, 0.0]]).repeat(2, 1, 1), QUERY.repeat(2, 1, 1)
    known = (queries, KEYS, VALUES, OUTPUT.repeat(2, 1, 1), LOG_SUM_EXP.repeat(2, 1))
    _, grad_keys, grad_values = flash_attention_backward(sent_back, *known)
    assert_close(grad_keys, expected=[[1.5, 0.0, 0.0, 0.0], [-1.5, 0.0, 0.0, 0.0]])
    assert_close(grad_values, expected=[[1.5, 0.0], [0.5, 0.0]])


def test_memory_does_not_grow_with_the_square():
    """256 queries and keys in tiles of 16: what is new at once is under a tenth of 256 × 256."""
    sent_back, known, _ = drawn(256, 256, d_k=3, d_v=3, causal=True)
    with measured(flash_attention_backward) as meter:
        flash_attention_backward(sent_back, *known, True, 16, 16)
    share = meter.peak / (256 * 256 * sent_back.element_size())
    assert share < 0.1, f"{share:.4f} of a table of scores was alive at once, 0.1 is too much"


def test_tiles_are_of_128_by_128_unless_told_otherwise():
    """130 queries and keys of width 1: no new tensor holds more than 16384 numbers."""
    sent_back, known, _ = drawn(130, 130, d_k=1, d_v=1, causal=False)
    with measured(flash_attention_backward) as meter:
        flash_attention_backward(sent_back, *known)
    assert meter.largest <= 16384, f"a new tensor holds {meter.largest} numbers, a tile has 16384"


@pytest.mark.parametrize("sizes", [(64, 2), (2, 64)], ids=str)
def test_each_side_of_a_tile_is_as_long_as_was_asked_for(sizes):
    """64 queries and keys of width 1, tiles of 64 × 2: no new tensor is larger than 128."""
    sent_back, known, _ = drawn(64, 64, d_k=1, d_v=1, causal=False)
    with measured(flash_attention_backward) as meter:
        flash_attention_backward(sent_back, *known, False, *sizes)
    assert meter.largest <= 128, f"a new tensor holds {meter.largest} numbers, a tile has 128"


def test_hidden_tiles_cost_nothing():
    """Of 8 × 8 tiles 36 may be looked at; at most seven products each, where two walks are made."""
    sent_back, known, _ = drawn(16, 16, d_k=3, d_v=5, causal=True)
    with measured(flash_attention_backward) as meter:
        flash_attention_backward(sent_back, *known, True, 2, 2)
    most = 36 * 2 * 2 * (4 * 3 + 3 * 5)
    assert meter.multiplications <= most, f"{meter.multiplications} multiplications, {most} do"


@pytest.mark.parametrize("sizes", [(0, 1), (-2, 1), (1, 0), (1, -2)], ids=str)
def test_tile_without_rows_or_columns_is_an_error(sizes):
    """The one that is below 1 is named."""
    known = (QUERY, KEYS, VALUES, OUTPUT, LOG_SUM_EXP)
    with rejects(ValueError, naming=min(sizes)):
        flash_attention_backward(torch.ones(1, 2), *known, False, *sizes)
