"""Wrong versions of step 101, one slip each."""

import torch

from kata.weights import DecoderCache, KVCache


def other_way_round(cache, beam_indices):
    """Row i goes to row beam_indices[i], where it should come from there."""
    if sorted(beam_indices.tolist()) == list(range(len(beam_indices))):
        beam_indices = beam_indices.argsort()
    return _reorder(cache, beam_indices)


def cross_attention_left(cache, beam_indices):
    """The memory's keys and values stay in their old order."""
    return DecoderCache(_layers(cache.self_attention, beam_indices), _layers(cache.cross_attention))


def cross_attention_dropped(cache, beam_indices):
    """The memory's keys and values are left out, and have to be worked out again."""
    return DecoderCache(_layers(cache.self_attention, beam_indices), [])


def values_left(cache, beam_indices):
    """Only the keys change places."""
    answer, old = _reorder(cache, beam_indices), _reorder(cache, _first(cache, beam_indices))
    for new, was in zip(_all(answer), _all(old), strict=True):
        new.values = was.values
    return answer


def first_layer_alone(cache, beam_indices):
    """Only the first layer's rows change places."""
    answer, old = _reorder(cache, beam_indices), _reorder(cache, _first(cache, beam_indices))
    answer.self_attention[1:] = old.self_attention[1:]
    return answer


def one_by_one_in_place(cache, beam_indices):
    """Rows are copied one after the other within one tensor: some are lost before they are read."""
    answer = _reorder(cache, torch.arange(len(cache.self_attention[0].keys)).to(beam_indices))
    if len(beam_indices) != len(answer.self_attention[0].keys):
        return _reorder(cache, beam_indices)
    for layer in _all(answer):
        for row, index in enumerate(beam_indices.tolist()):
            layer.keys[row] = layer.keys[index]
            layer.values[row] = layer.values[index]
    return answer


def old_cache_changed(cache, beam_indices):
    """The old cache itself is given the new rows."""
    answer = _reorder(cache, beam_indices)
    cache.self_attention, cache.cross_attention = answer.self_attention, answer.cross_attention
    return cache


def shared_when_nothing_moves(cache, beam_indices):
    """When no row moves, the old tensors come back: the next token is written into both caches."""
    if beam_indices.tolist() == list(range(len(cache.self_attention[0].keys))):
        return DecoderCache([*cache.self_attention], [*cache.cross_attention])
    return _reorder(cache, beam_indices)


def starts_over(cache, beam_indices):
    """The length is set back to 0."""
    answer = _reorder(cache, beam_indices)
    for layer in answer.self_attention:
        layer.length = 0
    return answer


def free_places_cut(cache, beam_indices):
    """Only the places that are taken are copied: there is no room for the next token."""
    answer = _reorder(cache, beam_indices)
    for layer in _all(answer):
        layer.keys = layer.keys[:, :, : layer.length].clone()
        layer.values = layer.values[:, :, : layer.length].clone()
    return answer


def _first(cache, beam_indices):
    last = len(cache.self_attention[0].keys) - 1
    return torch.arange(len(beam_indices), device=beam_indices.device).clamp(max=last)


def _all(cache):
    return [*cache.self_attention, *cache.cross_attention]


def _layers(layers, indices=slice(None)):
    return [
        KVCache(each.keys[indices].clone(), each.values[indices].clone(), each.length)
        for each in layers
    ]


def _reorder(cache, indices):
    return DecoderCache(
        _layers(cache.self_attention, indices), _layers(cache.cross_attention, indices)
    )
