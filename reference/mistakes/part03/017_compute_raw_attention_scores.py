"""Wrong versions of step 017, one slip each."""

import math

import torch


def queries_and_keys_swapped(queries, keys):
    """Rows and columns have changed places: here keys are the rows and queries the columns."""
    _check(queries, keys)
    return keys @ queries.transpose(-2, -1)


def reshaped_not_transposed(queries, keys):
    """The keys are reshaped, not transposed: their numbers are dealt out in the wrong order."""
    _check(queries, keys)
    shape = (*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
    return queries @ keys.reshape(shape)


def scaled_already(queries, keys):
    """The scores are scaled here already, and step 018 will scale them again."""
    _check(queries, keys)
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


def cosine(queries, keys):
    """The vectors are brought to length 1 first: a cosine, not a dot product."""
    _check(queries, keys)
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    return queries @ keys.transpose(-2, -1)


def four_dimensions_only(queries, keys):
    """Only four dimensions work, batch and heads in front: two or three do not."""
    _check(queries, keys)
    return torch.einsum("bhqd,bhkd->bhqk", queries, keys)


def every_axis_turned(queries, keys):
    """All axes of the keys are turned round, not only the last two."""
    _check(queries, keys)
    return queries @ keys.permute(*reversed(range(keys.ndim)))


def axes_counted_from_the_front(queries, keys):
    """The axes are counted from the front, which is right for one number of axes and no other."""
    _check(queries, keys)
    return queries @ keys.transpose(1, 2)


def detached(queries, keys):
    """The keys are detached: no gradient flows back to them."""
    _check(queries, keys)
    return queries @ keys.detach().transpose(-2, -1)


def widths_unchecked(queries, keys):
    """Widths are not compared: torch complains about matrices, or stretches a width of 1."""
    return (queries[..., :, None, :] * keys[..., None, :, :]).sum(-1)


def _check(queries, keys):
    widths = queries.shape[-1], keys.shape[-1]
    if widths[0] != widths[1]:
        raise ValueError(f"queries and keys must have one width, got {widths[0]} and {widths[1]}")
