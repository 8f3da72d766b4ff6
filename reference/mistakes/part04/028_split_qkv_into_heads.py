"""Wrong versions of split_qkv_into_heads, one slip each."""

from kata.part04_multi_head import split_last_dim_into_heads as _split
from kata.part04_multi_head import transpose_heads_before_sequence as _heads_first


def _split_all(queries, keys, values, num_heads):
    """The right answer, to spoil."""
    return tuple(_heads_first(_split(x, num_heads)) for x in (queries, keys, values))


def not_transposed(queries, keys, values, num_heads):
    """The width is split, but the heads still stand behind the tokens."""
    return tuple(_split(x, num_heads) for x in (queries, keys, values))


def reshaped_straight(queries, keys, values, num_heads):
    """Each tensor is reshaped straight to (batch, heads, length, d_k): tokens are torn up."""
    return tuple(x.reshape(x.shape[0], num_heads, x.shape[1], -1) for x in (queries, keys, values))


def keys_turned_round_already(queries, keys, values, num_heads):
    """The keys are transposed for the product already: that is part 3's business."""
    queries, keys, values = _split_all(queries, keys, values, num_heads)
    return queries, keys.transpose(-2, -1), values


def length_of_the_queries(queries, keys, values, num_heads):
    """Keys and values are reshaped with the length of the queries."""
    batch, length, _ = queries.shape
    return tuple(
        x.reshape(batch, length, num_heads, -1).transpose(1, 2) for x in (queries, keys, values)
    )


def values_before_keys(queries, keys, values, num_heads):
    """Values and keys are returned in each other's place."""
    queries, keys, values = _split_all(queries, keys, values, num_heads)
    return queries, values, keys


def values_left_whole(queries, keys, values, num_heads):
    """The values are not split at all."""
    return (*_split_all(queries, keys, values, num_heads)[:2], values)


def values_are_the_keys(queries, keys, values, num_heads):
    """The keys are split twice, and handed back as the values too."""
    return _split_all(queries, keys, keys, num_heads)


def leftover_features_dropped(queries, keys, values, num_heads):
    """A width that the heads cannot share loses its last features in silence."""
    width = queries.shape[-1] // num_heads * num_heads
    return _split_all(*(x[..., :width] for x in (queries, keys, values)), num_heads)


def folded_into_the_batch(queries, keys, values, num_heads):
    """Sentences and heads are folded into one axis."""
    return tuple(x.flatten(0, 1) for x in _split_all(queries, keys, values, num_heads))


def dealt_like_cards(queries, keys, values, num_heads):
    """Features are dealt out like cards, one to each head in turn: a head gets no neighbours."""
    return tuple(
        x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2) for x in (queries, keys, values)
    )


def keys_detached(queries, keys, values, num_heads):
    """The keys are detached, so that their projection never learns."""
    return _split_all(queries, keys.detach(), values, num_heads)
