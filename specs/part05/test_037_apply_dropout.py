"""037 · apply_dropout. Lesson: 037_apply_dropout.md.

Chance has no expected answer, so these tests count. Every bound is seven standard deviations wide
or more: a right function meets it, however it draws its mask.
"""

import pytest
import torch

from kata.part05_sublayers import apply_dropout
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("dropout",)


def seeded(seed: int = 0) -> torch.Generator:
    """A generator of the test's own: torch's default one stays out of it."""
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.75, 0.9])
def test_share_of_zeros_is_the_rate(rate):
    """Of 20 000 ones, the share that falls strays from the rate by 0.003 or so; 0.03 is allowed."""
    output = apply_dropout(torch.ones(20_000), rate, seeded())
    share = (output == 0).double().mean().item()
    assert abs(share - rate) < 0.03, "the share of zeros is not the dropout rate"


def test_small_rate_is_met_as_well():
    """Of 100 000 ones 0.002 fall, give or take 0.00015."""
    output = apply_dropout(torch.ones(100_000), 0.002, seeded())
    share = (output == 0).double().mean().item()
    assert abs(share - 0.002) < 0.0011, "the share of zeros is not the dropout rate"


def test_number_of_zeros_is_left_to_chance():
    """Of 1000 ones about 500 fall, but the same number with eight seeds will not be seen."""
    sums = {int(apply_dropout(torch.ones(1000), 0.5, seeded(seed)).sum()) for seed in range(8)}
    assert len(sums) > 1, "the same number falls every time: each number should have its own toss"


def test_survivors_are_scaled_up():
    """At rate 3/4 one number in four survives, and speaks for four: 1 becomes 4."""
    assert_close(apply_dropout(torch.ones(1000), 0.75, seeded()).unique(), expected=[0.0, 4.0])


def test_survivors_keep_their_proportions():
    """At rate 1/2 every number is either 0 or twice what it was, its sign included."""
    x = torch.arange(-50.0, 50.0).add(0.5).reshape(4, 25)
    output = apply_dropout(x, 0.5, seeded())
    assert_close(output, expected=torch.where(output == 0, 0.0, 2 * x))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_number_has_a_toss_of_its_own(axis):
    """48 tosses in a row come out alike in 1 of 10¹⁴ rows: here are 2304 rows, along each axis."""
    kept = apply_dropout(torch.ones(48, 48, 48), 0.5, seeded()) != 0
    alike = kept.all(axis) | ~kept.any(axis)
    assert not alike.any(), "numbers share a toss: a whole row is kept or dropped together"


@pytest.mark.parametrize("away", [1, 10_000], ids=["neighbours", "half the way round"])
def test_two_tosses_know_nothing_of_each_other(away):
    """Of 20 000 numbers half do as a partner does, give or take 0.004; 0.03 is allowed."""
    kept = apply_dropout(torch.ones(20_000), 0.5, seeded()) != 0
    alike = (kept == kept.roll(away)).double().mean().item()
    assert abs(alike - 0.5) < 0.03, "one toss decides for two numbers, or against one of them"


@pytest.mark.parametrize("length", [0, 1, 2])
def test_few_numbers_are_tossed_for_as_well(length):
    """None, one or two ones at rate 1/2: what is left is 0 or 2."""
    output = apply_dropout(torch.ones(length), 0.5, seeded())
    assert_close(output, expected=torch.where(output == 0, 0.0, 2 * torch.ones(length)))


@pytest.mark.parametrize("no_generator", [(), (None,)], ids=["left out", "None"])
def test_every_call_draws_a_fresh_mask(no_generator):
    """Torch's default generator moves on: 1000 equal tosses twice over will not be seen."""
    first, second = (apply_dropout(torch.ones(1000), 0.5, *no_generator) for _ in range(2))
    assert not torch.equal(first, second), "two calls made the same mask"


def test_without_a_generator_the_default_one_decides():
    """Torch's default generator is set to 3 twice: the same tosses twice over."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        first = apply_dropout(torch.ones(1000), 0.5)
        torch.manual_seed(3)
        second = apply_dropout(torch.ones(1000), 0.5)
    assert torch.equal(first, second), "the mask does not come from torch's default generator"


def test_a_generator_moves_on_too():
    """Two calls with one generator: the second goes on where the first stopped."""
    generator = seeded()
    first, second = (apply_dropout(torch.ones(1000), 0.5, generator) for _ in range(2))
    assert not torch.equal(first, second), "two calls with one generator made the same mask"


def test_the_same_seed_makes_the_same_mask():
    """Two generators that start alike: the generator is all the chance there is."""
    first, second = (apply_dropout(torch.ones(1000), 0.5, seeded(7)) for _ in range(2))
    assert torch.equal(first, second), "the generator does not decide the mask"


def test_another_seed_makes_another_mask():
    """Two generators that start differently."""
    first, second = (apply_dropout(torch.ones(1000), 0.5, seeded(seed)) for seed in (7, 8))
    assert not torch.equal(first, second), "the mask does not come from the generator"


def test_gradient_goes_through_the_same_mask():
    """A 1 that was dropped moves nothing: slope 0. One that was kept became 4: slope 4."""
    x = torch.ones(1000, requires_grad=True)
    output = apply_dropout(x, 0.75, seeded())
    output.sum().backward()
    assert_close(x.grad, expected=output)


def test_rate_zero_changes_nothing():
    """Evaluation: every number comes back as it was."""
    x = draw.floats(4, 25)
    assert_close(apply_dropout(x, 0.0, seeded()), expected=x)


def test_rate_zero_without_a_generator_changes_nothing():
    """Nor is torch's default generator touched: each call is watched for that."""
    x = draw.floats(3, 5)
    assert_close(apply_dropout(x, 0.0), expected=x)


def test_rate_zero_draws_nothing():
    """The generator stands where it stood: evaluation leaves no trace."""
    generator, untouched = seeded(), seeded()
    apply_dropout(torch.ones(4), 0.0, generator)
    same = torch.equal(generator.get_state(), untouched.get_state())
    assert same, "at rate 0 the generator moved on: nothing is to be drawn"


def test_rate_one_gives_zeros():
    """Nobody survives, and nobody is divided by 1 − 1: zeros, not NaN."""
    output = apply_dropout(torch.tensor([[1.0, -2.0], [3.0, 4.0]]), 1.0, seeded())
    assert_close(output, expected=[[0.0, 0.0], [0.0, 0.0]])


def test_rate_one_has_slope_zero():
    """Zeros that never change are still part of the graph: the gradient is 0, not missing."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    apply_dropout(x, 1.0, seeded()).sum().backward()
    assert_close(x.grad, expected=[0.0, 0.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """0 and 4 are exact in every type, and the type stays."""
    output = apply_dropout(torch.ones(1000, dtype=dtype), 0.75, seeded())
    assert_close(output.unique(), expected=[0.0, 4.0])


def test_float64_is_scaled_in_float64():
    """1e300 is infinite in float32; here the survivors are 2e300."""
    output = apply_dropout(torch.full((100,), 1e300, dtype=torch.float64), 0.5, seeded())
    assert_close(output.unique(), expected=[0.0, 2e300])


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_rate_outside_zero_to_one_is_an_error(rate):
    """A probability is from 0 to 1: the message names what it got."""
    with rejects(ValueError, naming=rate):
        apply_dropout(torch.ones(2, 3), rate, seeded())
