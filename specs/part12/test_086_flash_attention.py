"""086 · flash_attention. Lesson: 086_flash_attention.md."""

from math import log

import pytest
import torch
from torch.nn import functional

from kata.part12_flash_attention import flash_attention
from specs.harness import draw
from specs.harness.check import assert_close, rejects
from specs.harness.live_bytes import measured

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
TABLE = 256 * 256  # scores that a plain attention over 256 positions has
TILES = pytest.mark.parametrize("sizes", [(3, 2), (2, 4), (128, 128)], ids=str)
CAUSAL = pytest.mark.parametrize("case", [False, True], ids=["all", "causal"])


def leaves(*tensors):
    """Copies that take a gradient."""
    return [tensor.clone().requires_grad_() for tensor in tensors]


def test_two_keys_in_two_tiles_by_hand():
    """Scores ln 3 and 0 become weights 3/4 and 1/4: (3, 2)."""
    assert_close(flash_attention(QUERY, KEYS, VALUES, False, 1, 1), expected=[[3.0, 2.0]])


def test_causal_by_hand():
    """Query 0 sees key 0 alone, query 1 both, in tiles of one."""
    output = flash_attention(QUERY.expand(2, 4), KEYS, VALUES, True, 1, 1)
    assert_close(output, expected=[[4.0, 0.0], [3.0, 2.0]])


def test_gradients_by_hand():
    """dS = (3/4, −3/4): ¾ · ln 3 / 2 for the query, ±3/4 for the keys; values get the weights."""
    inputs = leaves(QUERY, KEYS, VALUES)
    flash_attention(*inputs, False, 1, 1)[0, 0].backward()
    grad_keys = [[0.75, 0.0, 0.0, 0.0], [-0.75, 0.0, 0.0, 0.0]]
    expected = ([[0.375 * log(3), 0.0, 0.0, 0.0]], grad_keys, [[0.75, 0.0], [0.25, 0.0]])
    assert_close(tuple(each.grad for each in inputs), expected)


def test_way_back_is_causal_too():
    """Query 0 of two sees key 0 alone: weight 1, which nothing moves. Key 1 never hears of it."""
    inputs = leaves(QUERY.repeat(2, 1), KEYS, VALUES)
    flash_attention(*inputs, True, 1, 1)[0].sum().backward()
    expected = (torch.zeros(2, 4), torch.zeros(2, 4), [[1.0, 1.0], [0.0, 0.0]])
    assert_close(tuple(each.grad for each in inputs), expected)


def test_each_call_remembers_its_own():
    """Causal, and then another call that is not: the first goes back as if it had been alone."""
    inputs = leaves(QUERY.repeat(2, 1), KEYS, VALUES)
    output = flash_attention(*inputs, True, 1, 1)
    flash_attention(-QUERY.repeat(2, 1), KEYS.flip(0), VALUES.flip(0), False, 2, 2)
    output[0].sum().backward()
    expected = (torch.zeros(2, 4), torch.zeros(2, 4), [[1.0, 1.0], [0.0, 0.0]])
    assert_close(tuple(each.grad for each in inputs), expected)


def test_query_before_every_key_has_gradient_zero():
    """Two queries, one key, causal: query 0 sees none. Zeros there and back, no NaN."""
    inputs = leaves(QUERY.repeat(2, 1), KEYS[:1], VALUES[:1])
    output = flash_attention(*inputs, True, 2, 1)
    output.sum().backward()
    grads = tuple(each.grad for each in inputs)
    assert_close(output, expected=[[0.0, 0.0], [4.0, 0.0]])
    assert_close(grads, expected=(torch.zeros(2, 4), torch.zeros(1, 4), [[1.0, 1.0]]))


