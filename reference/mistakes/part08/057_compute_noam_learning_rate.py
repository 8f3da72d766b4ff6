"""Wrong versions of step 057, one slip each."""


def larger_of_the_two(step, d_model, warmup_steps=4000, factor=1.0):
    """The larger of the two terms is taken: the rate starts high and rises without end."""
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * max(step**-0.5, step * warmup_steps**-1.5)


def first_rate_twice(step, d_model, warmup_steps=4000, factor=1.0):
    """The steps are counted from 0, and the first rate comes twice."""
    _check(step, warmup_steps)
    return _rate(max(1, step - 1), d_model, warmup_steps, factor)


def one_step_ahead(step, d_model, warmup_steps=4000, factor=1.0):
    """The step is counted once more: the rate is that of the next one."""
    _check(step, warmup_steps)
    return _rate(step + 1, d_model, warmup_steps, factor)


def step_unchecked(step, d_model, warmup_steps=4000, factor=1.0):
    """A step of 0 or below is taken for step 1, not refused."""
    _check(1, warmup_steps)
    return _rate(max(1, step), d_model, warmup_steps, factor)


def warm_up_unchecked(step, d_model, warmup_steps=4000, factor=1.0):
    """A warm-up of 0 steps or less is taken for one of 1 step, not refused."""
    _check(step, 1)
    return _rate(step, d_model, max(1, warmup_steps), factor)


def no_warm_up(step, d_model, warmup_steps=4000, factor=1.0):
    """The warm-up is missing: the rate is highest at step 1."""
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * step**-0.5


def flat_after_warm_up(step, d_model, warmup_steps=4000, factor=1.0):
    """After the warm-up the rate stays where it is."""
    _check(step, warmup_steps)
    return _rate(min(step, warmup_steps), d_model, warmup_steps, factor)


def warm_up_to_the_minus_one_half(step, d_model, warmup_steps=4000, factor=1.0):
    """The warm-up stands to the power −1/2, not −3/2: the climb is over almost at once."""
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-0.5)


def straight_down(step, d_model, warmup_steps=4000, factor=1.0):
    """After the warm-up the rate falls as 1/step, not as 1/√step."""
    _check(step, warmup_steps)
    climb = step * warmup_steps**-1.5
    return factor * d_model**-0.5 * min(warmup_steps**0.5 / step, climb)


def half_of_the_inverse(step, d_model, warmup_steps=4000, factor=1.0):
    """The power binds before the division: `step ** -1 / 2` is half of 1/step, not 1/√step."""
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * min(step**-1 / 2, step * warmup_steps**-1.5)


def times_the_root_of_the_width(step, d_model, warmup_steps=4000, factor=1.0):
    """The rate is multiplied by √d_model: wider models go faster."""
    _check(step, warmup_steps)
    return factor * d_model**0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def width_left_out(step, d_model, warmup_steps=4000, factor=1.0):
    """The width of the model plays no part."""
    _check(step, warmup_steps)
    return factor * min(step**-0.5, step * warmup_steps**-1.5)


def factor_left_out(step, d_model, warmup_steps=4000, factor=1.0):
    """The factor is not used."""
    return _rate(step, d_model, warmup_steps, 1.0)


def no_factor_of_zero(step, d_model, warmup_steps=4000, factor=1.0):
    """A factor of 0 counts as none: `factor or 1.0` takes 0 for missing."""
    return _rate(step, d_model, warmup_steps, factor or 1.0)


def factor_of_two(step, d_model, warmup_steps=4000, factor=2.0):
    """The factor is 2 where nothing is said, as in other people's code; the paper has none."""
    return _rate(step, d_model, warmup_steps, factor)


def warm_up_of_8000(step, d_model, warmup_steps=8000, factor=1.0):
    """Where nothing is said the warm-up takes 8000 steps; the paper has 4000."""
    return _rate(step, d_model, warmup_steps, factor)


def straight_to_the_top(step, d_model, warmup_steps=4000, factor=1.0):
    """The climb is step/warm-up, as if the top were at a rate of 1 and not of 1/√warm-up."""
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * min(step**-0.5, step / warmup_steps)


def warm_up_of_4000(step, d_model, warmup_steps=4000, factor=1.0):
    """The warm-up takes 4000 steps, whatever warmup_steps says."""
    _check(step, warmup_steps)
    return _rate(step, d_model, 4000, factor)


def base_rate_left_in(step, d_model, warmup_steps=4000, factor=1.0):
    """A base rate of 0.00005 is left in, as an optimiser would multiply it on."""
    return 5e-5 * _rate(step, d_model, warmup_steps, factor)


def _rate(step, d_model, warmup_steps, factor):
    _check(step, warmup_steps)
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def _check(step, warmup_steps):
    if step < 1 or warmup_steps < 1:
        raise ValueError(f"steps count from 1, got step {step} of a warm-up of {warmup_steps}")
