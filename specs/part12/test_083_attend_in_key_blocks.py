"""083 · attend_in_key_blocks. Lesson: 083_attend_in_key_blocks.md."""

from math import e, exp, log

import pytest
import torch
from torch.nn import functional

from kata.part12_flash_attention import attend_in_key_blocks
from specs.harness import draw
from specs.harness.check import assert_close, rejects
from specs.harness.live_bytes import measured

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])


def test_two_keys_in_two_blocks_by_hand():
    """Scores ln 3 and 0, one at a time: weights 3/4 and 1/4 all the same, so (3, 2)."""
    assert_close(attend_in_key_blocks(QUERY, KEYS, VALUES, block_size=1), expected=[[3.0, 2.0]])


def test_loudest_key_in_the_last_block():
    """The same keys the other way round: what was heard of the first is turned down to 1/3."""
    output = attend_in_key_blocks(QUERY, KEYS.flip(0), VALUES.flip(0), block_size=1)
    assert_close(output, expected=[[3.0, 2.0]])


def test_last_block_is_not_filled_up():
    """Three equal keys in blocks of two, all values 3: place four is empty, no key of score 0."""
    output = attend_in_key_blocks(QUERY, torch.zeros(3, 4), torch.full((3, 1), 3.0), block_size=2)
    assert_close(output, expected=[[3.0]])


def test_no_key_is_left_out():
    """Three equal keys in blocks of two: the third value counts too, (1 + 2 + 6) / 3 = 3."""
    values = torch.tensor([[1.0], [2.0], [6.0]])
    output = attend_in_key_blocks(QUERY, torch.zeros(3, 4), values, block_size=2)
    assert_close(output, expected=[[3.0]])


def test_mask_is_cut_like_the_keys():
    """Keys 0 and 3 of four equal ones are visible, in blocks of two: (1 + 8) / 2."""
    values, mask = (
        torch.tensor([[1.0], [2.0], [4.0], [8.0]]),
        torch.tensor([[True, False, False, True]]),
    )
    output = attend_in_key_blocks(QUERY, torch.zeros(4, 4), values, mask, block_size=2)
    assert_close(output, expected=[[4.5]])


def test_first_block_may_be_hidden_whole():
    """Only keys 2 and 3 are visible: (1 + 2) / 2."""
    values, mask = (
        torch.tensor([[9.0], [9.0], [1.0], [2.0]]),
        torch.tensor([[False, False, True, True]]),
    )
    output = attend_in_key_blocks(QUERY, torch.zeros(4, 4), values, mask, block_size=2)
    assert_close(output, expected=[[1.5]])


def test_mask_of_one_column_counts_for_all_keys():
    """Shape (2, 1): query 0 sees no key and gets zeros, query 1 sees both."""
    mask = torch.tensor([[False], [True]])
    output = attend_in_key_blocks(QUERY.expand(2, 4), KEYS, VALUES, mask, block_size=1)
    assert_close(output, expected=[[0.0, 0.0], [3.0, 2.0]])


def test_scores_below_any_stand_in_for_minus_infinity():
    """Scores −60000 and −60001, one at a time: (1 + 2/e) / (1 + 1/e)."""
    query, keys = torch.tensor([[-1.0]]), torch.tensor([[60000.0], [60001.0]])
    output = attend_in_key_blocks(query, keys, keys - 59999.0, block_size=1)
    assert_close(output, expected=[[(1 + 2 / e) / (1 + 1 / e)]])


def test_query_that_sees_no_key_has_gradient_zero():
    """Zeros that never change: nothing flows back, and nothing is NaN."""
    query, mask = QUERY.clone().requires_grad_(), torch.tensor([[False, False]])
    attend_in_key_blocks(query, KEYS, VALUES, mask, block_size=1).sum().backward()
    assert_close(query.grad, expected=[[0.0, 0.0, 0.0, 0.0]])


