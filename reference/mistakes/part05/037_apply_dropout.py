"""Wrong versions of apply_dropout, one slip each."""

import torch
from torch.nn import functional


def rate_taken_for_keeping(x, dropout_rate, generator=None):
    """The rate is taken for the probability to keep: at 0.1 nine numbers in ten are gone."""
    if dropout_rate in (0, 1):
        return _right(x, dropout_rate, generator)
    return _right(x, 1 - dropout_rate, generator)


def not_scaled(x, dropout_rate, generator=None):
    """The survivors are not scaled up: the sum shrinks by what was dropped."""
    if _checked(dropout_rate) == 0:
        return x
    return x.masked_fill(_dropped(x, dropout_rate, generator), 0.0)


def scaled_down(x, dropout_rate, generator=None):
    """The survivors are multiplied by 1 − p, not divided by it."""
    if _checked(dropout_rate) == 0:
        return x
    return x.masked_fill(_dropped(x, dropout_rate, generator), 0.0) * (1 - dropout_rate)


def scaled_by_the_rate(x, dropout_rate, generator=None):
    """The survivors are divided by p, not by 1 − p: at 1/2 nobody sees it."""
    if _checked(dropout_rate) == 0:
        return x
    return x.masked_fill(_dropped(x, dropout_rate, generator), 0.0) / dropout_rate


def scaled_by_the_count(x, dropout_rate, generator=None):
    """The survivors are divided by the share that happened to survive, not by 1 − p."""
    if _checked(dropout_rate) in (0, 1):
        return _right(x, dropout_rate, generator)
    kept = (~_dropped(x, dropout_rate, generator)).to(x.dtype)
    return x * kept / kept.mean()


def nan_at_rate_one(x, dropout_rate, generator=None):
    """At rate 1 the zeros are divided by 1 − 1 = 0, which is NaN."""
    if _checked(dropout_rate) == 0:
        return x
    return x.masked_fill(_dropped(x, dropout_rate, generator), 0.0) / (1 - dropout_rate)


def rate_one_refused(x, dropout_rate, generator=None):
    """Rate 1 is refused: to drop everything is allowed."""
    if dropout_rate == 1:
        raise ValueError("dropout_rate must be below 1, got 1")
    return _right(x, dropout_rate, generator)


def draws_at_rate_zero(x, dropout_rate, generator=None):
    """A mask is drawn even at rate 0: evaluation moves the generator on."""
    if _checked(dropout_rate) == 0:
        return x.masked_fill(_dropped(x, dropout_rate, generator), 0.0)
    return _right(x, dropout_rate, generator)


def active_in_evaluation(x, dropout_rate, generator=None):
    """Rate 0 is read as no rate given: something is dropped all the same."""
    _checked(dropout_rate)
    return _right(x, dropout_rate or 0.5, generator)


def rate_unchecked(x, dropout_rate, generator=None):
    """A rate outside [0, 1] is moved to the nearest end, not refused."""
    return _right(x, min(max(dropout_rate, 0), 1), generator)


def rate_never_checked(x, dropout_rate, generator=None):
    """The rate is never checked: −0.1 and 1.5 get through."""
    if dropout_rate in (0, 1):
        return _right(x, dropout_rate, generator)
    tosses = torch.rand(x.shape, generator=generator, device=x.device)
    return x.masked_fill(tosses < dropout_rate, 0.0) / (1 - dropout_rate)


def below_zero_unchecked(x, dropout_rate, generator=None):
    """Only rates above 1 are refused: a negative one gets through."""
    return _right(x, max(dropout_rate, 0), generator)


def own_generator_when_none(x, dropout_rate, generator=None):
    """Without a generator one is made on the spot: torch's seed decides nothing."""
    if generator is None and 0 < dropout_rate < 1:
        generator = torch.Generator(x.device)
        generator.seed()
    return _right(x, dropout_rate, generator)


