"""057 · compute_noam_learning_rate. Lesson: 057_compute_noam_learning_rate.md."""

from math import sqrt

import pytest

from kata.part08_objective import compute_noam_learning_rate
from specs.harness.check import assert_close, rejects


@pytest.mark.parametrize(
    ("step", "rate"),
    [(1, 1 / 32), (2, 2 / 32), (3, 3 / 32), (4, 4 / 32), (9, 1 / 12), (16, 1 / 16), (64, 1 / 32)],
)
def test_up_and_down_by_hand(step, rate):
    """Width 16 gives 1/4. Up to step 4 times step/8; from there on times 1/√step."""
    assert_close(compute_noam_learning_rate(step, d_model=16, warmup_steps=4), expected=rate)


@pytest.mark.parametrize(("d_model", "rate"), [(1, 1 / 2), (4, 1 / 4), (64, 1 / 16)])
def test_wider_models_go_slower(d_model, rate):
    """At the top of a warm-up of 4 steps, 1/√d_model is halved."""
    assert_close(compute_noam_learning_rate(4, d_model, warmup_steps=4), expected=rate)


@pytest.mark.parametrize(("warmup_steps", "rate"), [(1, 1 / 4), (4, 1 / 32), (9, 1 / 108)])
def test_first_step_is_smaller_when_warming_up_takes_longer(warmup_steps, rate):
    """1/4 for width 16, times warmup^(−3/2): 1, 1/8 and 1/27."""
    assert_close(compute_noam_learning_rate(1, 16, warmup_steps), expected=rate)


@pytest.mark.parametrize(
    ("step", "rate"), [(1, 1 / 800_000), (4000, 1 / 200), (40_000, sqrt(2.5e-6))]
)
def test_warming_up_takes_4000_steps_if_nothing_is_said(step, rate):
    """Width 10: 1/√(10 · 4000³) = 1/800000, then 1/√(10 · 4000) = 1/200, then 1/√400000."""
    assert_close(compute_noam_learning_rate(step, d_model=10), expected=rate)


@pytest.mark.parametrize("factor", [3.0, 0.0])
@pytest.mark.parametrize("step", [2, 16])
def test_factor_stretches_the_whole_curve(step, factor):
    """Steps 2 and 16 are both at 1/16: times 3, and times 0, which leaves nothing."""
    rate = compute_noam_learning_rate(step, d_model=16, warmup_steps=4, factor=factor)
    assert_close(rate, expected=factor / 16)


@pytest.mark.parametrize("warmup_steps", [1, 7, 4000])
@pytest.mark.parametrize("step", [1, 6, 7, 8, 3999, 4001, 100_000, 10**14])
def test_agrees_with_peak_and_shape(step, warmup_steps):
    """The peak 1/√(512 · warmup), times step/warmup before it and √(warmup/step) after it."""
    peak = 1 / sqrt(512 * warmup_steps)
    shape = step / warmup_steps if step < warmup_steps else sqrt(warmup_steps / step)
    assert_close(compute_noam_learning_rate(step, 512, warmup_steps), expected=peak * shape)


@pytest.mark.parametrize("step", [0, -7])
def test_step_below_one_is_an_error(step):
    """The first step is step 1: at step 0 the power −1/2 has no value, and the rate would be 0."""
    with rejects(ValueError, naming=step):
        compute_noam_learning_rate(step, d_model=16)


@pytest.mark.parametrize("warmup_steps", [0, -7])
def test_warm_up_below_one_is_an_error(warmup_steps):
    """There is no curve with its top at step 0 or before."""
    with rejects(ValueError, naming=warmup_steps):
        compute_noam_learning_rate(2, d_model=16, warmup_steps=warmup_steps)
