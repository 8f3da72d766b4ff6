"""Right but unusual versions of step 101."""

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
