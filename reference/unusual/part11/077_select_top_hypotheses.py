"""Right but unusual versions of step 077."""

import bisect
import heapq


def heap(candidates, beam_size):
    """The smallest of (−score, ids), found without sorting all."""
    if not beam_size >= 1:
        raise ValueError(f"beam_size = {beam_size}")
    return heapq.nsmallest(beam_size, candidates, key=lambda each: (-each[1], each[0]))


def two_stable_sorts(candidates, beam_size):
    """First by ids, then by score downwards: a stable sort leaves those that tie as they stand."""
    if beam_size <= 0:
        raise ValueError(f"expected at least 1, got {beam_size}")
    ranked = sorted(candidates, key=lambda each: each.token_ids)
    ranked.sort(key=lambda each: each.log_prob, reverse=True)
    del ranked[beam_size:]
    return ranked


def inserted_one_by_one(candidates, beam_size):
    """A short list is kept in order; whoever falls off its end is out."""
    if beam_size in range(1, 10**9):
        top = []
        for each in candidates:
            bisect.insort(top, each, key=lambda one: (-one.log_prob, one.token_ids))
            top = top[:beam_size]
        return top
    raise ValueError(f"{beam_size} is no size for a beam")
