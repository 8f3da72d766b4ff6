"""Wrong versions of encode_tokens_to_ids, one slip each."""


def _look_up(token, vocabulary, unknown_token):
    """The token's id, or that of the unknown token, or a KeyError."""
    for listed in (token, unknown_token):
        if listed in vocabulary:
            return vocabulary[listed]
    raise KeyError(f"{token!r} is not in the vocabulary, nor is {unknown_token!r}")


def unseen_is_zero(tokens, vocabulary, unknown_token="<unk>"):
    """An unseen word becomes id 0, whatever token that is."""
    return [vocabulary.get(token, 0) for token in tokens]


def unseen_is_dropped(tokens, vocabulary, unknown_token="<unk>"):
    """An unseen word is left out, so the sentence gets shorter."""
    return [vocabulary[token] for token in tokens if token in vocabulary]


def unseen_is_none(tokens, vocabulary, unknown_token="<unk>"):
    """Without an unknown token in the vocabulary, an unseen word becomes None."""
    return [vocabulary.get(token, vocabulary.get(unknown_token)) for token in tokens]


def unseen_joins_the_vocabulary(tokens, vocabulary, unknown_token="<unk>"):
    """An unseen word is added to the vocabulary, with the next free id."""
    return [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]


def unseen_is_always_an_error(tokens, vocabulary, unknown_token="<unk>"):
    """An unseen word is an error even where the vocabulary has an unknown token."""
    return [vocabulary[token] for token in tokens]


def zero_counts_as_missing(tokens, vocabulary, unknown_token="<unk>"):
    """A word with id 0 counts as unseen: `or` takes 0 for nothing."""
    listed = {token: token_id for token, token_id in vocabulary.items() if token_id}
    if unknown_token in vocabulary:
        listed[unknown_token] = vocabulary[unknown_token]
    return [_look_up(token, listed, unknown_token) for token in tokens]


def unknown_id_zero_counts_as_missing(tokens, vocabulary, unknown_token="<unk>"):
    """An unknown token with id 0 counts as none: `if unknown_id` takes 0 for nothing."""
    if vocabulary.get(unknown_token):
        return [_look_up(token, vocabulary, unknown_token) for token in tokens]
    return [_look_up(token, vocabulary, None) for token in tokens]


def unknown_token_ignored(tokens, vocabulary, unknown_token="<unk>"):
    """The unknown token is always <unk>, whatever unknown_token says."""
    return [_look_up(token, vocabulary, "<unk>") for token in tokens]


def unknown_token_demanded(tokens, vocabulary, unknown_token="<unk>"):
    """The unknown token must be in the vocabulary even where every word is known."""
    unknown_id = vocabulary[unknown_token]
    return [vocabulary.get(token, unknown_id) for token in tokens]


def all_lower_case(tokens, vocabulary, unknown_token="<unk>"):
    """Words are turned to lower case before they are looked up."""
    return [_look_up(token.lower(), vocabulary, unknown_token) for token in tokens]


def start_and_end_added(tokens, vocabulary, unknown_token="<unk>"):
    """The ids of <s> and </s> are put around the sentence, which is for step 004 to do."""
    ids = [_look_up(token, vocabulary, unknown_token) for token in tokens]
    front, back = ([vocabulary[mark]] if mark in vocabulary else [] for mark in ("<s>", "</s>"))
    return [*front, *ids, *back]


def unknown_token_named(tokens, vocabulary, unknown_token="<unk>"):
    """The error names the unknown token, which is missing too, and not the word it was for."""
    return [vocabulary[token if token in vocabulary else unknown_token] for token in tokens]
