"""038 · add_and_norm. Lesson: 038_add_and_norm.md."""

import pytest
import torch
from torch.nn import functional

from kata.part05_sublayers import add_and_norm
from kata.weights import LayerNormWeights
from specs.harness import draw
from specs.harness.check import assert_close, rejects

PLAIN = LayerNormWeights(gain=torch.ones(2), bias=torch.zeros(2))
WEIGHTS = LayerNormWeights(gain=torch.tensor([7.0, 14.0]), bias=torch.tensor([1.0, 2.0]))
EPSILON_ASIDE = 1e-5  # relative: ε is 1e-5, beside a variance of 1 or more


def seeded(seed: int = 0) -> torch.Generator:
    """A generator of the test's own: torch's default one stays out of it."""
    return torch.Generator().manual_seed(seed)


def test_two_features_by_hand():
    """0.001 + 0.002 and 0 are ±0.0015 about their mean, ±3/7 (035); 3 + 1 = 4, −6 + 2 = −4."""
    x, found = torch.tensor([[0.001, 0.0]]), torch.tensor([[0.002, 0.0]])
    assert_close(add_and_norm(x, found, WEIGHTS), expected=[[4.0, -4.0]])


def test_the_sum_is_normalized():
    """4, 0 plus 4, 0 is 8, 0: 1 and −1. Normalizing one part alone would leave 5 and −1."""
    x = torch.tensor([[4.0, 0.0]])
    assert_close(add_and_norm(x, x, PLAIN), expected=[[1.0, -1.0]], rtol=EPSILON_ASIDE)


def test_silent_sublayer_leaves_the_token():
    """Nothing found: 3, 1 is normalized alone."""
    answer = add_and_norm(torch.tensor([[3.0, 1.0]]), torch.zeros(1, 2), PLAIN)
    assert_close(answer, expected=[[1.0, -1.0]], rtol=EPSILON_ASIDE)


def test_sublayer_can_turn_the_token_round():
    """3, 1 plus 0, 4 is 3, 5: the order has changed."""
    answer = add_and_norm(torch.tensor([[3.0, 1.0]]), torch.tensor([[0.0, 4.0]]), PLAIN)
    assert_close(answer, expected=[[-1.0, 1.0]], rtol=EPSILON_ASIDE)


def test_each_token_is_normalized_alone():
    """The sums are 2, 0 and 10, 30 in one sentence, 6, 4 and 0, 0 in the other."""
    x = torch.tensor([[[1.0, 0.0], [5.0, 10.0]], [[2.0, 2.0], [1.0, -1.0]]])
    found = torch.tensor([[[1.0, 0.0], [5.0, 20.0]], [[4.0, 2.0], [-1.0, 1.0]]])
    expected = [[[1.0, -1.0], [-1.0, 1.0]], [[1.0, -1.0], [0.0, 0.0]]]
    assert_close(add_and_norm(x, found, PLAIN), expected, rtol=EPSILON_ASIDE)


def test_dropout_spares_the_token():
    """At rate 1 all that the sub-layer found is dropped, and of x nothing: ±3/7, so 4 and −4."""
    x, found = torch.tensor([[0.003, 0.0]]), torch.tensor([[5.0, 9.0]])
    answer = add_and_norm(x, found, WEIGHTS, 1.0, seeded())
    assert_close(answer, expected=[[4.0, -4.0]])


# In thousandths, the token is 0, 2, and 1, 0 was found. At rate 3/4 one 1 in four is kept, times 4:
# there the sum is 4, 2, elsewhere 0, 2. So the first feature leads where what was found is kept.
TOKENS = torch.tensor([[0.0, 0.002]]).expand(4000, 2)
FOUND = torch.tensor([[0.001, 0.0]]).expand(4000, 2)


def test_dropout_has_the_rate_asked_for():
    """Of 4000 tokens, the share that is turned strays from 1/4 by 0.007 or so; 0.06 is allowed."""
    answer = add_and_norm(TOKENS, FOUND, PLAIN, 0.75, seeded())
    share = (answer[:, 0] > 0).double().mean().item()
    assert abs(share - 0.25) < 0.06, "at rate 3/4 one found number in four comes through, times 4"


def test_gradient_goes_through_the_same_mask():
    """What was dropped has no slope; what was kept has one."""
    found = FOUND.clone().requires_grad_()
    answer = add_and_norm(TOKENS, found, PLAIN, 0.75, seeded())
    answer[:, 0].sum().backward()
    same = torch.equal(found.grad[:, 0] != 0, answer[:, 0] > 0)
    assert same, "forward and backward do not share one mask"


