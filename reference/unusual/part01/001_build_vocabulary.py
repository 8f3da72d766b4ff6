"""Right but unusual versions of step 001."""

import heapq
from collections import Counter, OrderedDict, defaultdict
from itertools import chain, count, groupby

_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


def _checked(min_frequency, special_tokens):
    if not min_frequency >= 1:
        raise ValueError(f"expected a min_frequency of 1 or more, not {min_frequency!r}")
    twice = [token for token, times in Counter(special_tokens).items() if times > 1]
    if twice:
        raise ValueError(f"given more than once: {', '.join(twice)}")
    return list(special_tokens)


def most_common_of_sorted_tokens(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """Tokens are sorted before they are counted, so that ``most_common`` keeps ties in order."""
    ids = _checked(min_frequency, special_tokens)
    counted = Counter(sorted(chain.from_iterable(sentences))).most_common()
    ids += [token for token, times in counted if times >= min_frequency and token not in ids]
    return dict(zip(ids, count()))


def ordered_dictionary(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """An ``OrderedDict`` is a dict that was made when dicts forgot their order."""
    return OrderedDict(most_common_of_sorted_tokens(sentences, min_frequency, special_tokens))


def runs_of_one_sorted_list(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """The whole corpus becomes one sorted list, whose runs ``groupby`` measures."""
    specials = _checked(min_frequency, special_tokens)
    corpus = []
    for sentence in sentences:
        corpus.extend(sentence)
    runs = [(token, len(list(run))) for token, run in groupby(sorted(corpus))]
    runs.sort(key=lambda run: run[1], reverse=True)
    words = [token for token, times in runs if times >= min_frequency and token not in specials]
    return {token: place for place, token in enumerate(specials + words)}


def two_stable_sorts(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """By code point first and by count second, in place: the second sort leaves ties alone."""
    specials, times = _checked(min_frequency, special_tokens), {}
    for sentence in sentences:
        for token in sentence:
            times[token] = times.get(token, 0) + 1
    for token in specials:
        times.pop(token, None)
    words = list(times)
    words.sort()
    words.sort(key=times.__getitem__, reverse=True)
    vocabulary = {}
    for token in [*specials, *(word for word in words if not times[word] < min_frequency)]:
        vocabulary[token] = len(vocabulary)
    return vocabulary


def a_shelf_for_each_frequency(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """Tokens are put on shelves by frequency, and the shelves are read from the top down."""
    vocabulary = dict(zip(_checked(min_frequency, special_tokens), range(10**9), strict=False))
    shelves = defaultdict(set)
    for token, times in Counter(token for tokens in sentences for token in tokens).items():
        shelves[times].add(token)
    for times in range(max(shelves, default=0), min_frequency - 1, -1):
        for token in sorted(shelves[times] - vocabulary.keys()):
            vocabulary[token] = max(vocabulary.values(), default=-1) + 1
    return vocabulary


def popped_from_a_heap(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """A heap of (minus count, token) hands the tokens out; arguments are checked at the end."""
    times = Counter()
    for sentence in sentences:
        times.update(sentence)
    heap = [(-often, token) for token, often in times.items() if often >= min_frequency]
    heapq.heapify(heap)
    ids = dict.fromkeys(_checked(min_frequency, special_tokens))
    while heap:
        ids.setdefault(heapq.heappop(heap)[1])
    return {token: place for place, token in enumerate(ids)}


def right_ids_in_another_order(sentences, min_frequency=1, special_tokens=_SPECIAL):
    """The rarest word is entered first: every word has its id all the same."""
    seated = popped_from_a_heap(sentences, min_frequency, special_tokens)
    return dict(reversed(seated.items()))
