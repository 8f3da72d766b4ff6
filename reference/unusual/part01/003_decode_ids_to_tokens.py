"""Right but unusual versions of step 003."""

from itertools import filterfalse, takewhile


def list_indexed_by_id(ids, vocabulary, end_id=None, skip_ids=()):
    """The tokens stand in a list sorted by id, and the range is checked by hand."""
    by_id = sorted(vocabulary, key=vocabulary.__getitem__)
    tokens = []
    for element in ids:
        place = int(element)
        if end_id is not None and place == end_id:
            return tokens
        if place not in skip_ids:
            if not 0 <= place < len(by_id):
                raise IndexError(f"id {place} is outside 0 to {len(by_id) - 1}")
            tokens.append(by_id[place])
    return tokens


def cut_before_anything_is_read(ids, vocabulary, end_id=None, skip_ids=()):
    """The ids become a plain list, which is cut at ``index(end_id)`` and then sifted."""
    numbers = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if end_id in numbers:
        del numbers[numbers.index(end_id) :]
    words = dict(zip(vocabulary.values(), vocabulary, strict=True))
    try:
        return [words[number] for number in numbers if number not in skip_ids]
    except KeyError as missing:
        raise IndexError(f"no token has id {missing}") from missing


def chain_of_lazy_iterators(ids, vocabulary, end_id=None, skip_ids=()):
    """``takewhile``, ``filterfalse`` and ``map`` do all of it, one id at a time."""
    words = {number: word for word, number in vocabulary.items()}

    def word_of(number):
        if number in words:
            return words[number]
        raise IndexError(number)

    numbers = takewhile(lambda number: number != end_id, (int(element) for element in ids))
    return list(map(word_of, filterfalse(frozenset(skip_ids).__contains__, numbers)))


def reads_to_a_sentinel(ids, vocabulary, end_id=None, skip_ids=()):
    """``iter`` with a sentinel stops at the end id, or where the ids run out."""
    rest = iter([element.__index__() for element in ids])
    words = [None] * (max(vocabulary.values(), default=-1) + 1)
    for word, place in vocabulary.items():
        words[place] = word
    answer = []
    for place in iter(lambda: next(rest, end_id), end_id):
        if place is None:
            break
        if any(place == skipped for skipped in skip_ids):
            continue
        if place < 0 or place >= len(words):
            raise IndexError(f"{place}: the vocabulary has ids 0 to {len(words) - 1}")
        answer += [words[place]]
    return answer


def searched_through_the_items(ids, vocabulary, end_id=None, skip_ids=()):
    """No table is turned round: each id is searched among the vocabulary's items."""
    answer = []
    for i in range(len(ids)):
        one = int(ids[i])
        if one == end_id:
            break
        found = [token for token, place in vocabulary.items() if place == one]
        if one in skip_ids:
            found = []
        elif not found:
            raise IndexError(f"expected an id of the vocabulary, got {one:d}")
        answer.extend(found)
    return answer


def torch_makes_the_list(ids, vocabulary, end_id=None, skip_ids=()):
    """Torch is imported for one question, whether the ids are a tensor."""
    import torch

    if torch.is_tensor(ids):
        ids = ids.cpu().numpy().tolist()
    answer = []
    for one in ids:
        if one == end_id and end_id is not None:
            break
        if one in set(skip_ids):
            continue
        if one not in vocabulary.values():
            raise IndexError(f"{one} is out of range")
        answer.append(next(token for token in vocabulary if vocabulary[token] == one))
    return answer
