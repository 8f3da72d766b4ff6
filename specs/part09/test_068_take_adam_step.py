"""068 · take_adam_step. Lesson: 068_take_adam_step.md."""

from math import inf, nan

import pytest
import torch
from torch import nn

from kata.part09_adam import take_adam_step
from kata.weights import AdamState
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal

CHANGES = ("parameters", "state")
NOT_WITH = ("optim",)

NEARLY = 1e-7  # ε is 10⁻⁹; in Kingma and Ba's fast form it weighs 7 times as much at first


def weight(*values, gradient=None):
    """A parameter with these numbers, and the gradient that lies there."""
    parameter = torch.tensor(values, requires_grad=True)
    parameter.grad = None if gradient is None else torch.tensor(gradient)
    return parameter


def fresh(*parameters):
    """The state before the first step."""
    zeros = [[torch.zeros_like(parameter) for parameter in parameters] for _ in range(2)]
    return AdamState(*zeros, step=0)


def test_first_step_is_as_long_as_the_rate():
    """Corrected, both moments speak of the gradient alone: 5 − 3 · 4 / √4² = 2."""
    x = weight(5.0, gradient=[4.0])
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_close(x, expected=[2.0], atol=NEARLY)


def test_size_of_the_first_gradient_plays_no_part():
    """Small, large, negative: 2 downhill each, whatever the slope."""
    x = weight(10.0, 10.0, 10.0, gradient=[0.25, 100.0, -4.0])
    take_adam_step([x], fresh(x), learning_rate=2.0)
    assert_close(x, expected=[8.0, 8.0, 12.0], atol=NEARLY)


def test_moments_come_back_uncorrected():
    """By default 1/10 of the gradient 10 and 2/100 of its square: 1 and 2."""
    x = weight(5.0, gradient=[10.0])
    state = take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_close((state.first, state.second), expected=([[1.0]], [[2.0]]))


def test_moments_go_on_from_where_they_were():
    """0.9 · 10 + 0.1 · 20 = 11, and 0.98 · 100 + 0.02 · 20² = 106."""
    x = weight(5.0, gradient=[20.0])
    before = AdamState([torch.tensor([10.0])], [torch.tensor([100.0])], step=7)
    state = take_adam_step([x], before, learning_rate=3.0)
    assert_close((state.first, state.second), expected=([[11.0]], [[106.0]]))


def test_two_steps_by_hand():
    """β₁ = 1/2, β₂ = 1/3. Gradient 1: 3 down. Gradient −4: m̂ = −7/3, √v̂ = 7/2, so 2 up again."""
    x = weight(9.0, gradient=[1.0])
    state = take_adam_step([x], fresh(x), 3.0, beta1=1 / 2, beta2=1 / 3)
    x.grad = torch.tensor([-4.0])
    take_adam_step([x], state, 3.0, beta1=1 / 2, beta2=1 / 3)
    assert_close(x, expected=[8.0], atol=NEARLY)


@pytest.mark.parametrize("step", [0, 41], ids=str)
def test_counter_goes_up_by_one(step):
    """Two parameters, and still only one step."""
    x, y = weight(5.0, gradient=[4.0]), weight(6.0, gradient=[4.0])
    state = take_adam_step([x, y], fresh(x, y)._replace(step=step), learning_rate=3.0)
    assert_equal(state.step, step + 1)


def test_every_parameter_has_its_own_moments():
    """x saw 1 and −4: from 9 to 6 to 8, as above. y saw 4 twice: 3 down and 3 down."""
    x, y = weight(9.0, gradient=[1.0]), weight(8.0, 7.0, gradient=[4.0, 4.0])
    state = take_adam_step([x, y], fresh(x, y), 3.0, beta1=1 / 2, beta2=1 / 3)
    x.grad = torch.tensor([-4.0])
    take_adam_step([x, y], state, 3.0, beta1=1 / 2, beta2=1 / 3)
    assert_close((x, y), expected=([8.0], [2.0, 1.0]), atol=NEARLY)


def test_gradient_of_zero_is_a_step_of_zero():
    """0 / (0 + ε) = 0, and not NaN."""
    x = weight(5.0, gradient=[0.0])
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_close(x, expected=[5.0], atol=NEARLY)


def test_gradient_of_zero_does_not_stop_what_moves():
    """β₁ = 1/2, β₂ = 1/3. Gradient 1: 3 down. Then 0: m̂ = 1/3, √v̂ = 1/2, so 2 down."""
    x = weight(9.0, gradient=[1.0])
    state = take_adam_step([x], fresh(x), 3.0, beta1=1 / 2, beta2=1 / 3)
    x.grad = torch.tensor([0.0])
    take_adam_step([x], state, 3.0, beta1=1 / 2, beta2=1 / 3)
    assert_close(x, expected=[4.0], atol=NEARLY)


