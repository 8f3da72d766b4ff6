"""097 · append_to_kv_cache. Lesson: 097_append_to_kv_cache.md."""

import pytest
import torch

from kata.part14_fast_decoding import append_to_kv_cache
from kata.weights import KVCache
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects

CHANGES = ("cache",)


def room(*numbers, capacity=3):
    """A cache of one sentence, one head and one feature: keys as told, values ten times that."""
    keys = torch.tensor([*numbers] + [0.0] * (capacity - len(numbers)))[None, None, :, None]
    return KVCache(keys, 10 * keys, len(numbers))


def entries(*numbers):
    """Keys and values to append."""
    keys = torch.tensor([*map(float, numbers)])[None, None, :, None]
    return keys, 10 * keys


def written(cache):
    """All that stands in the cache, free places too."""
    return cache.keys.flatten().tolist(), cache.values.flatten().tolist(), cache.length


def test_first_entry_by_hand():
    """Key 5 and value 50 take the first place."""
    cache = room()
    append_to_kv_cache(cache, *entries(5))
    assert_equal(written(cache), ([5.0, 0.0, 0.0], [50.0, 0.0, 0.0], 1))


def test_next_entry_stands_behind_the_first():
    """7 behind 5; the length counts both."""
    cache = room(5.0)
    append_to_kv_cache(cache, *entries(7))
    assert_equal(written(cache), ([5.0, 7.0, 0.0], [50.0, 70.0, 0.0], 2))


def test_several_at_once_up_to_the_last_place():
    """7 and 9 fill the room."""
    cache = room(5.0)
    append_to_kv_cache(cache, *entries(7, 9))
    assert_equal(written(cache), ([5.0, 7.0, 9.0], [50.0, 70.0, 90.0], 3))


def test_length_says_what_is_free():
    """What an earlier sentence left behind the length is written over."""
    cache = room(5.0, 6.0, 7.0)
    cache.length = 1
    append_to_kv_cache(cache, *entries(8))
    assert_equal(written(cache), ([5.0, 8.0, 7.0], [50.0, 80.0, 70.0], 2))


def test_it_happens_in_place():
    """The same tensors as before: nothing is copied for one more token, nothing comes back."""
    cache = room(5.0)
    before = cache.keys, cache.values
    assert_equal(append_to_kv_cache(cache, *entries(7)), None)
    same = cache.keys is before[0] and cache.values is before[1]
    assert same, "The cache holds other tensors now."


@pytest.mark.parametrize(("taken", "new"), [(3, 1), (2, 2), (0, 4)])
def test_what_does_not_fit_is_an_error(taken, new):
    """Three places."""
    with rejects(ValueError, naming=(new, 3)):
        append_to_kv_cache(room(*[5.0] * taken), *entries(*[7] * new))


def attempt(cache, keys, values):
    """Append what does not fit, and say what stands in the cache afterwards."""
    with rejects(ValueError):
        append_to_kv_cache(cache, keys, values)
    return written(cache)


@pytest.mark.parametrize("numbers", [(7, 8), (7, 8, 9, 9)], ids=str)
def test_nothing_is_written_when_there_is_no_room(numbers):
    """Two places are taken and one is free: it stays free."""
    answer = attempt(room(5.0, 6.0), *entries(*numbers))
    assert_equal(answer, ([5.0, 6.0, 0.0], [50.0, 60.0, 0.0], 2))


def test_nothing_is_written_when_the_values_do_not_fit():
    """The key alone would, and must not be written by itself. One value for two keys, then two."""
    assert_equal(attempt(room(), entries(7, 7)[0], entries(7)[1]), written(room()))
    assert_equal(attempt(room(), entries(7)[0], entries(7, 7)[1]), written(room()))


SHAPES = {
    "sentences": (1, 2, 1, 5),
    "heads": (3, 1, 1, 5),
    "width": (3, 2, 1, 1),
    "axes": (2, 1, 5),
    "two axes": (1, 5),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("wrong", ["keys", "values"])
def test_other_shapes_are_errors(shape, wrong):
    """Three sentences, two heads, width 5: what broadcasts to that is not written."""
    cache = KVCache(torch.zeros(3, 2, 4, 5), torch.zeros(3, 2, 4, 5), 1)
    given = {"keys": torch.ones(3, 2, 1, 5), "values": torch.ones(3, 2, 1, 5)}
    with rejects(ValueError, naming=", ".join(map(str, shape))):
        append_to_kv_cache(cache, **given | {wrong: torch.ones(shape)})
    assert_equal((cache.keys.sum().item(), cache.values.sum().item(), cache.length), (0.0, 0.0, 1))


def test_no_graph_is_kept():
    """Keys and values have a way back to the weights; the cache remembers numbers only."""
    cache = room(5.0)
    keys, values = (entry.requires_grad_() * 1 for entry in entries(7))
    append_to_kv_cache(cache, keys, values)
    kept = cache.keys.requires_grad or cache.values.requires_grad
    assert not kept, "The cache keeps the graph of every token."


def test_entries_are_copied():
    """What the caller does to the keys afterwards does not reach the cache."""
    cache, (keys, values) = room(capacity=1), entries(7)
    append_to_kv_cache(cache, keys, values)
    keys.zero_()
    assert_close(cache.keys, [[[[7.0]]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Half caches take half keys."""
    cache = KVCache(torch.zeros(1, 1, 2, 1, dtype=dtype), torch.zeros(1, 1, 2, 1, dtype=dtype), 0)
    append_to_kv_cache(cache, *(entry.to(dtype) for entry in entries(7)))
    assert_close(cache.values, [[[[70.0], [0.0]]]])


@pytest.mark.parametrize("size", draw.sizes("batch heads taken new free d_k"), ids=str)
def test_agrees_with_concatenation(size):
    """Taken, new, free: the keys are torch.cat of the three, and so are the values."""
    lead, places = (size.batch, size.heads), (size.taken, size.new, size.free)
    keys = [draw.floats(*lead, length, size.d_k, seed=seed) for seed, length in enumerate(places)]
    values = [-part.flip(2) for part in keys]
    old = [
        torch.cat([each[0], torch.zeros_like(each[1]), each[2]], dim=2) for each in (keys, values)
    ]
    cache = KVCache(*old, size.taken)
    append_to_kv_cache(cache, keys[1], values[1])
    assert_equal(cache.length, size.taken + size.new)
    assert_close((cache.keys, cache.values), (torch.cat(keys, dim=2), torch.cat(values, dim=2)))
