"""081 · update_online_softmax. Lesson: 081_update_online_softmax.md."""

from itertools import permutations
from math import e, exp, inf, log

import pytest
import torch

from kata.part12_flash_attention import update_online_softmax
from kata.weights import OnlineSoftmax
from specs.harness import draw
from specs.harness.check import assert_close

HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


def fresh(*rows, d_v):
    """The state in which no key has been heard."""
    return OnlineSoftmax(torch.full(rows, -inf), torch.zeros(rows), torch.zeros(*rows, d_v))


def heard(row_max, row_sum, accumulator):
    """The state of one query."""
    return OnlineSoftmax(
        torch.tensor([row_max]), torch.tensor([row_sum]), torch.tensor([accumulator])
    )


def test_first_block_by_hand():
    """Scores ln 3 and 0 less ln 3: weights 1 and 1/3, sum 4/3, mixture (4, 8/3)."""
    scores, values = torch.tensor([[log(3), 0.0]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    state = update_online_softmax(fresh(1, d_v=2), scores, values)
    assert_close(state, expected=([log(3)], [4 / 3], [[4.0, 8 / 3]]))


def test_quieter_block_is_added_as_it_is():
    """After a key of score ln 3 comes one of score 0: it weighs 1/3, and the old sums stay."""
    state = heard(log(3), 1.0, [4.0, 0.0])
    state = update_online_softmax(state, torch.tensor([[0.0]]), torch.tensor([[0.0, 8.0]]))
    assert_close(state, expected=([log(3)], [4 / 3], [[4.0, 8 / 3]]))


def test_louder_block_turns_down_what_was_heard():
    """First 0, then ln 3: the old sum 1 becomes 1/3, the old mixture (0, 8) becomes (0, 8/3)."""
    state = heard(0.0, 1.0, [0.0, 8.0])
    state = update_online_softmax(state, torch.tensor([[log(3)]]), torch.tensor([[4.0, 0.0]]))
    assert_close(state, expected=([log(3)], [4 / 3], [[4.0, 8 / 3]]))


def test_old_sums_are_multiplied_not_divided():
    """Scores 0, then 1, values 1 and 3: (1/e + 3) / (1/e + 1) = 2.462. Divided it would be 4.18."""
    state = update_online_softmax(
        heard(0.0, 1.0, [1.0]), torch.tensor([[1.0]]), torch.tensor([[3.0]])
    )
    assert_close(state.accumulator / state.row_sum, expected=[[(1 / e + 3) / (1 / e + 1)]])


def test_each_query_has_its_own_loudest_key():
    """Beside a query at 10000 one at −10000: each has heard one key in full."""
    scores = torch.tensor([[1e4], [-1e4]])
    state = update_online_softmax(fresh(2, d_v=1), scores, torch.tensor([[5.0]]))
    assert_close(state, expected=([1e4, -1e4], [1.0, 1.0], [[5.0], [5.0]]))


def test_loudest_key_is_remembered():
    """After 10000 a score of 0 adds exp(−10000) = 0: what was heard stays as loud as it was."""
    state = update_online_softmax(
        heard(1e4, 1.0, [5.0]), torch.tensor([[0.0]]), torch.tensor([[7.0]])
    )
    assert_close(state, expected=([1e4], [1.0], [[5.0]]))


def test_scores_below_any_stand_in_for_minus_infinity():
    """Scores −60000 and −60001 are scores like others: weights 1 and 1/e."""
    scores, values = torch.tensor([[-60000.0, -60001.0]]), torch.tensor([[1.0], [2.0]])
    state = update_online_softmax(fresh(1, d_v=1), scores, values)
    assert_close(state, expected=([-60000.0], [1 + 1 / e], [[1 + 2 / e]]))


def test_hidden_key_adds_nothing():
    """exp(−∞) = 0: only the key that can be seen counts."""
    scores, values = torch.tensor([[-inf, log(3), -inf]]), torch.tensor([[9.0], [4.0], [9.0]])
    state = update_online_softmax(fresh(1, d_v=1), scores, values)
    assert_close(state, expected=([log(3)], [1.0], [[4.0]]))


def test_hidden_block_changes_nothing():
    """All −∞: the sums stay 2 and (6, 4), to the last bit."""
    scores, values = torch.full((1, 3), -inf), torch.full((3, 2), 9.0)
    state = update_online_softmax(heard(1.0, 2.0, [6.0, 4.0]), scores, values)
    assert_close(state, ([1.0], [2.0], [[6.0, 4.0]]), rtol=0.0, atol=0.0)


def test_hidden_first_block_leaves_nothing_behind():
    """−∞ − (−∞) is NaN; here no key has been heard yet, and none is now."""
    scores, values = torch.tensor([[-inf], [0.0]]), torch.tensor([[9.0]])
    state = update_online_softmax(fresh(2, d_v=1), scores, values)
    assert_close(state, expected=([-inf, 0.0], [0.0, 1.0], [[0.0], [9.0]]))


def test_hidden_first_block_has_gradient_zero():
    """Nothing heard, nothing to learn: 0, not NaN. Where a key was heard, its value counts once."""
    scores = torch.tensor([[-inf], [0.0]], requires_grad=True)
    values = torch.tensor([[9.0]], requires_grad=True)
    state = update_online_softmax(fresh(2, d_v=1), scores, values)
    (state.row_sum.sum() + state.accumulator.sum()).backward()
    assert_close((scores.grad, values.grad), expected=([[0.0], [0.0]], [[1.0]]))


def test_gradient_by_hand():
    """Output 3 = ¾ · 4 moves with the first score by ¾ · ¼ · 4 = ¾, and with the second by −¾."""
    scores = torch.tensor([[log(3), 0.0]], requires_grad=True)
    state = update_online_softmax(fresh(1, d_v=1), scores, torch.tensor([[4.0], [0.0]]))
    (state.accumulator / state.row_sum).sum().backward()
    assert_close(scores.grad, expected=[[0.75, -0.75]])


def test_gradient_goes_back_to_the_blocks_before():
    """What was heard is turned down to 1/3 by a key of score ln 3, and so is its gradient."""
    before = OnlineSoftmax(*(part.requires_grad_() for part in heard(0.0, 1.0, [8.0])))
    state = update_online_softmax(before, torch.tensor([[log(3)]]), torch.tensor([[4.0]]))
    state.accumulator.sum().backward()
    assert_close(before.accumulator.grad, expected=[[1 / 3]])


@HALVES
def test_half_blocks_are_summed_in_float32(dtype):
    """256 and 1/e more, values 0 and 1: in bfloat16 the sum would stay 256."""
    state = OnlineSoftmax(*(part.float() for part in heard(0.0, 256.0, [0.0])))
    scores, values = torch.tensor([[-1.0]], dtype=dtype), torch.tensor([[1.0]], dtype=dtype)
    state = update_online_softmax(state, scores, values)
    assert_close(state, expected=([0.0], [256 + 1 / e], [[1 / e]]))


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_blocks_may_come_in_any_order(order):
    """Scores 0, 2 and −1: the loudest weighs 1, the others e⁻² and e⁻³, whoever comes first."""
    scores, values = torch.tensor([0.0, 2.0, -1.0]), torch.tensor([5.0, 7.0, 11.0])
    state = fresh(1, d_v=1)
    for block in order:
        state = update_online_softmax(state, scores[block].view(1, 1), values[block].view(1, 1))
    mixture = 7 + 5 * exp(-2) + 11 * exp(-3)
    assert_close(state, expected=([2.0], [1 + exp(-2) + exp(-3)], [[mixture]]))


@pytest.mark.parametrize("size", draw.sizes("batch heads queries first second d_v"), ids=str)
def test_two_blocks_are_as_good_as_one(size):
    """Σ exp(s − max) and Σ exp(s − max) v over all keys at once, in float64; some are hidden."""
    lead = (size.batch, size.heads, size.queries)
    visible = [draw.visible(*lead, size.first), draw.visible(*lead, size.second)]
    scores = [3 * draw.floats(*lead, size.first), 3 * draw.floats(*lead, size.second, seed=1)]
    scores = [score.masked_fill(~mask, -inf) for score, mask in zip(scores, visible, strict=True)]
    values = [
        draw.floats(size.batch, size.heads, keys, size.d_v, seed=2)
        for keys in (size.first, size.second)
    ]
    state = update_online_softmax(fresh(*lead, d_v=size.d_v), scores[0], values[0])
    state = update_online_softmax(state, scores[1], values[1])
    together = torch.cat(scores, dim=-1).double()
    raised = (together - together.amax(dim=-1, keepdim=True)).exp()
    mixture = raised @ torch.cat(values, dim=-2).double()
    assert_close(state, expected=(together.amax(dim=-1), raised.sum(dim=-1), mixture))
