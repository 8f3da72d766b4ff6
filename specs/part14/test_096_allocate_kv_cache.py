"""096 · allocate_kv_cache. Lesson: 096_allocate_kv_cache.md."""

import pytest
import torch

from kata.part14_fast_decoding import allocate_kv_cache
from specs.harness import draw_weights
from specs.harness.check import assert_close, assert_equal

CONFIG = draw_weights.TINY._replace(num_layers=3, num_heads=4, d_model=20)  # d_k = 5


def rooms(cache):
    """Every tensor in the cache."""
    return [tensor for layer in cache.self_attention for tensor in (layer.keys, layer.values)]


def test_shape_by_hand():
    """Two sentences, four heads, seven places, 20 / 4 = 5 numbers a head: keys and values alike."""
    cache = allocate_kv_cache(CONFIG, batch_size=2, max_length=7)
    assert_equal([tuple(room.shape) for room in rooms(cache)], [(2, 4, 7, 5)] * 6)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_one_cache_a_layer(layers):
    """Each layer has keys and values of its own, and nothing is in them yet."""
    cache = allocate_kv_cache(CONFIG._replace(num_layers=layers), 2, 7)
    assert_equal([layer.length for layer in cache.self_attention], [0] * layers)


def test_rooms_are_empty():
    """Zeros: nothing can be read that lay in the memory before."""
    cache = allocate_kv_cache(CONFIG, 1, 2)
    assert_close([room.sum() for room in rooms(cache)], [0.0] * 6)


def test_memory_has_not_been_read():
    """No source is known yet: the list for cross-attention is there, and empty."""
    assert_equal(allocate_kv_cache(CONFIG, 2, 7).cross_attention, [])


def test_nothing_is_shared():
    """Writing 1, 2, … 6 into the six tensors leaves six numbers, and not the last one six times."""
    written = rooms(allocate_kv_cache(CONFIG, 1, 2))
    [room.fill_(number) for number, room in enumerate(written, start=1)]
    assert_close([room.amin() for room in written], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def test_places_are_not_shared():
    """Each place of a room can be written by itself: 1 at one of 3 · 4 · 2 · 5 makes a sum of 1."""
    room = allocate_kv_cache(CONFIG, 3, 2).self_attention[0].keys
    room[0, 0, 0, 0] = 1.0
    assert_close(room.sum(), 1.0)


def test_layers_are_not_shared():
    """A token in the first layer's cache is not one in the second's."""
    cache = allocate_kv_cache(CONFIG, 2, 7)
    cache.self_attention[0].length = 1
    assert_equal([layer.length for layer in cache.self_attention], [1, 0, 0])


def test_every_call_makes_a_cache_of_its_own():
    """What one decoding puts into its list for the memory, another does not find."""
    allocate_kv_cache(CONFIG, 2, 7).cross_attention.append("read")
    assert_equal(allocate_kv_cache(CONFIG, 2, 7).cross_attention, [])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The dtype asked for, whatever torch's default is."""
    cache = allocate_kv_cache(CONFIG, 2, 7, dtype=dtype)
    assert_equal([room.dtype for room in rooms(cache)], [dtype] * 6)


def test_float32_if_nothing_is_said():
    """As everywhere in this kata."""
    cache = allocate_kv_cache(CONFIG, 2, 7)
    assert_equal([room.dtype for room in rooms(cache)], [torch.float32] * 6)


def test_device_is_the_one_asked_for():
    """The meta device stands in for a GPU."""
    cache = allocate_kv_cache(CONFIG, 2, 7, device="meta")
    assert_equal([room.device.type for room in rooms(cache)], ["meta"] * 6)


def test_no_gradient_is_asked_for():
    """A cache is written to in place; a leaf that takes a gradient could not be."""
    cache = allocate_kv_cache(CONFIG, 2, 7)
    assert not any(room.requires_grad for room in rooms(cache)), "The cache asks for a gradient."
