"""Right but unusual versions of step 105."""

import re
from itertools import pairwise


def recursive(word, merges):
    """A word is split at the best pair, and what comes of it is looked at again."""
    return _glued(tuple(word), {pair: -rank for rank, pair in reversed([*enumerate(merges)])})


def _glued(symbols, ranks):
    best = max(pairwise(symbols), key=lambda pair: ranks.get(pair, -len(ranks) - 1e9), default=None)
    if best not in ranks:
        return list(symbols)
    merged, rest = [], list(symbols)
    while rest:
        size = 2 if tuple(rest[:2]) == best else 1
        merged.append("".join(rest[:size]))
        rest = rest[size:]
    return _glued(tuple(merged), ranks)


def boundaries(word, merges):
    """The word stays whole; only the cuts in it are kept, and taken away pair by pair."""
    cuts = list(range(len(word) + 1))
    while True:
        pieces = [word[a:b] for a, b in pairwise(cuts)]
        known = [merges.index(pair) for pair in pairwise(pieces) if pair in merges]
        if not known:
            return pieces
        place = 0
        while place + 2 < len(cuts):
            here = word[cuts[place] : cuts[place + 1]], word[cuts[place + 1] : cuts[place + 2]]
            if here == tuple(merges[min(known)]):
                del cuts[place + 1]
            place += 1


def text_with_marks(word, merges):
    """Symbols in one text with a mark between them; a regular expression glues whole symbols."""
    text, ranks = "\0".join(word), {}
    for rank, pair in enumerate(merges):
        ranks[pair] = min(rank, ranks.get(pair, rank))
    while known := [pair for pair in pairwise(text.split("\0")) if pair in ranks]:
        left, right = map(re.escape, min(known, key=ranks.get))
        text = re.sub(
            rf"(?<![^\0]){left}\0{right}(?![^\0])", lambda m: m[0].replace("\0", ""), text
        )
    return text.split("\0") if text else []
