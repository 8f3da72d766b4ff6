"""Right but unusual versions of step 002."""

from functools import partial

_NOBODY = object()


def asks_only_after_a_miss(tokens, vocabulary, unknown_token="<unk>"):
    """The unknown id is looked up afresh at each miss, inside ``except KeyError``."""
    ids = []
    for token in tokens:
        try:
            ids += [vocabulary[token]]
        except KeyError:
            if unknown_token not in vocabulary:
                raise KeyError(
                    f"unseen token {token}, and no {unknown_token} to replace it"
                ) from None
            ids += [vocabulary[unknown_token]]
    return ids


def tokens_replaced_first(tokens, vocabulary, unknown_token="<unk>"):
    """Strangers are renamed before any look-up; without a stand-in ``dict`` itself complains."""
    may_rename = unknown_token in vocabulary
    known = (token if token in vocabulary or not may_rename else unknown_token for token in tokens)
    return [*map(vocabulary.__getitem__, known)]


class _Listed(dict):
    def __init__(self, vocabulary, unknown_token):
        super().__init__(vocabulary)
        self.unknown_token = unknown_token

    def __missing__(self, token):
        if self.unknown_token in self:
            return self[self.unknown_token]
        raise KeyError(token)


def dict_with_a_missing_method(tokens, vocabulary, unknown_token="<unk>"):
    """A dict of its own kind answers for unseen tokens through ``__missing__``."""
    listed = _Listed(vocabulary, unknown_token)
    return [listed[token] for token in tokens]


def strangers_looked_for_first(tokens, vocabulary, unknown_token="<unk>"):
    """Set arithmetic finds the strangers before the first id is read."""
    strangers = set(tokens) - vocabulary.keys()
    if strangers and unknown_token not in vocabulary:
        raise KeyError(sorted(strangers))
    return list(map(lambda token: vocabulary.get(token, vocabulary.get(unknown_token)), tokens))  # noqa: C417


def _one(vocabulary, unknown_token, token):
    found = vocabulary.get(token, _NOBODY)
    if found is _NOBODY:
        found = vocabulary.get(unknown_token, _NOBODY)
    if found is _NOBODY:
        raise KeyError(token)
    return found


def half_applied_look_up(tokens, vocabulary, unknown_token="<unk>"):
    """A ``functools.partial`` is mapped over the tokens, with a sentinel instead of ``None``."""
    return list(map(partial(_one, vocabulary, unknown_token), tokens))
