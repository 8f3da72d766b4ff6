"""Right but unusual versions of step 104."""

import heapq
import re
from collections import Counter, defaultdict
from itertools import groupby, pairwise


def only_what_changed(word_counts, num_merges):
    """Only the words that hold the new symbol are counted anew, as fast implementations do it."""
    spelled = {word: list(word) for word in word_counts}
    counts, homes = Counter(), defaultdict(set)

    def enter(word, sign):
        for pair in _pairs(spelled[word]):
            counts[pair] += sign * word_counts[word]
            homes[pair].add(word)

    for word in spelled:
        enter(word, +1)
    merges = []
    for _ in range(num_merges):
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if not best or counts[best] < 2:
            break
        merges.append(best)
        for word in homes.pop(best):
            enter(word, -1)
            spelled[word] = _merged(spelled[word], best)
            enter(word, +1)
    return merges


def text_with_blanks(word_counts, num_merges):
    """Words are texts with a mark between symbols, and regular expressions count and glue."""
    texts = [("\n" + "\n".join(word) + "\n", count) for word, count in word_counts.items()]
    merges = []
    while len(merges) < num_merges:
        counts = Counter()
        for text, count in texts:
            for pair in set(pairwise(text[1:-1].split("\n"))):
                counts[pair] += count * len(_glue(*pair).findall(text))
        ranked = heapq.nsmallest(1, counts.items(), key=lambda item: (-item[1], item[0]))
        if not ranked or ranked[0][1] < 2:
            break
        merges.append(ranked[0][0])
        glued = "".join(merges[-1])
        texts = [(_glue(*merges[-1]).sub(glued, text), count) for text, count in texts]
    return merges


def _glue(left, right):
    return re.compile(rf"(?<=\n){re.escape(left)}\n{re.escape(right)}(?=\n)")


def _pairs(symbols):
    """Neighbours that differ, and of each run half of its length, rounded down."""
    yield from (pair for pair in pairwise(symbols) if pair[0] != pair[1])
    for symbol, run in groupby(symbols):
        yield from [(symbol, symbol)] * (len(list(run)) // 2)


def _merged(symbols, pair):
    merged, place = [], 0
    while place < len(symbols):
        if tuple(symbols[place : place + 2]) == pair:
            merged.append("".join(pair))
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return merged
