"""Right but unusual versions of step 006."""

import torch._dynamo  # noqa: F401  its first use takes longer than a call of the laws may

from kata.part01_tokens import pad_sequences_to_length


def rows_written_into_a_full_block(sequences, pad_id, device=None):
    """A block of padding comes first; each sentence is copied into its row."""
    import torch

    width = max(len(sequence) for sequence in sequences)
    block = torch.full((len(sequences), width), pad_id, dtype=torch.long, device=device)
    for row, sequence in zip(block, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence, dtype=torch.long, device=device)
    return block


def rows_padded_as_tensors(sequences, pad_id, device=None):
    """Each sentence becomes a tensor, is padded by ``F.pad`` and stacked."""
    import torch
    from torch.nn import functional

    rows = [torch.tensor(list(row), dtype=torch.int64, device=device) for row in sequences]
    width = max(row.numel() for row in rows)
    return torch.stack(
        [functional.pad(row, (0, width - row.numel()), value=pad_id) for row in rows]
    )


def pad_sequence_of_torch(sequences, pad_id, device=None):
    """Torch's own ``pad_sequence`` pads with zeros, and a second one tells where padding is."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    rows = [torch.tensor(row, dtype=torch.int64, device=device) for row in sequences]
    real = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return pad_sequence(rows, batch_first=True).masked_fill(real == 0, pad_id)


def by_way_of_numpy(sequences, pad_id, device=None):
    """NumPy builds the array, and ``torch.as_tensor`` takes it over."""
    import numpy
    import torch

    array = numpy.array(pad_sequences_to_length(sequences, pad_id), dtype=numpy.int64)
    return torch.as_tensor(array, device=device)


def single_ids_set(sequences, pad_id, device=None):
    """Ids are set one by one in an empty block, padding first."""
    import torch

    width = len(max(sequences, key=len))
    block = torch.empty((len(sequences), width), dtype=torch.int64, device=device).fill_(pad_id)
    for i, sequence in enumerate(sequences):
        for j, token_id in enumerate(sequence):
            block[i, j] = token_id
    return block


def moved_at_the_end(sequences, pad_id, device=None):
    """Made where torch makes things by default, and moved only if a device is named."""
    import torch

    rows = pad_sequences_to_length(sequences, pad_id)
    block = torch.vstack([torch.tensor([row], dtype=torch.int64) for row in rows])
    return block if device is None else block.to(device)


def ids_poured_where_there_is_room(sequences, pad_id, device=None):
    """The device itself finds the width and which places are taken; all ids are poured in there."""
    import torch

    lengths = torch.tensor([len(sequence) for sequence in sequences], device=device)
    taken = torch.arange(int(lengths.max()), device=device) < lengths[:, None]
    ids = [token_id for sequence in sequences for token_id in sequence]
    block = torch.full(taken.shape, pad_id, dtype=torch.int64, device=device)
    return block.masked_scatter(taken, torch.tensor(ids, dtype=torch.int64, device=device))