def test_the_same_seed_makes_the_same_mask():
    """Two generators that start alike."""
    first, second = (add_and_norm(TOKENS, FOUND, PLAIN, 0.75, seeded(7)) for _ in range(2))
    assert torch.equal(first, second), "the generator does not decide the mask"


def test_a_generator_moves_on():
    """Two calls with one generator."""
    generator = seeded()
    first, second = (add_and_norm(TOKENS, FOUND, PLAIN, 0.75, generator) for _ in range(2))
    assert not torch.equal(first, second), "two calls with one generator made the same mask"


def test_without_a_generator_every_call_is_another():
    """Torch's default generator moves on: 4000 equal tosses twice over will not be seen."""
    first, second = (add_and_norm(TOKENS, FOUND, PLAIN, 0.75) for _ in range(2))
    assert not torch.equal(first, second), "two calls made the same mask"


def test_by_default_nothing_is_dropped_or_drawn():
    """Without a rate: the sum 8, 0 whole, and the generator stands where it stood."""
    x, generator, untouched = torch.tensor([[4.0, 0.0]]), seeded(), seeded()
    answer = add_and_norm(x, x, PLAIN, generator=generator)
    assert_close(answer, expected=[[1.0, -1.0]], rtol=EPSILON_ASIDE)
    same = torch.equal(generator.get_state(), untouched.get_state())
    assert same, "at rate 0 the generator moved on: nothing is to be drawn"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """3, 1 plus 4, 0 is 7, 1: 1 and −1. Then 7 + 1 = 8 and −14 + 2 = −12."""
    x, found = torch.tensor([[3.0, 1.0]], dtype=dtype), torch.tensor([[4.0, 0.0]], dtype=dtype)
    weights = LayerNormWeights(WEIGHTS.gain.to(dtype), WEIGHTS.bias.to(dtype))
    coarse = max(EPSILON_ASIDE, 2 * torch.finfo(dtype).eps)
    assert_close(add_and_norm(x, found, weights), expected=[[8.0, -12.0]], rtol=coarse)


@pytest.mark.parametrize("size", draw.sizes("batch length d_model", count=6), ids=str)
def test_agrees_with_torch(size):
    """F.layer_norm of the sum, in float64, with a trained-looking gain and bias."""
    x, found = (draw.floats(size.batch, size.length, size.d_model, seed=seed) for seed in (0, 1))
    gain, bias = (draw.floats(size.d_model, seed=seed) for seed in (2, 3))
    total = x.double() + found.double()
    expected = functional.layer_norm(total, (size.d_model,), gain.double(), bias.double())
    assert_close(add_and_norm(x, found, LayerNormWeights(gain, bias)), expected)


@pytest.mark.parametrize(
    "shape",
    [(2, 13, 1), (2, 1, 17), (1, 13, 17), (13, 17), (17,), (13, 2, 17), (5, 2, 13, 17)],
    ids=str,
)
def test_shapes_that_differ_are_an_error(shape):
    """A token and what was found for it are one shape, even where torch would broadcast."""
    weights = LayerNormWeights(torch.ones(17), torch.zeros(17))
    with rejects(ValueError, naming=shape):
        add_and_norm(torch.ones(2, 13, 17), torch.ones(shape), weights)


def test_a_token_smaller_than_what_was_found_is_an_error():
    """The other way round: x must not grow either."""
    with rejects(ValueError, naming=(5, 2)):
        add_and_norm(torch.ones(1, 2), torch.ones(5, 2), PLAIN)


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_bad_rate_is_an_error(rate):
    """What step 037 refuses is refused here: the message names the rate."""
    with rejects(ValueError, naming=rate):
        add_and_norm(torch.ones(1, 2), torch.ones(1, 2), PLAIN, rate, seeded())


@pytest.mark.parametrize("vector", PLAIN._fields)
def test_bad_gain_or_bias_is_an_error(vector):
    """What step 036 refuses is refused here: width 2 asks for a gain and a bias of shape (2,)."""
    weights = PLAIN._replace(**{vector: torch.ones(1, 2)})
    with rejects(ValueError, naming=(1, 2)):
        add_and_norm(torch.ones(3, 2), torch.ones(3, 2), weights)
