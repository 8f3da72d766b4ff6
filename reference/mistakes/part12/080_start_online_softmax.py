"""Wrong versions of step 080, one slip each."""

import math

import torch

from kata.weights import OnlineSoftmax


def maximum_from_zero(queries, d_v):
    """The maximum starts at 0: scores far below it are measured against a key that nobody has."""
    return _state(queries, d_v, row_max=0.0)


def finite_maximum(queries, d_v):
    """The maximum starts at −50000, not at −∞: a score of −60000 is below it."""
    return _state(queries, d_v, row_max=-5e4)


def sum_from_one(queries, d_v):
    """The sum starts at 1: a query that sees no key looks as if it had heard one."""
    return _state(queries, d_v, row_sum=1.0)


def accumulator_of_ones(queries, d_v):
    """The accumulator starts at 1: something is mixed in before anybody was heard."""
    return _state(queries, d_v, accumulator=1.0)


def as_wide_as_the_queries(queries, d_v):
    """The accumulator is as wide as the queries, where values may be of another width."""
    return _state(queries, queries.shape[-1])


def with_a_last_axis(queries, d_v):
    """Maximum and sum keep a last axis of size 1: they are one number for each query."""
    state = _state(queries, d_v)
    return state._replace(row_max=state.row_max[..., None], row_sum=state.row_sum[..., None])


def one_for_all_queries(queries, d_v):
    """Maximum and sum are one for each head, where each query needs its own."""
    state = _state(queries, d_v)
    return state._replace(row_max=state.row_max[..., 0], row_sum=state.row_sum[..., 0])


def in_half_precision(queries, d_v):
    """The sums are of the queries' own type: in half precision they soon stop growing."""
    return _state(queries, d_v, dtype=queries.dtype)


def always_float32(queries, d_v):
    """The sums are float32 even for float64 queries."""
    return _state(queries, d_v, dtype=torch.float32)


def on_the_cpu(queries, d_v):
    """The state is made without a device: with queries on a GPU it lies on the CPU."""
    dtype = torch.promote_types(queries.dtype, torch.float32)
    rows = queries.shape[:-1]
    row_max = torch.full(rows, -math.inf, dtype=dtype)
    return OnlineSoftmax(
        row_max, torch.zeros(rows, dtype=dtype), torch.zeros(*rows, d_v, dtype=dtype)
    )


def made_of_the_queries(queries, d_v):
    """The zeros are 0 times the queries, and 0 times NaN or ∞ is NaN."""
    state = _state(queries, d_v)
    return state._replace(row_sum=(queries.detach()[..., 0] * 0).to(state.row_sum.dtype))


def a_plain_tuple(queries, d_v):
    """The three parts come as a plain tuple, not as an OnlineSoftmax."""
    return tuple(_state(queries, d_v))


def _state(queries, d_v, row_max=-math.inf, row_sum=0.0, accumulator=0.0, dtype=None):
    dtype = dtype or torch.promote_types(queries.dtype, torch.float32)
    rows = queries.shape[:-1]
    return OnlineSoftmax(
        queries.new_full(rows, row_max, dtype=dtype),
        queries.new_full(rows, row_sum, dtype=dtype),
        queries.new_full((*rows, d_v), accumulator, dtype=dtype),
    )