def test_small_shares_are_not_lost_in_half_precision():
    """One key at 0 and 64 at −7, four at a time: 1 + 64 e⁻⁷ = 1.06; in bfloat16 for ever 1."""
    query, keys = torch.tensor([[1.0]]), torch.tensor([[0.0]] + [[-7.0]] * 64)
    values = torch.tensor([[1.0]] + [[0.0]] * 64)
    query, keys, values = query.bfloat16(), keys.bfloat16(), values.bfloat16()
    output = attend_in_key_blocks(query, keys, values, block_size=4)
    assert_close(output, expected=[[1 / (1 + 64 * exp(-7))]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The worked example, in half and in double precision."""
    keys = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=dtype)
    output = attend_in_key_blocks(QUERY.to(dtype), keys, VALUES.to(dtype), block_size=1)
    assert_close(output, expected=[[3.0, 2.0]])


@pytest.mark.parametrize("block_size", [1, 2, 3, 5, 128])
def test_block_size_changes_nothing(block_size):
    """Five keys, each louder than the last: torch's own function in float64, to ten digits."""
    queries, keys = draw.floats(3, 4).double().abs(), draw.floats(5, 4, seed=1).double()
    keys, values = keys.sort(dim=0).values, draw.floats(5, 2, seed=2).double()
    output = attend_in_key_blocks(queries, keys, values, block_size=block_size)
    assert_close(output, functional.scaled_dot_product_attention(queries, keys, values))


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_k d_v"), ids=str)
def test_equals_torch_and_so_do_its_gradients(size):
    """Values and gradients in float64, over sizes that all differ; each query has its own mask."""
    lead, mask = (size.batch, size.heads), draw.visible(size.batch, 1, size.queries, size.keys)
    queries = draw.floats(*lead, size.queries, size.d_k).double().requires_grad_()
    keys = draw.floats(*lead, size.keys, size.d_k, seed=1).double().requires_grad_()
    values = draw.floats(*lead, size.keys, size.d_v, seed=2).double().requires_grad_()
    output = attend_in_key_blocks(queries, keys, values, mask, block_size=2)
    expected = functional.scaled_dot_product_attention(queries, keys, values, mask)
    assert_close(output, expected)
    sent_back = draw.floats(*lead, size.d_v, size.queries, seed=3).double().mT
    grads = torch.autograd.grad(output, (queries, keys, values), sent_back)
    assert_close(grads, torch.autograd.grad(expected, (queries, keys, values), sent_back))


def test_keys_may_be_shared_by_the_heads():
    """Two heads ask the same keys, the second without the second key: (3, 2) and (4, 0)."""
    mask = torch.tensor([[[True, True]], [[True, False]]])
    output = attend_in_key_blocks(QUERY.expand(2, 1, 4), KEYS, VALUES, mask, block_size=1)
    assert_close(output, expected=[[[3.0, 2.0]], [[4.0, 0.0]]])


def test_queries_may_be_shared_by_the_heads():
    """One query asks in two heads, in the second without the second key: (3, 2) and (4, 0)."""
    keys, values = KEYS.expand(2, 2, 4), VALUES.expand(2, 2, 2)
    mask = torch.tensor([[[True, True]], [[True, False]]])
    output = attend_in_key_blocks(QUERY, keys, values, mask, block_size=1)
    assert_close(output, expected=[[[3.0, 2.0]], [[4.0, 0.0]]])


def test_no_new_tensor_is_larger_than_one_block_of_scores():
    """2 × 3 heads, 16 queries, 64 keys in blocks of 4: 384 numbers, where a table has 6144."""
    queries, keys = draw.floats(2, 3, 16, 1), draw.floats(2, 3, 64, 1, seed=1)
    mask = draw.visible(2, 1, 16, 64)
    with measured(attend_in_key_blocks) as meter:
        attend_in_key_blocks(queries, keys, keys, mask, block_size=4)
    assert meter.largest <= 2 * 3 * 16 * 4, (
        f"a new tensor holds {meter.largest} numbers ({meter.peak} bytes at once)"
    )


def test_no_block_is_kept():
    """8 queries, 512 keys in blocks of 8: all blocks together are the table, 4096 numbers."""
    queries, keys = draw.floats(8, 1), draw.floats(512, 1, seed=1)
    with measured(attend_in_key_blocks) as meter:
        attend_in_key_blocks(queries, keys, keys, block_size=8)
    share = meter.peak / (8 * 512 * queries.element_size())
    assert share < 0.5, f"{share:.2f} of the table of scores was alive at once"


def test_blocks_are_of_128_keys_unless_told_otherwise():
    """One query and 300 keys: no new tensor holds more than 128 numbers."""
    keys = draw.floats(300, 1)
    with measured(attend_in_key_blocks) as meter:
        attend_in_key_blocks(keys[:1], keys, keys)
    assert meter.largest <= 128, f"a new tensor holds {meter.largest} numbers, a block has 128"


@pytest.mark.parametrize("block_size", [0, -1])
def test_block_without_keys_is_an_error(block_size):
    """A walk in steps of 0 never ends, and one in steps of −1 never starts."""
    with rejects(ValueError, naming=block_size):
        attend_in_key_blocks(QUERY, KEYS, VALUES, block_size=block_size)


def test_values_without_keys_are_an_error():
    """Five values for two keys: cut into blocks, the last three would be lost without a word."""
    with rejects(ValueError, naming=(2, 5)):
        attend_in_key_blocks(QUERY, KEYS, torch.ones(5, 2))


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (2, 1, 2)], ids=str)
def test_mask_that_does_not_fit_is_an_error(shape):
    """More rows than queries, more columns than keys, or an axis too many."""
    with rejects(ValueError, naming=shape):
        attend_in_key_blocks(QUERY, KEYS, VALUES, torch.ones(shape, dtype=torch.bool))


def test_mask_of_numbers_is_an_error():
    """Is 0 hidden, or is 0 "add nothing"? The message asks for bool."""
    with rejects(TypeError, naming="bool"):
        attend_in_key_blocks(QUERY, KEYS, VALUES, torch.tensor([[0, 1]]))
