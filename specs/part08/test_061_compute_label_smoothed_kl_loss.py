"""061 · compute_label_smoothed_kl_loss. Lesson: 061_compute_label_smoothed_kl_loss.md."""

from math import inf, log, nan

import pytest
import torch
from torch.nn import functional

from kata.part08_objective import compute_label_smoothed_kl_loss
from specs.harness import draw
from specs.harness.check import assert_close

NOT_WITH = ("kl_div", "distributions")
FREE_GRADIENTS = ("distribution",)  # at p = 0 it has no value; above 0 a test asks for it

HALVES = torch.tensor([[0.5, 0.5]])
QUARTERS = torch.tensor([[log(1 / 4), log(3 / 4)]])


def test_halves_against_quarters_by_hand():
    """½ · ln(½ / ¼) + ½ · ln(½ / ¾) = ½ ln 2 + ½ ln ⅔ = ½ ln(4/3)."""
    assert_close(compute_label_smoothed_kl_loss(QUARTERS, HALVES), expected=0.5 * log(4 / 3))


def test_the_two_sides_are_not_alike():
    """The other way round: ¼ · ln(¼ / ½) + ¾ · ln(¾ / ½) = ¾ ln 3 − ln 2."""
    loss = compute_label_smoothed_kl_loss(HALVES.log(), QUARTERS.exp())
    assert_close(loss, expected=0.75 * log(3) - log(2))


def test_model_that_agrees_loses_nothing():
    """Every ratio is 1, and ln 1 = 0: no smoothing makes this loss start above 0."""
    probs = torch.tensor([[0.1, 0.2, 0.7], [0.25, 0.5, 0.25]])
    assert_close(compute_label_smoothed_kl_loss(probs.log(), probs), expected=0.0)


def test_one_gold_token_costs_its_surprise():
    """p = (0, 1, 0): 1 · (ln 1 − ln ⅛) = 3 ln 2, and 0 · ln 0 counts as 0."""
    log_probs = torch.tensor([[log(3 / 8), log(1 / 8), log(1 / 2)]])
    loss = compute_label_smoothed_kl_loss(log_probs, torch.tensor([[0.0, 1.0, 0.0]]))
    assert_close(loss, expected=3 * log(2))


def test_rows_add_up():
    """½ ln(4/3) three times over: a sum, no mean."""
    loss = compute_label_smoothed_kl_loss(QUARTERS.expand(3, 2), HALVES.expand(3, 2))
    assert_close(loss, expected=1.5 * log(4 / 3))


def test_row_of_padding_adds_nothing():
    """Its distribution is all 0, so it does not matter what the model thinks there."""
    log_probs = torch.tensor([[log(1 / 4), log(3 / 4)], [log(1 / 8), log(7 / 8)]])
    loss = compute_label_smoothed_kl_loss(log_probs, torch.tensor([[0.5, 0.5], [0.0, 0.0]]))
    assert_close(loss, expected=0.5 * log(4 / 3))


def test_padding_alone_loses_nothing():
    """All rows are 0: the sum of nothing."""
    loss = compute_label_smoothed_kl_loss(QUARTERS.expand(3, 2), torch.zeros(3, 2))
    assert_close(loss, expected=0.0)


def test_impossible_word_costs_nothing_where_nobody_wants_it():
    """p = 0 meets log q = −∞, and 0 · ∞ is NaN unless it is left out: 1 · (0 − 0) = 0."""
    loss = compute_label_smoothed_kl_loss(torch.tensor([[-inf, 0.0]]), torch.tensor([[0.0, 1.0]]))
    assert_close(loss, expected=0.0)


def test_unlikely_word_costs_what_it_costs():
    """½ · (ln ½ + 1000) + ½ · (ln ½ − 0) = 500 − ln 2: no floor under the log-probabilities."""
    loss = compute_label_smoothed_kl_loss(torch.tensor([[-1000.0, 0.0]]), HALVES)
    assert_close(loss, expected=500 - log(2))


@pytest.mark.parametrize(("log_prob", "loss"), [(-inf, inf), (nan, nan)], ids=str)
def test_what_is_wanted_cannot_be_swept_away(log_prob, loss):
    """1 · (0 + ∞) for a word that is wanted and impossible; and what is no number stays none."""
    answer = compute_label_smoothed_kl_loss(
        torch.tensor([[log_prob, 0.0]]), torch.tensor([[1.0, 0.0]])
    )
    assert_close(answer, expected=loss)


def test_small_share_counts_in_full():
    """p = 10^−9 against log q = −30, 10000 times: 10^−5 · (ln 10^−9 + 30), nothing added to p."""
    probs = torch.full((1, 10_000), 1e-9, dtype=torch.float64)
    loss = compute_label_smoothed_kl_loss(torch.full_like(probs, -30.0), probs)
    assert_close(loss, expected=1e-5 * (log(1e-9) + 30))


def test_gradient_to_the_model_is_minus_the_belief():
    """Only −p · log q depends on log q: slopes −¼, −¾ and, where p = 0, 0, even at −∞."""
    log_probs = torch.tensor([[log(1 / 2), log(1 / 2), -inf]], requires_grad=True)
    compute_label_smoothed_kl_loss(log_probs, torch.tensor([[0.25, 0.75, 0.0]])).backward()
    assert_close(log_probs.grad, expected=[[-0.25, -0.75, 0.0]])


def test_gradient_to_the_belief():
    """p · ln p has slope ln p + 1: together ln(½ / ¼) + 1 and ln(½ / ¾) + 1."""
    distribution = HALVES.clone().requires_grad_()
    compute_label_smoothed_kl_loss(QUARTERS, distribution).backward()
    assert_close(distribution.grad, expected=[[log(2) + 1, log(2 / 3) + 1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """p = (½, ½, 0) against log q = (−1, −3, −2): 2 − ln 2, in half and in double precision."""
    log_probs = torch.tensor([[-1.0, -3.0, -2.0]], dtype=dtype)
    distribution = torch.tensor([[0.5, 0.5, 0.0]], dtype=dtype)
    assert_close(compute_label_smoothed_kl_loss(log_probs, distribution), expected=2 - log(2))


@pytest.mark.parametrize("size", draw.sizes("rows vocab"), ids=str)
def test_equals_torch(size):
    """Torch's own divergence, in float64, with zeros here and there among the belief."""
    log_probs = draw.floats(size.rows, size.vocab).log_softmax(dim=-1)
    belief = draw.floats(size.rows, size.vocab, seed=1).softmax(dim=-1)
    belief = belief * draw.visible(size.rows, size.vocab)
    expected = functional.kl_div(log_probs.double(), belief.double(), reduction="sum")
    assert_close(compute_label_smoothed_kl_loss(log_probs, belief), expected)
