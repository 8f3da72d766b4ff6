"""Wrong versions of step 082, one slip each."""

import math

import torch


def not_divided(state):
    """The mixture is not divided by the sum: the output grows with the number of keys."""
    _, log_sum_exp = _finish(state)
    return state.accumulator.masked_fill((state.row_sum == 0)[..., None], 0.0), log_sum_exp


def maximum_forgotten(state):
    """The log-sum-exp is ln(row_sum) alone, without the maximum that was taken off every score."""
    output, _ = _finish(state)
    return output, torch.log(_total(state)).masked_fill(state.row_sum == 0, -math.inf)


def logarithm_to_base_two(state):
    """The logarithm is to base 2, as inside some GPU kernels, not the natural one."""
    output, _ = _finish(state)
    log_sum_exp = state.row_max + torch.log2(_total(state))
    return output, log_sum_exp.masked_fill(state.row_sum == 0, -math.inf)


def logarithm_of_the_whole(state):
    """exp(row_max) · row_sum is computed and its logarithm taken: at 1000 it is infinite."""
    output, _ = _finish(state)
    log_sum_exp = torch.log(torch.exp(state.row_max) * _total(state))
    return output, log_sum_exp.masked_fill(state.row_sum == 0, -math.inf)


def nan_where_nothing_was_seen(state):
    """A query that saw no key gets 0 / 0, which is NaN."""
    return state.accumulator / state.row_sum[..., None], state.row_max + torch.log(state.row_sum)


def nan_swept_away(state):
    """The numbers are right, but the gradient through 0 / 0 or ln 0 is NaN."""
    output = torch.nan_to_num(state.accumulator / state.row_sum[..., None], nan=0.0)
    return output, state.row_max + torch.log(state.row_sum)


def zero_where_nothing_was_seen(state):
    """The log-sum-exp of a query that saw no key is 0, where ln 0 is −∞."""
    output, log_sum_exp = _finish(state)
    return output, log_sum_exp.masked_fill(state.row_sum == 0, 0.0)


def a_little_extra(state):
    """A small number is added to the sum, against a division by 0: every output is too small."""
    unseen, total = state.row_sum == 0, state.row_sum + 1e-6
    output = (state.accumulator / total[..., None]).masked_fill(unseen[..., None], 0.0)
    return output, (state.row_max + torch.log(total)).masked_fill(unseen, -math.inf)


def divided_in_place(state):
    """The accumulator is divided in place: the caller's state changes."""
    output, log_sum_exp = _finish(state)
    state.accumulator.data.copy_(output)
    return output, log_sum_exp


def results_swapped(state):
    """The two results have changed places: the output comes first."""
    output, log_sum_exp = _finish(state)
    return log_sum_exp, output


def in_float32(state):
    """The results are float32, whatever the state was."""
    return tuple(result.float() for result in _finish(state))


def kept_from_zero(state):
    """The sum is only kept from 0, by a tiny ε: a query that saw no key has a gradient of 1/ε."""
    total = state.row_sum.clamp(min=1e-12)
    output = state.accumulator / total[..., None]
    return output, state.row_max + torch.log(total)


def _total(state):
    return state.row_sum.clamp(min=1.0)


def _finish(state):
    unseen, total = state.row_sum == 0, _total(state)
    output = (state.accumulator / total[..., None]).masked_fill(unseen[..., None], 0.0)
    return output, (state.row_max + torch.log(total)).masked_fill(unseen, -math.inf)
