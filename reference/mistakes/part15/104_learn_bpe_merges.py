"""Wrong versions of step 104, one slip each."""

from collections import Counter
from itertools import pairwise


def overlaps_counted(word_counts, num_merges):
    """Pairs that overlap are counted both: aaa is said to hold aa twice."""
    return _learn(word_counts, num_merges, pairs=pairwise)


def each_word_counted_once(word_counts, num_merges):
    """Every word counts once, however often it occurs."""
    return _learn(word_counts, num_merges, weight=lambda count: 1)


def each_pair_counted_once_a_word(word_counts, num_merges):
    """A pair that stands in a word twice is counted once there."""
    return _learn(word_counts, num_merges, pairs=lambda symbols: set(pairwise(symbols)))


def ties_as_they_come(word_counts, num_merges):
    """Of equally frequent pairs the one met first is taken: other files, other merges."""
    return _learn(word_counts, num_merges, best=lambda counts: max(counts, key=counts.get))


def ties_backwards(word_counts, num_merges):
    """Of equally frequent pairs the last in order is taken."""
    return _learn(
        word_counts, num_merges, best=lambda counts: max(counts, key=lambda p: (counts[p], p))
    )


def single_pairs_merged(word_counts, num_merges):
    """Pairs that occur only once are glued too: whole words are learned by heart."""
    return _learn(word_counts, num_merges, least=1)


def stops_at_two(word_counts, num_merges):
    """Pairs that occur exactly twice are left out."""
    return _learn(word_counts, num_merges, least=3)


def counted_only_once(word_counts, num_merges):
    """The pairs are counted once, at the start: nothing is ever built on a merge."""
    counts = _counted({word: list(word) for word in word_counts}, word_counts)
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [pair for pair in ranked if counts[pair] >= 2][:num_merges]


def end_of_word_marked(word_counts, num_merges):
    """Words end with a mark, as in the first paper about it; here none is wanted."""
    return _learn(word_counts, num_merges, spell=lambda word: [*word, "</w>"])


def words_touch(word_counts, num_merges):
    """All words are written in one line: the end of one and the start of the next make pairs."""
    line = "".join(word * count for word, count in word_counts.items())
    return _learn({line: 1}, num_merges)


def text_replaced(word_counts, num_merges):
    """The glue is ``text.replace("a t", "at")``: it finds the a in another symbol too."""

    def replaced(symbols, pair):
        return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split()

    return _learn(word_counts, num_merges, merge=replaced)


def first_occurrence_only(word_counts, num_merges):
    """Only the first occurrence in a word is glued."""

    def merged_once(symbols, pair):
        for place, here in enumerate(pairwise(symbols)):
            if here == pair:
                return [*symbols[:place], "".join(pair), *symbols[place + 2 :]]
        return symbols

    return _learn(word_counts, num_merges, merge=merged_once)


def merged_from_the_right(word_counts, num_merges):
    """A run is glued from its right end: aaa becomes a·aa."""

    def backwards(symbols, pair):
        turned = _merged([symbol[::-1] for symbol in symbols[::-1]], _turned(pair))
        return [symbol[::-1] for symbol in turned[::-1]]

    return _learn(word_counts, num_merges, merge=backwards)


def joined_pairs_returned(word_counts, num_merges):
    """The new symbols are returned, and not the pairs that they were made of."""
    return ["".join(pair) for pair in _learn(word_counts, num_merges)]


def _learn(
    word_counts,
    num_merges,
    spell=list,
    pairs=None,
    weight=lambda count: count,
    best=lambda counts: min(counts, key=lambda pair: (-counts[pair], pair)),
    least=2,
    merge=None,
):  # fmt: skip
    spelled = {word: spell(word) for word in word_counts}
    weights = {word: weight(count) for word, count in word_counts.items()}
    merges = []
    while len(merges) < num_merges:
        counts = _counted(spelled, weights, pairs)
        if not counts or counts[best(counts)] < least:
            break
        merges.append(best(counts))
        spelled = {w: (merge or _merged)(s, merges[-1]) for w, s in spelled.items()}
    return merges


def _counted(spelled, weights, pairs=None):
    counts = Counter()
    for word, symbols in spelled.items():
        for pair in (pairs or _pairs)(symbols):
            counts[pair] += weights[word]
    return counts


def _pairs(symbols):
    last = None
    for pair in pairwise(symbols):
        last = None if pair == last else pair
        if last:
            yield pair


def _merged(symbols, pair):
    merged = []
    for symbol in symbols:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def _turned(pair):
    return pair[1][::-1], pair[0][::-1]
