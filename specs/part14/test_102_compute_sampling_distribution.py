"""102 · compute_sampling_distribution. Lesson: 102_compute_sampling_distribution.md."""

from math import exp, inf, log, nan

import pytest
import torch

from kata.part14_fast_decoding import compute_sampling_distribution
from specs.harness import draw
from specs.harness.check import assert_close, rejects

# In tenths: 1, 4, 2, 3.
LOGITS = torch.tensor([[log(1), log(4), log(2), log(3)]])


def test_softmax_if_nothing_is_cut():
    """1 + 4 + 2 + 3 = 10."""
    assert_close(compute_sampling_distribution(LOGITS), [[0.1, 0.4, 0.2, 0.3]])


@pytest.mark.parametrize(
    ("temperature", "shares"),
    [(0.5, [1, 16, 4, 9]), (1.0, [1, 4, 2, 3]), (2, [1, 2, 2**0.5, 3**0.5])],
)
def test_temperature_by_hand(temperature, shares):
    """Divided by ½ the logits double, and the odds are squared; divided by 2, roots are left."""
    expected = [[share / sum(shares) for share in shares]]
    assert_close(compute_sampling_distribution(LOGITS, temperature), expected)


@pytest.mark.parametrize(
    ("top_k", "tenths"),
    [(1, [0, 4, 0, 0]), (2, [0, 4, 0, 3]), (3, [0, 4, 2, 3]), (4, [1, 4, 2, 3])],
)
def test_top_k_by_hand(top_k, tenths):
    """The likeliest stay, each where it stood, and share the whole: 4/7 and 3/7 for two."""
    expected = [[share / sum(tenths) for share in tenths]]
    assert_close(compute_sampling_distribution(LOGITS, top_k=top_k), expected)


@pytest.mark.parametrize(
    ("top_p", "tenths"),
    [
        (0.05, [0, 4, 0, 0]),
        (0.39, [0, 4, 0, 0]),
        (0.41, [0, 4, 0, 3]),
        (0.69, [0, 4, 0, 3]),
        (0.71, [0, 4, 2, 3]),
        (0.89, [0, 4, 2, 3]),
        (0.91, [1, 4, 2, 3]),
        (1.0, [1, 4, 2, 3]),
    ],
)
def test_top_p_by_hand(top_p, tenths):
    """0.4, 0.7, 0.9, 1.0 in sum: the word that crosses ``top_p`` stays, however small that is."""
    expected = [[share / sum(tenths) for share in tenths]]
    assert_close(compute_sampling_distribution(LOGITS, top_p=top_p), expected)


@pytest.mark.parametrize(("top_p", "quarters"), [(0.25, 1), (0.5, 2), (0.75, 3)])
def test_word_that_reaches_top_p_is_the_last(top_p, quarters):
    """Four words of 1/4: two of them make exactly 1/2, and a third is not needed."""
    expected = [[1 / quarters] * quarters + [0] * (4 - quarters)]
    assert_close(compute_sampling_distribution(torch.zeros(1, 4), top_p=top_p), expected)


def test_top_k_comes_before_top_p():
    """Of three 4/9, 3/9, 2/9 are left: two pass 0.75. Of all ten tenths it takes three."""
    answer = compute_sampling_distribution(LOGITS, top_k=3, top_p=0.75)
    assert_close(answer, [[0, 4 / 7, 0, 3 / 7]])


def test_temperature_comes_before_top_p():
    """1, 16, 4, 9 of 30: 16 + 9 pass 0.8. At temperature 1, 4 + 3 + 2 tenths would."""
    answer = compute_sampling_distribution(LOGITS, 0.5, top_p=0.8)
    assert_close(answer, [[0, 16 / 25, 0, 9 / 25]])


@pytest.mark.parametrize(("top_k", "expected"), [(1, [0, 1, 0, 0]), (2, [0, 0.5, 0.5, 0])])
def test_ties_at_the_last_place_go_to_the_lower_id(top_k, expected):
    """Three words lead alike: not all of them may stay."""
    logits = torch.tensor([[0.0, 5.0, 5.0, 5.0]])
    assert_close(compute_sampling_distribution(logits, top_k=top_k), [expected])


def test_many_ties():
    """Of 600 equal words the first 300 stay."""
    answer = compute_sampling_distribution(torch.zeros(1, 600), top_k=300)
    assert_close(answer, [[1 / 300] * 300 + [0] * 300])


