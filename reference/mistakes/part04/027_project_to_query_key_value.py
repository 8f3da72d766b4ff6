"""Wrong versions of project_to_query_key_value, one slip each."""

from math import sqrt

from kata.part04_multi_head import apply_linear_projection as _project


def all_from_memory(x, memory, weights):
    """Queries, keys and values all come from the memory: x is never asked."""
    return (
        _project(memory, *weights.query),
        _project(memory, *weights.key),
        _project(memory, *weights.value),
    )


def all_from_x(x, memory, weights):
    """Queries, keys and values all come from x: the memory is never read."""
    return _project(x, *weights.query), _project(x, *weights.key), _project(x, *weights.value)


def x_and_memory_swapped(x, memory, weights):
    """x and memory are swapped: the memory asks, and x answers."""
    return (
        _project(memory, *weights.query),
        _project(x, *weights.key),
        _project(x, *weights.value),
    )


def keys_from_x(x, memory, weights):
    """The keys come from x, and only the values from the memory."""
    return _project(x, *weights.query), _project(x, *weights.key), _project(memory, *weights.value)


def values_from_x(x, memory, weights):
    """The values come from x, and only the keys from the memory."""
    return _project(x, *weights.query), _project(memory, *weights.key), _project(x, *weights.value)


def values_by_the_key_matrix(x, memory, weights):
    """The values go through the key's projection."""
    return (
        _project(x, *weights.query),
        _project(memory, *weights.key),
        _project(memory, *weights.key),
    )


def one_projection_for_all(x, memory, weights):
    """All three go through the query's projection."""
    return (
        _project(x, *weights.query),
        _project(memory, *weights.query),
        _project(memory, *weights.query),
    )


def values_before_keys(x, memory, weights):
    """Values and keys are returned in each other's place."""
    return (
        _project(x, *weights.query),
        _project(memory, *weights.value),
        _project(memory, *weights.key),
    )


def biases_forgotten(x, memory, weights):
    """Only the weights are passed on: all three biases are forgotten."""
    return (
        _project(x, weights.query.weight),
        _project(memory, weights.key.weight),
        _project(memory, weights.value.weight),
    )


def bias_only_with_all_three(x, memory, weights):
    """One look at the query's bias decides for all three."""
    if weights.query.bias is None:
        return biases_forgotten(x, memory, weights)
    return (
        _project(x, *weights.query),
        _project(memory, *weights.key),
        _project(memory, *weights.value),
    )


def weights_not_transposed(x, memory, weights):
    """All three weights are used as they lie, not transposed."""
    return tuple(
        _project(source, weight.T, bias)
        for source, (weight, bias) in zip((x, memory, memory), weights[:3], strict=True)
    )


def queries_scaled_already(x, memory, weights):
    """The queries are scaled here already, and part 3 scales the scores once more."""
    queries = _project(x, *weights.query)
    return (
        queries / sqrt(queries.shape[-1]),
        _project(memory, *weights.key),
        _project(memory, *weights.value),
    )


def projected_once_more(x, memory, weights):
    """The output projection, which belongs behind the heads, is used on the values already."""
    return (
        _project(x, *weights.query),
        _project(memory, *weights.key),
        _project(_project(memory, *weights.value), *weights.output),
    )


def memory_detached(x, memory, weights):
    """The memory is detached, so that no gradient reaches the encoder that wrote it."""
    return (
        _project(x, *weights.query),
        _project(memory.detach(), *weights.key),
        _project(memory.detach(), *weights.value),
    )
