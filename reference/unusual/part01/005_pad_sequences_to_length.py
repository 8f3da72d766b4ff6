"""Right but unusual versions of step 005."""

from itertools import chain, islice, repeat, zip_longest


def _width(sequences, length):
    if len(sequences) == 0:
        raise ValueError("no sequences: there is nothing to pad")
    longest = max(map(len, sequences))
    if length is not None and longest > length:
        raise ValueError(f"length={length}, but the longest sequence has {longest} ids")
    return longest if length is None else length


def zipped_and_turned(sequences, pad_id, length=None):
    """``zip_longest`` makes padded columns, beside a counter that makes them enough."""
    width = _width(sequences, length)
    columns = list(zip_longest(*sequences, range(width), fillvalue=pad_id))
    return [[column[row] for column in columns] for row in range(len(sequences))]


def endless_padding_cut_off(sequences, pad_id, length=None):
    """Each sentence is followed by padding without end, of which ``islice`` takes enough."""
    width = _width(sequences, length)
    return [list(islice(chain(row, repeat(pad_id)), width)) for row in sequences]


def written_over_padding(sequences, pad_id, length=None):
    """A block of padding comes first, and the sentences are written over it."""
    width = _width(sequences, length)
    block = [[pad_id] * width for _ in sequences]
    for row, sequence in zip(block, sequences, strict=True):
        row[: len(sequence)] = sequence
    return block


def grown_one_by_one(sequences, pad_id, length=None):
    """Copies grow by one id at a time until they are long enough."""
    width = _width(sequences, length)
    rows = [[token_id for token_id in sequence] for sequence in sequences]  # noqa: C416
    while any(len(row) < width for row in rows):
        for row in rows:
            if len(row) != width:
                row.append(pad_id)
    return rows


def full_rows_handed_back(sequences, pad_id, length=None):
    """A list that is full already is handed back itself, since nothing changes in it."""
    width = _width(sequences, length)
    return [
        row
        if isinstance(row, list) and len(row) == width
        else list(row) + [pad_id] * (width - len(row))
        for row in sequences
    ]


def asked_place_by_place(sequences, pad_id, length=None):
    """Each place of the block asks whether its sentence reaches that far."""
    width = _width(sequences, length)
    return [
        [row[place] if place < len(row) else pad_id for place in range(width)] for row in sequences
    ]