@pytest.mark.parametrize("cut", [{}, {"top_k": 3}, {"top_p": 0.9}], ids=str)
def test_temperature_zero_puts_all_on_the_best(cut):
    """And on the first, where two lead."""
    logits = torch.tensor([[1.0, 4.0, 2.0, 4.0], [3.0, 1.0, -2.0, 0.0]])
    answer = compute_sampling_distribution(logits, 0.0, **cut)
    assert_close(answer, [[0, 1, 0, 0], [1, 0, 0, 0]])


def test_each_row_is_cut_by_itself():
    """One needs two words for 0.6, the other one."""
    logits = torch.tensor([[log(1), log(4), log(2), log(3)], [log(7), log(1), log(1), log(1)]])
    answer = compute_sampling_distribution(logits, top_p=0.6)
    assert_close(answer, [[0, 4 / 7, 0, 3 / 7], [1, 0, 0, 0]])


def test_tail_stays_if_nothing_is_cut():
    """e⁻³⁰ is lost beside 1 in float32, but it is a probability: at ``top_p`` = 1 it stays."""
    answer = compute_sampling_distribution(torch.tensor([[0.0, -30.0]]), top_p=1.0)
    assert_close(answer[:, 1], [exp(-30)], atol=0.0)


def test_impossible_words_stay_impossible():
    """−∞ is a word that was ruled out, and 10⁴ is no overflow."""
    answer = compute_sampling_distribution(torch.tensor([[-inf, 1e4, 1e4]]), 0.7, 3, 0.99)
    assert_close(answer, [[0, 0.5, 0.5]])


@pytest.mark.parametrize("top_k", [0, 5, -1])
def test_bad_top_k_is_an_error(top_k):
    """There are four words."""
    with rejects(ValueError, naming=(top_k, 4)):
        compute_sampling_distribution(LOGITS, top_k=top_k)


@pytest.mark.parametrize("top_p", [0.0, -0.5, 1.5, nan])
def test_bad_top_p_is_an_error(top_p):
    """No word at all, or more than all."""
    with rejects(ValueError, naming=top_p):
        compute_sampling_distribution(LOGITS, top_p=top_p)


@pytest.mark.parametrize("cut", [{"top_k": 5}, {"top_p": 1.5}], ids=str)
def test_bad_cut_is_an_error_at_temperature_zero_too(cut):
    """It would not matter there; it is wrong all the same."""
    with rejects(ValueError, naming=tuple(cut.values())):
        compute_sampling_distribution(LOGITS, 0.0, **cut)


def test_negative_temperature_is_an_error():
    """It would prefer the unlikely."""
    with rejects(ValueError, naming=-0.5):
        compute_sampling_distribution(LOGITS, -0.5)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype, temperature):
    """What leads by ln 3 has 3/4, or everything."""
    logits = torch.tensor([[log(3), 0.0]], dtype=dtype)
    expected = [[0.75, 0.25]] if temperature else [[1, 0]]
    assert_close(compute_sampling_distribution(logits, temperature, top_p=0.99), expected)


def test_half_precision_adds_up_in_float32():
    """512 words of 1/512: 461 of them pass 0.9. In bfloat16 the sum comes to a stop before that."""
    answer = compute_sampling_distribution(torch.zeros(1, 512).bfloat16(), top_p=0.9)
    assert_close((answer > 0).sum(), 461)


def by_loops(logits, temperature, top_k, top_p):
    """One row, in plain Python."""
    raised = [exp((each - max(logits)) / temperature) for each in logits]
    kept = sorted(range(len(logits)), key=lambda word: (-raised[word], word))[:top_k]
    total, so_far, stay = sum(raised[word] for word in kept), 0.0, []
    while so_far < top_p * total and len(stay) < len(kept):
        stay.append(kept[len(stay)])
        so_far += raised[stay[-1]]
    return [raised[word] / so_far if word in stay else 0.0 for word in range(len(logits))]


@pytest.mark.parametrize("size", draw.sizes("batch vocab top_k", vocab=11), ids=str)
@pytest.mark.parametrize(("temperature", "top_p"), [(0.6, 0.83), (1.7, 0.57)])
def test_agrees_with_plain_loops(size, temperature, top_p):
    """All three knobs at once, in float64."""
    logits = draw.floats(size.batch, size.vocab).double()
    answer = compute_sampling_distribution(logits, temperature, size.top_k, top_p)
    assert_close(answer, [by_loops(row, temperature, size.top_k, top_p) for row in logits.tolist()])
