"""082 · finish_online_softmax. Lesson: 082_finish_online_softmax.md."""

from math import inf, log

import pytest
import torch

from kata.part12_flash_attention import finish_online_softmax
from kata.weights import OnlineSoftmax
from specs.harness import draw
from specs.harness.check import assert_close


def state_of(row_max, row_sum, accumulator):
    """A state whose every part takes a gradient."""
    parts = (torch.tensor(part) for part in (row_max, row_sum, accumulator))
    return OnlineSoftmax(*(part.requires_grad_() for part in parts))


def test_two_keys_by_hand():
    """Scores ln 3 and 0 left the sum 4/3 and (4, 8/3): output (3, 2), and ln 3 + ln 4/3 = ln 4."""
    answer = finish_online_softmax(state_of([log(3)], [4 / 3], [[4.0, 8 / 3]]))
    assert_close(answer, expected=([[3.0, 2.0]], [log(4)]))


def test_one_key_comes_back_whole():
    """One key of score 5: sum 1, its value (7, 9), and ln exp 5 = 5."""
    answer = finish_online_softmax(state_of([5.0], [1.0], [[7.0, 9.0]]))
    assert_close(answer, expected=([[7.0, 9.0]], [5.0]))


def test_each_query_is_divided_by_its_own_sum():
    """Sums 2 and 4: (6, 8) becomes (3, 4) and (2, 4) becomes (1/2, 1)."""
    answer = finish_online_softmax(state_of([0.0, 1.0], [2.0, 4.0], [[6.0, 8.0], [2.0, 4.0]]))
    assert_close(answer, expected=([[3.0, 4.0], [0.5, 1.0]], [log(2), 1 + log(4)]))


@pytest.mark.parametrize("row_max", [1000.0, -1000.0])
def test_nothing_overflows(row_max):
    """exp(1000) is infinite and exp(−1000) is 0, but their logarithms are ±1000: add them last."""
    answer = finish_online_softmax(state_of([row_max], [2.0], [[6.0]]))
    assert_close(answer, expected=([[3.0]], [row_max + log(2)]))


def test_query_that_saw_no_key_gets_zeros():
    """Sum 0: output 0, log-sum-exp ln 0 = −∞, no NaN. The query beside it is as ever."""
    answer = finish_online_softmax(state_of([-inf, 0.0], [0.0, 4.0], [[0.0], [12.0]]))
    assert_close(answer, expected=([[0.0], [3.0]], [-inf, log(4)]))


def test_query_that_saw_no_key_has_gradient_zero():
    """Row 0 moves with nothing. Row 1's sum counts −12/16 for the output and 1/4 for the log."""
    state = state_of([-inf, 0.0], [0.0, 4.0], [[0.0], [12.0]])
    output, log_sum_exp = finish_online_softmax(state)
    (output.sum() + log_sum_exp.sum()).backward()
    grads = tuple(part.grad for part in state)
    assert_close(grads, expected=([0.0, 1.0], [0.0, -0.5], [[0.0], [0.25]]))


def test_what_a_hidden_value_left_behind_is_dropped():
    """0 · ∞ is NaN: an infinite value behind hidden keys must not come out of an empty account."""
    state = state_of([-inf, 0.0], [0.0, 4.0], [[float("nan")], [12.0]])
    assert_close(finish_online_softmax(state)[0], expected=[[0.0], [3.0]])


def test_log_sum_exp_makes_any_weight_anew():
    """exp(ln 3 − ln 4) = 3/4 and exp(0 − ln 4) = 1/4: step 085 lives on this."""
    _, log_sum_exp = finish_online_softmax(state_of([log(3)], [4 / 3], [[4.0]]))
    assert_close(torch.exp(torch.tensor([log(3), 0.0]) - log_sum_exp), expected=[0.75, 0.25])


def test_every_digit_of_float64_counts():
    """A third, and the logarithm of 3."""
    state = OnlineSoftmax(*(part.detach().double() for part in state_of([0.0], [3.0], [[1.0]])))
    assert_close(finish_online_softmax(state), expected=([[1 / 3]], [log(3)]))


@pytest.mark.parametrize("size", draw.sizes("batch heads queries keys d_v"), ids=str)
def test_agrees_with_torch(size):
    """``torch.softmax`` and ``torch.logsumexp`` in float64, from sums over all keys at once."""
    scores = 3 * draw.floats(size.batch, size.heads, size.queries, size.keys)
    values = draw.floats(size.batch, size.heads, size.keys, size.d_v, seed=1)
    row_max = scores.amax(dim=-1)
    raised = (scores - row_max[..., None]).exp()
    answer = finish_online_softmax(OnlineSoftmax(row_max, raised.sum(dim=-1), raised @ values))
    weights, total = torch.softmax(scores.double(), -1), torch.logsumexp(scores.double(), -1)
    assert_close(answer, expected=(weights @ values.double(), total))
