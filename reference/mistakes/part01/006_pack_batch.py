"""Wrong versions of pack_batch, one slip each."""

import torch

from kata.part01_tokens import pad_sequences_to_length


def _rows(sequences, pad_id, device=None):
    rows = pad_sequences_to_length(sequences, pad_id)
    return torch.tensor(rows, dtype=torch.int64, device=device)


def sorted_by_length(sequences, pad_id, device=None):
    """The longest sentence comes first, so the rows no longer belong to their translations."""
    return _rows(sorted(sequences, key=len, reverse=True), pad_id, device)


def time_first(sequences, pad_id, device=None):
    """The block lies on its side: a column for each sentence, as pad_sequence makes it unasked."""
    return _rows(sequences, pad_id, device).T


def padded_with_zero(sequences, pad_id, device=None):
    """The padding is always 0, whatever pad_id says."""
    return _rows(sequences, 0, device)


def padded_on_the_left(sequences, pad_id, device=None):
    """The padding stands on the left, so every position is counted from the wrong place."""
    return _rows([sequence[::-1] for sequence in sequences], pad_id, device).flip(-1)


def filled_into_floats(sequences, pad_id, device=None):
    """The ids are floats: they were filled into torch.full without a dtype."""
    return _rows(sequences, pad_id, device).to(torch.get_default_dtype())


def type_left_to_torch(sequences, pad_id, device=None):
    """The type is left for torch to guess, and rows without ids become floats."""
    return torch.tensor(pad_sequences_to_length(sequences, pad_id), device=device)


def half_the_bits(sequences, pad_id, device=None):
    """The ids are int32."""
    return _rows(sequences, pad_id, device).to(torch.int32)


def device_ignored(sequences, pad_id, device=None):
    """The device asked for is ignored."""
    return _rows(sequences, pad_id)


def none_means_cpu(sequences, pad_id, device=None):
    """Without a device the batch is forced onto the CPU, whatever torch's default is."""
    return _rows(sequences, pad_id, device or "cpu")


def one_sentence_is_flat(sequences, pad_id, device=None):
    """A single sentence loses its batch dimension: a squeeze takes it."""
    return _rows(sequences, pad_id, device).squeeze(0)
