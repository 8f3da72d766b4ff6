"""Wrong versions of step 106, one slip each."""


def padding_forgotten(lengths, max_tokens):
    """The lengths are added up: the padding that fills the rows is not counted."""
    return _batched(lengths, max_tokens, size=sum)


def shortest_for_longest(lengths, max_tokens):
    """Rows are taken times the shortest sentence of the batch, not the longest."""
    return _batched(lengths, max_tokens, size=lambda rows: len(rows) * min(rows))


def row_before_the_new_one_counted(lengths, max_tokens):
    """The batch is measured before the new sentence is in it: it ends one sentence too full."""
    return _batched(lengths, max_tokens, size=lambda rows: (len(rows) - 1) * max(rows[:-1]))


def full_batch_not_allowed(lengths, max_tokens):
    """A batch of exactly ``max_tokens`` counts as too full."""
    return _batched(lengths, max_tokens, size=lambda rows: len(rows) * max(rows) + 1)


def only_one_length_together(lengths, max_tokens):
    """Only sentences of one length travel together: many batches are half empty."""

    def size(rows):
        return len(rows) * rows[0] if len({*rows}) == 1 else max_tokens + 1

    return _batched(lengths, max_tokens, size=size)


def file_order(lengths, max_tokens):
    """The sentences are not sorted: short ones travel with long ones and are padded."""
    return _batched(lengths, max_tokens, order=range(len(lengths)))


def longest_first(lengths, max_tokens):
    """The sentences are sorted the wrong way round, the longest first."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    return _batched(lengths, max_tokens, order=order)


def ties_backwards(lengths, max_tokens):
    """Sentences of one length come in reverse order."""
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], -index))
    return _batched(lengths, max_tokens, order=order)


def lengths_for_indices(lengths, max_tokens):
    """The batches hold lengths, not indices: nobody knows which sentences are meant."""
    return [[lengths[index] for index in batch] for batch in _batched(lengths, max_tokens)]


def callers_list_sorted(lengths, max_tokens):
    """The caller's own list is sorted: it no longer fits the sentences."""
    batches = _batched(lengths, max_tokens)
    lengths.sort()
    return batches


def last_batch_lost(lengths, max_tokens):
    """The batch that is being filled at the end is never handed out."""
    return _batched(lengths, max_tokens)[:-1]


def too_long_dropped(lengths, max_tokens):
    """A sentence over the budget is dropped, and nobody hears of it."""
    order = [index for index in _order(lengths) if lengths[index] <= max_tokens]
    if min(lengths, default=1) < 1:
        _refuse(lengths, max_tokens)
    return _batched(lengths, max_tokens, order=order, check=False)


def too_long_travels_alone(lengths, max_tokens):
    """A sentence over the budget gets a batch of its own, and memory runs out."""
    if min(lengths, default=1) < 1:
        _refuse(lengths, max_tokens)
    return _batched(lengths, max_tokens, check=False)


def empty_sentence_accepted(lengths, max_tokens):
    """A sentence without a token is let through."""
    if max(lengths, default=1) > max_tokens:
        _refuse(lengths, max_tokens)
    return _batched(lengths, max_tokens, check=False)


def error_without_index(lengths, max_tokens):
    """The error does not say which sentence it is about."""
    if lengths and not (min(lengths) >= 1 and max(lengths) <= max_tokens):
        raise ValueError("there is a sentence that fits no batch")
    return _batched(lengths, max_tokens)


def _order(lengths):
    return sorted(range(len(lengths)), key=lengths.__getitem__)


def _refuse(lengths, max_tokens):
    for index, length in enumerate(lengths):
        if not 1 <= length <= max_tokens:
            raise ValueError(f"sentence {index} has {length} tokens")


def _batched(lengths, max_tokens, size=lambda rows: len(rows) * max(rows), order=None, check=True):
    if check:
        _refuse(lengths, max_tokens)
    batches = []
    for index in _order(lengths) if order is None else order:
        if batches and size([lengths[i] for i in [*batches[-1], index]]) <= max_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
