"""Right but unusual versions of step 106."""

from bisect import bisect_right
from itertools import groupby

import torch


def one_cut_after_the_other(lengths, max_tokens):
    """In the sorted line the end of each batch is searched for by halving."""
    for index, length in enumerate(lengths):
        if length > max_tokens or length < 1:
            raise ValueError(f"a batch of {max_tokens} tokens cannot hold sentence {index}")
    line = [index for _, index in sorted(zip(lengths, range(len(lengths)), strict=True))]
    batches, start = [], 0
    while start < len(line):
        sizes = [(at - start + 1) * lengths[line[at]] for at in range(start, len(line))]
        end = start + bisect_right(sizes, max_tokens)
        batches.append(line[start:end])
        start = end
    return batches


def torch_sorts(lengths, max_tokens):
    """A stable sort of torch's, and a number for each sentence's batch."""
    bad = [index for index, length in enumerate(lengths) if not 0 < length <= max_tokens]
    if bad:
        raise ValueError(f"sentence {bad[0]}: {lengths[bad[0]]} tokens")
    line = torch.tensor(lengths, dtype=torch.long).argsort(stable=True).tolist()
    numbers, rows = {}, 0
    number = 0
    for index in line:
        rows += 1
        if rows * lengths[index] > max_tokens:
            number, rows = number + 1, 1
        numbers[index] = number
    return [list(batch) for _, batch in groupby(line, key=numbers.get)]


def grown_batch(lengths, max_tokens):
    """A batch is grown in a list of its own, and put aside when it is full."""
    batches, batch = [], []
    for length, index in sorted((length, index) for index, length in enumerate(lengths)):
        if not 1 <= length <= max_tokens:
            raise ValueError(f"sentence {index} of {length} tokens fits no batch")
        if (len(batch) + 1) * length > max_tokens:
            batches.append(batch)
            batch = []
        batch.append(index)
    return [*batches, batch] if batch else batches
