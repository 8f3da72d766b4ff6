"""Wrong versions of pad_sequences_to_length, one slip each."""


def _longest(sequences):
    if not sequences:
        raise ValueError("expected at least one sequence, got an empty batch")
    return max(map(len, sequences))


def _check(sequences, length):
    longest = _longest(sequences)
    if longest > length:
        raise ValueError(f"a sequence of {longest} ids does not fit into length {length}")


def _fill(sequences, pad_id, length):
    return [[*sequence, *[pad_id] * (length - len(sequence))] for sequence in sequences]


def _chosen(sequences, length):
    """The length asked for, or the longest; too short a one is an error."""
    length = _longest(sequences) if length is None else length
    _check(sequences, length)
    return length


def cut_at_the_length(sequences, pad_id, length=None):
    """A sequence that is too long is cut, and loses its end token."""
    length = _longest(sequences) if length is None else length
    return _fill([sequence[:length] for sequence in sequences], pad_id, length)


def padded_on_the_left(sequences, pad_id, length=None):
    """The padding stands on the left."""
    length = _chosen(sequences, length)
    return [[*[pad_id] * (length - len(sequence)), *sequence] for sequence in sequences]


def padded_with_zero(sequences, pad_id, length=None):
    """The padding is always 0, whatever pad_id says."""
    return _fill(sequences, 0, _chosen(sequences, length))


def length_ignored(sequences, pad_id, length=None):
    """The rows are as long as the longest sequence, whatever length says."""
    return _fill(sequences, pad_id, _longest(sequences))


def length_grows(sequences, pad_id, length=None):
    """A length that is too short grows to the longest sequence in silence."""
    return _fill(sequences, pad_id, max(_longest(sequences), length or 0))


def length_zero_is_none(sequences, pad_id, length=None):
    """A length of 0 counts as none: `length or …` takes 0 for None."""
    return _fill(sequences, pad_id, _chosen(sequences, length or None))


def exact_fit_refused(sequences, pad_id, length=None):
    """A sequence of exactly the length asked for is refused: >= stands where > is meant."""
    if length is not None:
        _check([[*sequence, pad_id] for sequence in sequences], length)
    return _fill(sequences, pad_id, _chosen(sequences, length))


def ids_like_padding_dropped(sequences, pad_id, length=None):
    """Ids that equal pad_id are taken for padding and removed before the rows are measured."""
    kept = [[token_id for token_id in sequence if token_id != pad_id] for sequence in sequences]
    return _fill(kept, pad_id, _chosen(kept, length))


def empty_batch_accepted(sequences, pad_id, length=None):
    """An empty batch gives an empty list where a length is asked for."""
    if length is not None and not sequences:
        return []
    return _fill(sequences, pad_id, _chosen(sequences, length))


def changes_the_sequences(sequences, pad_id, length=None):
    """The caller's own lists are filled up."""
    length = _chosen(sequences, length)
    for sequence in sequences:
        sequence.extend([pad_id] * (length - len(sequence)))
    return sequences