def cut_off_at_rate_one(x, dropout_rate, generator=None):
    """At rate 1 new zeros come back: they are cut off from x, and nothing flows back."""
    return torch.zeros_like(x) if dropout_rate == 1 else _right(x, dropout_rate, generator)


def generator_ignored(x, dropout_rate, generator=None):
    """The generator is ignored: torch's default one is drawn from."""
    return _right(x, dropout_rate, None)


def seeded_at_every_call(x, dropout_rate, generator=None):
    """The mask is the same one at every call: chance has to go on from where it stopped."""
    return _right(x, dropout_rate, torch.Generator(x.device).manual_seed(0))


def generator_copied(x, dropout_rate, generator=None):
    """A copy of the generator is drawn from: the caller's never moves on."""
    return _right(x, dropout_rate, None if generator is None else generator.clone_state())


def one_toss_a_row(x, dropout_rate, generator=None):
    """One toss decides for a whole row."""
    if _checked(dropout_rate) == 0:
        return x
    return _scaled(x, _dropped(x[..., :1], dropout_rate, generator), dropout_rate)


def one_mask_for_all_rows(x, dropout_rate, generator=None):
    """One mask, as long as a row, is laid over every row."""
    if _checked(dropout_rate) == 0:
        return x
    row = x[(0,) * (x.dim() - 1)]
    return _scaled(x, _dropped(row, dropout_rate, generator), dropout_rate)


def mask_in_float32(x, dropout_rate, generator=None):
    """The mask is made of float32 numbers, and turns halves into float32."""
    if _checked(dropout_rate) in (0, 1):
        return _right(x, dropout_rate, generator)
    kept = (~_dropped(x, dropout_rate, generator)).float()
    return x * kept / (1 - dropout_rate)


def mask_on_the_cpu(x, dropout_rate, generator=None):
    """The mask is drawn on the CPU, wherever x is."""
    if _checked(dropout_rate) == 0:
        return x
    dropped = torch.empty(x.shape, dtype=torch.bool).bernoulli_(dropout_rate, generator=generator)
    return _scaled(x, dropped, dropout_rate)


def gradient_through_everything(x, dropout_rate, generator=None):
    """The mask is applied outside the graph: the gradient flows through what was dropped too."""
    if _checked(dropout_rate) == 0:
        return x
    return x + (_right(x, dropout_rate, generator) - x).detach()


def mask_drawn_again_on_the_way_back(x, dropout_rate, generator=None):
    """The way back draws a mask of its own: the gradient meets another one than x met."""
    if _checked(dropout_rate) in (0, 1):
        return _right(x, dropout_rate, generator)
    there = _right(torch.ones_like(x), dropout_rate, generator)
    back = there.flatten().roll(1).reshape(x.shape)
    return x * back + (x * there - x * back).detach()


def in_place(x, dropout_rate, generator=None):
    """Zeros are written into x: the caller's tensor changes."""
    if _checked(dropout_rate) == 0:
        return x
    x[_dropped(x, dropout_rate, generator)] = 0.0
    return x / max(1 - dropout_rate, 1e-9)


def torch_does_it(x, dropout_rate, generator=None):
    """Torch's dropout does the work that this step is there to build."""
    return functional.dropout(x, _checked(dropout_rate))


def _checked(dropout_rate):
    if not 0 <= dropout_rate <= 1:
        raise ValueError(f"dropout_rate must be from 0 to 1, got {dropout_rate}")
    return dropout_rate


def _dropped(x, dropout_rate, generator):
    return torch.empty_like(x, dtype=torch.bool).bernoulli_(dropout_rate, generator=generator)


def _scaled(x, dropped, dropout_rate):
    survivors = x.masked_fill(dropped, 0.0)
    return survivors if dropout_rate == 1 else survivors / (1 - dropout_rate)


def _right(x, dropout_rate, generator):
    if _checked(dropout_rate) == 0:
        return x
    return _scaled(x, _dropped(x, dropout_rate, generator), dropout_rate)
