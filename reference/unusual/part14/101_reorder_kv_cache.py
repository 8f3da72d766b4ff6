"""Right but unusual versions of step 101."""

from copy import deepcopy as _deepcopy

import torch

from kata.weights import DecoderCache, KVCache


def with_plain_indexing(cache, beam_indices):
    """Advanced indexing copies as well."""
    return DecoderCache(
        *(
            [
                KVCache(each.keys[beam_indices], each.values[beam_indices], each.length)
                for each in part
            ]
            for part in (cache.self_attention, cache.cross_attention)
        )
    )


def row_by_row(cache, beam_indices):
    """Rows are picked one by one and stacked."""

    def pick(room):
        rows = [room[index] for index in beam_indices.tolist()]
        return torch.stack(rows) if rows else room[:0].clone()

    self_attention, cross_attention = [], []
    for new, old in (
        (self_attention, cache.self_attention),
        (cross_attention, cache.cross_attention),
    ):
        for each in old:
            new.append(KVCache(pick(each.keys), pick(each.values), each.length))
    return DecoderCache(self_attention, cross_attention)


def copied_first(cache, beam_indices):
    """The whole cache is copied, and its rows are exchanged in the copy."""
    new = _deepcopy(cache)
    for each in [*new.self_attention, *new.cross_attention]:
        each.keys = each.keys.index_select(0, beam_indices)
        each.values = each.values.index_select(0, beam_indices)
    return new


def only_what_is_taken(cache, beam_indices):
    """Behind the length all is 0: nobody looks there."""

    def pick(room, length):
        new = room.new_zeros((len(beam_indices), *room.shape[1:]))
        new[:, :, :length] = room[:, :, :length][beam_indices]
        return new

    return DecoderCache(
        *(
            [
                KVCache(pick(each.keys, each.length), pick(each.values, each.length), each.length)
                for each in layers
            ]
            for layers in (cache.self_attention, cache.cross_attention)
        )
    )


@torch.no_grad()
def without_a_graph(cache, beam_indices):
    """Decoding has no gradients, and none are kept."""
    return copied_first(cache, beam_indices)
