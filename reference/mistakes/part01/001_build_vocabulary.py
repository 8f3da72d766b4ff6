"""Wrong versions of build_vocabulary, one slip each."""

from collections import Counter

SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")


def _ranked(sentences, min_frequency, order):
    """The tokens frequent enough, in an order told by token and count."""
    counts = Counter(token for sentence in sentences for token in sentence)
    kept = [token for token in counts if counts[token] >= min_frequency]
    return sorted(kept, key=lambda token: order(token, counts[token]))


def _numbered(special_tokens, tokens):
    """Ids from 0 upwards: special tokens, then the others."""
    ids = {}
    for token in [*special_tokens, *tokens]:
        ids.setdefault(token, len(ids))
    return ids


def _check(min_frequency, special_tokens):
    if min_frequency < 1:
        raise ValueError(f"min_frequency must be at least 1, got {min_frequency}")
    if len(set(special_tokens)) != len(special_tokens):
        raise ValueError(f"special tokens must all be different, got {special_tokens}")


def _falling(token, count):
    return (-count, token)


def special_token_gets_a_second_id(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """A special token that turns up in the corpus is appended again, and the later id wins."""
    _check(min_frequency, special_tokens)
    tokens = [*special_tokens, *_ranked(sentences, min_frequency, _falling)]
    return {token: token_id for token_id, token in enumerate(tokens)}


def ties_by_first_appearance(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """Equally frequent words stay in the order in which the corpus brings them."""
    _check(min_frequency, special_tokens)
    return _numbered(special_tokens, _ranked(sentences, min_frequency, lambda _, count: -count))


def order_of_appearance(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """Words stand in the order in which the corpus brings them, however often it does."""
    _check(min_frequency, special_tokens)
    return _numbered(special_tokens, _ranked(sentences, min_frequency, lambda *_: 0))


def code_point_order(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """All words stand in code-point order, however often they occur."""
    _check(min_frequency, special_tokens)
    return _numbered(special_tokens, _ranked(sentences, min_frequency, lambda token, _: token))


def ties_backwards(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """Equally frequent words stand from z to a: the whole sort is turned round, not the count."""
    _check(min_frequency, special_tokens)
    rising = _ranked(sentences, min_frequency, lambda token, count: (count, token))
    return _numbered(special_tokens, reversed(rising))


def just_frequent_enough_is_dropped(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """A word that occurs exactly min_frequency times is left out: > stands where >= is meant."""
    _check(min_frequency, special_tokens)
    return _numbered(special_tokens, _ranked(sentences, min_frequency + 1, _falling))


def rare_words_stay(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """Rare words stay in: min_frequency is never used."""
    _check(min_frequency, special_tokens)
    return _numbered(special_tokens, _ranked(sentences, 1, _falling))


def once_a_sentence(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """A word counts once for each sentence, however often the sentence says it."""
    _check(min_frequency, special_tokens)
    tokens = _ranked((set(sentence) for sentence in sentences), min_frequency, _falling)
    return _numbered(special_tokens, tokens)


def special_tokens_last(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """The special tokens come after the words, so their ids change with the corpus."""
    _check(min_frequency, special_tokens)
    tokens = _ranked(sentences, min_frequency, _falling)
    words = [token for token in tokens if token not in special_tokens]
    return _numbered(words, special_tokens)


def sentences_read_twice(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """The sentences are read twice, and an iterator is empty the second time."""
    _check(min_frequency, special_tokens)
    words = sorted({token for sentence in sentences for token in sentence})
    counts = Counter(token for sentence in sentences for token in sentence)
    kept = [word for word in words if counts[word] >= min_frequency]
    return _numbered(special_tokens, sorted(kept, key=lambda word: -counts[word]))


def all_lower_case(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """Words are turned to lower case before they are counted."""
    _check(min_frequency, special_tokens)
    lowered = ([token.lower() for token in sentence] for sentence in sentences)
    return _numbered(special_tokens, _ranked(lowered, min_frequency, _falling))


def repeated_special_tokens_merged(sentences, min_frequency=1, special_tokens=SPECIAL_TOKENS):
    """A special token given twice is merged in silence."""
    _check(min_frequency, ())
    return _numbered(special_tokens, _ranked(sentences, min_frequency, _falling))
