"""098 · attend_with_kv_cache. Lesson: 098_attend_with_kv_cache.md."""

from math import log, nan

import pytest
import torch
from torch.nn import functional

from kata.part14_fast_decoding import attend_with_kv_cache
from kata.weights import KVCache
from specs.harness import draw
from specs.harness.check import assert_close, rejects


def column(*numbers):
    """One sentence, one head, one feature, so many positions."""
    return torch.tensor([*map(float, numbers)])[None, None, :, None]


def test_two_keys_by_hand():
    """Scores ln 3 and 0: weights 3/4 and 1/4 for the values 4 and 8 make 5."""
    cache = KVCache(column(log(3), 0), column(4, 8), length=2)
    assert_close(attend_with_kv_cache(column(1), cache), [[[[5.0]]]])


def test_newest_query_hears_its_own_key():
    """Values 1 and 3, weighed alike: 2. Without its own it would be 1."""
    cache = KVCache(column(0, 0), column(1, 3), length=2)
    assert_close(attend_with_kv_cache(column(0), cache), [[[[2.0]]]])


def test_first_queries_are_causal():
    """A cache that holds just their own three keys: means of 3; of 3, 5; of 3, 5, 10."""
    cache = KVCache(column(0, 0, 0), column(3, 5, 10), length=3)
    assert_close(attend_with_kv_cache(column(0, 0, 0), cache), [[[[3.0], [4.0], [6.0]]]])


def test_later_queries_stand_at_the_end():
    """Two queries, four keys: the first hears three of them, 3 + 5 + 10 = 18, the second 22."""
    cache = KVCache(column(0, 0, 0, 0), column(3, 5, 10, 4), length=4)
    assert_close(attend_with_kv_cache(column(0, 0), cache), [[[[6.0], [5.5]]]])


def test_free_places_are_not_looked_at():
    """Behind the length lies NaN."""
    cache = KVCache(column(0, 0, nan, nan), column(1, 3, nan, nan), length=2)
    assert_close(attend_with_kv_cache(column(0), cache), [[[[2.0]]]])


def test_scores_are_divided_by_the_root_of_the_width():
    """d_k = 4: scores 2 ln 3 and 0 are halved, and (3 · 4 + 8) / 4 = 5 is heard."""
    query, keys = torch.ones(1, 1, 1, 4), column(log(3) / 2, 0).expand(1, 1, 2, 4)
    cache = KVCache(keys, column(4, 8).expand(1, 1, 2, 4), length=2)
    assert_close(attend_with_kv_cache(query, cache), [[[[5.0] * 4]]])


@pytest.mark.parametrize(("queries", "length"), [(2, 1), (1, 0)])
def test_more_queries_than_keys_are_an_error(queries, length):
    """A query whose own key is not there was sent too early."""
    cache = KVCache(column(0, 0, 0), column(1, 2, 3), length)
    with rejects(ValueError, naming=(queries, length)):
        attend_with_kv_cache(column(*[0] * queries), cache)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """2 is 2 in every type."""
    cache = KVCache(column(0, 0).to(dtype), column(1, 3).to(dtype), length=2)
    assert_close(attend_with_kv_cache(column(0).to(dtype), cache), [[[[2.0]]]])


@pytest.mark.parametrize("size", draw.sizes("batch heads queries before free d_k"), ids=str)
def test_agrees_with_torch(size):
    """The last rows of a causal mask, in float64."""
    lead, length = (size.batch, size.heads), size.queries + size.before
    queries = draw.floats(*lead, size.queries, size.d_k, seed=1).double()
    keys = draw.floats(*lead, length + size.free, size.d_k, seed=2).double()
    values = draw.floats(*lead, length + size.free, size.d_k, seed=3).double()
    answer = attend_with_kv_cache(queries, KVCache(keys, values, length))
    mask = torch.ones(size.queries, length, dtype=torch.bool).tril(size.before)
    seen = keys[:, :, :length], values[:, :, :length]
    assert_close(answer, functional.scaled_dot_product_attention(queries, *seen, mask))