@pytest.mark.parametrize("bad", [nan, inf], ids=["NaN", "infinite"])
def test_gradient_that_is_no_number_is_not_hidden(bad):
    """∞ / ∞ is NaN too: what is broken has to be seen, and in its own place only."""
    x = weight(5.0, 5.0, gradient=[bad, 4.0])
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_close(x, expected=[nan, 2.0], atol=NEARLY)


def test_epsilon_stands_outside_the_root():
    """g = 10⁻⁹ and ε = 10⁻⁹: half a step, 5 − 2 · 1/2. Under the root it would be next to none."""
    x = weight(5.0, gradient=[1e-9])
    take_adam_step([x], fresh(x), learning_rate=2.0, beta1=0.0, beta2=0.0)
    assert_close(x, expected=[4.0])


def test_epsilon_may_be_chosen():
    """g = 3 and ε = 1: 5 − 4 · 3 / (3 + 1) = 2."""
    x = weight(5.0, gradient=[3.0])
    take_adam_step([x], fresh(x), learning_rate=4.0, beta1=0.0, beta2=0.0, eps=1.0)
    assert_close(x, expected=[2.0])


def test_parameter_without_a_gradient_stands_still():
    """Its moments of 2 and 3 would carry it away; nobody asked it to move. The others do move."""
    x, y, z = weight(5.0, gradient=[4.0]), weight(6.0), weight(7.0, gradient=[4.0])
    before = fresh(x, y, z)
    before.first[1].fill_(2.0)
    before.second[1].fill_(3.0)
    take_adam_step([x, y, z], before, learning_rate=3.0)
    assert_close((x, y, z), expected=([2.0], [6.0], [4.0]), atol=NEARLY)


def test_moments_of_a_parameter_without_a_gradient_do_not_fade():
    """2 and 3 before, 2 and 3 afterwards: no gradient is not the same as a gradient of 0."""
    x = weight(5.0)
    before = AdamState([torch.tensor([2.0])], [torch.tensor([3.0])], step=0)
    state = take_adam_step([x], before, learning_rate=3.0)
    assert_equal((state.first[0].item(), state.second[0].item(), state.step), (2.0, 3.0, 1))


@pytest.mark.parametrize(("beta1", "place"), [(2 / 3, 3.0), (0.0, 1.0)], ids=["2/3", "0"])
def test_one_counter_serves_late_comers_too(beta1, place):
    """At step 2, √v̂ = 4/5. m̂ = 3/5: 6 − 4 · 3/4 = 3. m̂ = 1: 6 − 4 · 5/4 = 1, beyond the rate."""
    x, y = weight(6.0), weight(5.0, gradient=[4.0])
    state = take_adam_step([x, y], fresh(x, y), 4.0, beta1, beta2=9 / 16)
    x.grad = torch.tensor([1.0])
    take_adam_step([x, y], state, 4.0, beta1, beta2=9 / 16)
    assert_close(x, expected=[place], atol=NEARLY)


def test_parameter_can_be_trained_on():
    """Still a leaf that takes a gradient, with no history behind it."""
    x = weight(5.0, gradient=[4.0])
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_equal((x.requires_grad, x.is_leaf), (True, True))


def test_gradient_is_only_read():
    """4 before, 4 afterwards: to clear it is step 069."""
    x = weight(5.0, gradient=[4.0])
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_equal(x.grad, [4.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """A module's matrix in another layout takes its first step in half and in double precision."""
    x = nn.Parameter(torch.full((2, 3), 5.0, dtype=dtype).T)
    x.grad = torch.tensor([[4.0, -4.0]] * 3, dtype=dtype)
    take_adam_step([x], fresh(x), learning_rate=3.0)
    assert_close(x, expected=[[2.0, 8.0]] * 3, atol=NEARLY)


@pytest.mark.parametrize(("dtype", "steps"), [(torch.float64, 300), (torch.float32, 40)], ids=str)
def test_tracks_torch(dtype, steps):
    """Torch's own Adam beside it, with other gradients and another rate at every step."""
    mine = [draw.floats(3, 4).to(dtype).requires_grad_(), draw.floats(5).to(dtype).requires_grad_()]
    theirs = [parameter.detach().clone().double().requires_grad_() for parameter in mine]
    judge = torch.optim.Adam(theirs, betas=(0.9, 0.98), eps=1e-9)
    state = fresh(*mine)
    drawn = [draw.floats(steps, 3, 4).to(dtype), draw.floats(steps, 5).to(dtype)]
    for step, gradients in enumerate(zip(*drawn, strict=True)):
        for x, y, gradient in zip(mine, theirs, gradients, strict=True):
            x.grad = 5 ** (step % 3 - 1) * (gradient + gradient.sign())  # 0.2 and more
            y.grad = x.grad.double()
        judge.param_groups[0]["lr"] = rate = 0.01 + 0.001 * (step % 7)
        judge.step()
        state = take_adam_step(mine, state, rate)
    assert_close(mine, theirs, rtol=0.0, atol=1e-8 if dtype == torch.float64 else 1e-5)
