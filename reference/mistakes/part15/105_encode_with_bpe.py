"""Wrong versions of step 105, one slip each."""

from itertools import pairwise


def first_pair_from_the_left(word, merges):
    """The first listed pair from the left is glued, not the one that was learned first."""
    symbols, known = list(word), set(merges)
    while there := [pair for pair in pairwise(symbols) if pair in known]:
        symbols = _merged(symbols, there[0])
    return symbols


def newest_first(word, merges):
    """The pair that was learned last is glued first."""
    return _encoded(word, merges, choose=max)


def list_gone_through_once(word, merges):
    """The list is gone through once from its top: what a later merge makes possible is missed."""
    symbols = list(word)
    for pair in merges:
        symbols = _merged(symbols, pair)
    return symbols


def stops_after_one_round(word, merges):
    """One pair is glued, and nobody looks again."""
    return _encoded(word, merges, rounds=1)


def last_pair_left_out(word, merges):
    """The last pair of the list is never glued."""
    return _encoded(word, merges[:-1])


def one_occurrence_at_a_time(word, merges):
    """One occurrence is glued and the list searched anew, before the others are glued."""
    return _encoded(word, merges, merge=_merged_once)


def first_occurrence_only(word, merges):
    """Only the first occurrence of a pair is glued; the others never."""
    symbols, ranks = list(word), _ranks(merges)
    while there := set(pairwise(symbols)) & ranks.keys():
        pair = min(there, key=ranks.get)
        symbols = _merged_once(symbols, pair)
        del ranks[pair]
    return symbols


def last_rank_counts(word, merges):
    """Of a pair that is listed twice the later rank counts."""
    return _encoded(word, merges, ranks={pair: rank for rank, pair in enumerate(merges)})


def ranks_by_text(word, merges):
    """Pairs count as one when they make the same text: a·bc is glued where ab·c is listed."""
    ranks, symbols = _ranks(["".join(pair) for pair in merges]), list(word)
    while there := [pair for pair in pairwise(symbols) if "".join(pair) in ranks]:
        symbols = _merged(symbols, min(there, key=lambda pair: ranks["".join(pair)]))
    return symbols


def longest_pair_first(word, merges):
    """Of the listed pairs the one that makes the longest piece is glued first."""
    symbols, known = list(word), set(merges)
    while there := [pair for pair in pairwise(symbols) if pair in known]:
        symbols = _merged(symbols, max(there, key=lambda pair: len("".join(pair))))
    return symbols


def longest_piece_first(word, merges):
    """From the left the longest piece is taken that occurs in the list, in whatever order."""
    pieces, symbols = {"".join(pair) for pair in merges}, []
    while word:
        sizes = [size for size in range(1, len(word) + 1) if size == 1 or word[:size] in pieces]
        symbols.append(word[: max(sizes)])
        word = word[max(sizes) :]
    return symbols


def text_replaced(word, merges):
    """The glue is ``text.replace("a t", "at")``: it finds the a in another symbol too."""

    def replaced(symbols, pair):
        return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" ")

    return _encoded(word, merges, merge=replaced)


def blanks_lost(word, merges):
    """The symbols are kept in one text with blanks between them: a blank in the word is lost."""
    return " ".join(_encoded(word, merges)).split()


def unseen_becomes_unknown(word, merges):
    """A character that no merge mentions becomes ``<unk>``: the text is lost."""
    seen = set("".join(left + right for left, right in merges))
    pieces = _encoded(word, merges)
    return [piece if set(piece) <= seen or not merges else "<unk>" for piece in pieces]


def unseen_dropped(word, merges):
    """A character that no merge mentions is dropped."""
    seen = set("".join(left + right for left, right in merges))
    return [piece for piece in _encoded(word, merges) if set(piece) <= seen or not merges]


def empty_word_is_a_piece(word, merges):
    """The empty word becomes one empty piece."""
    return _encoded(word, merges) or [""]


def blanks_for_a_list(word, merges):
    """The pieces come as one text with blanks in it, not as a list."""
    return " ".join(_encoded(word, merges))


def _ranks(merges):
    return {pair: rank for rank, pair in reversed(list(enumerate(merges)))}


def _encoded(word, merges, choose=min, merge=None, ranks=None, rounds=1000):
    symbols, ranks = list(word), ranks or _ranks(merges)
    while rounds and (there := set(pairwise(symbols)) & ranks.keys()):
        symbols = (merge or _merged)(symbols, choose(there, key=ranks.get))
        rounds -= 1
    return symbols


def _merged(symbols, pair):
    merged = []
    for symbol in symbols:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def _merged_once(symbols, pair):
    place = list(pairwise(symbols)).index(pair)
    return [*symbols[:place], "".join(pair), *symbols[place + 2 :]]