@pytest.mark.parametrize("only", [0, 1, 2], ids=["queries", "keys", "values"])
def test_one_input_may_learn_alone(only):
    """The other two are given: weights 3/4 and 1/4, and one gradient as ever."""
    inputs = [QUERY.clone(), KEYS.clone(), VALUES.clone()]
    inputs[only].requires_grad_()
    flash_attention(*inputs, False, 1, 1)[0, 0].backward()
    grad_keys = [[0.75, 0.0, 0.0, 0.0], [-0.75, 0.0, 0.0, 0.0]]
    expected = ([[0.375 * log(3), 0.0, 0.0, 0.0]], grad_keys, [[0.75, 0.0], [0.25, 0.0]])
    assert_close([each.grad for each in inputs if each.requires_grad], [expected[only]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_halves_come_and_go(dtype):
    """Output and gradients are of the inputs' type."""
    inputs = leaves(QUERY.to(dtype), KEYS.to(dtype), VALUES.to(dtype))
    output = flash_attention(*inputs)
    output[0, 0].backward()
    assert_close(output, expected=[[3.0, 2.0]])
    assert_close(inputs[2].grad, expected=[[0.75, 0.0], [0.25, 0.0]])


@TILES
@CAUSAL
def test_tiles_of_any_size_give_torchs_answer(sizes, case):
    """Four queries, five keys, ten digits in float64, and back with a transposed gradient."""
    inputs = leaves(*(draw.floats(2, n, 4, seed=n).double() for n in (4, 5)))
    inputs += leaves(draw.floats(2, 5, 3).double())
    visible = torch.ones(4, 5, dtype=torch.bool).tril(1 if case else 5)
    output = flash_attention(*inputs, case, *sizes)
    expected = functional.scaled_dot_product_attention(*inputs, visible)
    sent_back = draw.floats(2, 3, 4).double().mT
    grads = torch.autograd.grad(output, inputs, sent_back)
    assert_close(output, expected)
    assert_close(grads, torch.autograd.grad(expected, inputs, sent_back))


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_k d_v"), ids=str)
def test_equals_torch_and_so_do_its_gradients(size):
    """Sizes that all differ, in float64, tiles of 4 × 5 that do not divide them."""
    lead = (size.batch, size.heads)
    inputs = leaves(
        draw.floats(*lead, size.queries, size.d_k).double(),
        draw.floats(*lead, size.keys, size.d_k, seed=1).double(),
        draw.floats(*lead, size.keys, size.d_v, seed=2).double(),
    )
    output = flash_attention(*inputs, query_block=4, key_block=5)
    expected = functional.scaled_dot_product_attention(*inputs)
    sent_back = draw.floats(*lead, size.queries, size.d_v, seed=3).double()
    grads = torch.autograd.grad(output, inputs, sent_back)
    assert_close(output, expected)
    assert_close(grads, torch.autograd.grad(expected, inputs, sent_back))


def test_shared_keys_hear_from_every_head():
    """Two heads with one set of keys and values: both send back, and what they send is added up."""
    inputs = leaves(QUERY.repeat(2, 1, 1), KEYS, VALUES)
    flash_attention(*inputs)[..., 0].sum().backward()
    assert_close(inputs[2].grad, expected=[[1.5, 0.0], [0.5, 0.0]])


def test_graph_keeps_no_tile():
    """In between lie 64 × 3 of output and 64 of log-sum-exp; twice that is allowed."""
    inputs = leaves(*(draw.floats(64, 3, seed=seed) for seed in range(3)))
    with measured(flash_attention) as meter:
        output = flash_attention(*inputs, True, 16, 16)
    kept = meter.alive // output.element_size()
    assert kept <= 2 * 64 * (3 + 1), f"the graph keeps {kept} numbers, where 256 are enough"


def test_memory_does_not_grow_with_the_square():
    """There and back in tiles of 16: all that is new at once is under a tenth of 256 × 256."""
    inputs = leaves(*(draw.floats(256, 3, seed=seed) for seed in range(3)))
    with measured(flash_attention) as meter:
        output = flash_attention(*inputs, True, 16, 16)
    sent_back = torch.ones_like(output)
    with meter:
        torch.autograd.grad(output, inputs, sent_back)
    share = meter.peak / (TABLE * output.element_size())
    assert share < 0.1, f"{share:.4f} of a table of scores was alive at once, 0.1 is too much"


def test_tiles_are_of_128_by_128_unless_told_otherwise():
    """130 queries and keys of width 1: no new tensor holds more than 16384 numbers."""
    queries = draw.floats(130, 1)
    with measured(flash_attention) as meter:
        flash_attention(queries, queries, queries)
    assert meter.largest <= 16384, f"a new tensor holds {meter.largest} numbers, a tile has 16384"


def test_second_derivative_is_refused():
    """The way back has no graph: better no answer than a wrong one."""
    inputs = leaves(QUERY, KEYS, VALUES)
    loss = flash_attention(*inputs).square().sum()
    (slope,) = torch.autograd.grad(loss, inputs[:1], create_graph=True)
    with rejects(RuntimeError, naming="once_differentiable"):
        slope.sum().backward()
