"""Wrong versions of decode_ids_to_tokens, one slip each."""


def _outside(token_id, vocabulary):
    return IndexError(f"token id {token_id} is outside 0..{len(vocabulary) - 1}")


def _words(ids, vocabulary):
    """Look every id up; one that names no token is an IndexError."""
    token_of = {token_id: token for token, token_id in vocabulary.items()}
    for token_id in ids:
        if token_id not in token_of:
            raise _outside(token_id, vocabulary)
    return [token_of[token_id] for token_id in ids]


def _before_end(ids, end_id):
    """The ids in front of the first end."""
    ids = [int(token_id) for token_id in ids]
    return ids[: ids.index(end_id)] if end_id in ids else ids


def _kept(ids, skip_ids):
    return [token_id for token_id in ids if token_id not in skip_ids]


def negative_id_wraps(ids, vocabulary, end_id=None, skip_ids=()):
    """A negative id counts from the end, as list indexing does, and gives a wrong word."""
    token_of = sorted(vocabulary, key=vocabulary.get)
    tokens = []
    for token_id in _kept(_before_end(ids, end_id), skip_ids):
        if not -len(token_of) <= token_id < len(token_of):
            raise _outside(token_id, vocabulary)
        tokens.append(token_of[token_id])
    return tokens


def order_of_the_vocabulary(ids, vocabulary, end_id=None, skip_ids=()):
    """The order in which the vocabulary is written counts, not the ids in it."""
    listed = {token: place for place, token in enumerate(vocabulary)}
    return _words(_kept(_before_end(ids, end_id), skip_ids), listed)


def end_is_kept(ids, vocabulary, end_id=None, skip_ids=()):
    """The end token is part of the sentence."""
    ids = [int(token_id) for token_id in ids]
    end = ids.index(end_id) + 1 if end_id in ids else len(ids)
    return _words(_kept(ids[:end], skip_ids), vocabulary)


def end_is_only_skipped(ids, vocabulary, end_id=None, skip_ids=()):
    """The end token is left out, but what follows it is read."""
    ids = [int(token_id) for token_id in ids]
    return _words(_kept(ids, (*skip_ids, end_id)), vocabulary)


def skips_before_it_ends(ids, vocabulary, end_id=None, skip_ids=()):
    """An end that is to be skipped no longer ends: skip_ids are taken out first."""
    ids = _kept([int(token_id) for token_id in ids], skip_ids)
    return _words(_before_end(ids, end_id), vocabulary)


def looks_past_the_end(ids, vocabulary, end_id=None, skip_ids=()):
    """Every id is looked up before the end is searched for, so what follows it must be valid."""
    _words(_kept([int(token_id) for token_id in ids], skip_ids), vocabulary)
    return _words(_kept(_before_end(ids, end_id), skip_ids), vocabulary)


def end_zero_is_no_end(ids, vocabulary, end_id=None, skip_ids=()):
    """An end id of 0 ends nothing: `if end_id` takes 0 for None."""
    return _words(_kept(_before_end(ids, end_id or None), skip_ids), vocabulary)


def end_in_front_is_no_end(ids, vocabulary, end_id=None, skip_ids=()):
    """An end in the first place ends nothing: place 0 is taken for no place."""
    ids = [int(token_id) for token_id in ids]
    if end_id in ids and ids.index(end_id):
        ids = _before_end(ids, end_id)
    return _words(_kept(ids, skip_ids), vocabulary)


def skipped_ids_looked_up(ids, vocabulary, end_id=None, skip_ids=()):
    """An id is looked up before it is skipped, so one that names no token is an error."""
    ids = _before_end(ids, end_id)
    tokens = _words(ids, vocabulary)
    return [token for token_id, token in zip(ids, tokens, strict=True) if token_id not in skip_ids]


def outside_is_dropped(ids, vocabulary, end_id=None, skip_ids=()):
    """An id that names no token is left out in silence."""
    named = [token_id for token_id in _before_end(ids, end_id) if token_id in vocabulary.values()]
    return _words(_kept(named, skip_ids), vocabulary)


def outside_is_a_key_error(ids, vocabulary, end_id=None, skip_ids=()):
    """An id that names no token is a KeyError, the dict's own, where an IndexError is promised."""
    token_of = {token_id: token for token, token_id in vocabulary.items()}
    return [token_of[token_id] for token_id in _kept(_before_end(ids, end_id), skip_ids)]


def elements_are_no_keys(ids, vocabulary, end_id=None, skip_ids=()):
    """A tensor's elements are looked up as they are, and a dict does not find them."""
    token_of = {token_id: token for token, token_id in vocabulary.items()}
    return _as_they_are(ids, token_of, end_id, skip_ids, token_of.__contains__)


def elements_are_unknown_keys(ids, vocabulary, end_id=None, skip_ids=()):
    """The dict has no key tensor(4): an element of a tensor is never the same key as a number."""
    token_of = {token_id: token for token, token_id in vocabulary.items()}
    return _as_they_are(ids, token_of, end_id, skip_ids, lambda one: 0 <= one < len(token_of))


def _as_they_are(ids, token_of, end_id, skip_ids, is_known):
    tokens = []
    for token_id in ids:
        if token_id == end_id:
            break
        if token_id in skip_ids:
            continue
        if not is_known(token_id):
            raise _outside(token_id, token_of)
        tokens.append(token_of[token_id])
    return tokens
