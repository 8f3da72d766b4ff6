"""006 · pack_batch. Lesson: 006_pack_batch.md.

Torch is imported inside the tests: collecting the part's other specs must not wait for it.
"""

import random

import pytest

from kata.part01_tokens import pack_batch
from specs.harness.check import assert_equal


def test_batch_by_hand():
    """Three rows as wide as the longest: sentence i is row i, padding stands on its right."""
    batch = pack_batch([[5, 6], [7, 8, 9], [4]], pad_id=0)
    assert_equal(batch, expected=[[5, 6, 0], [7, 8, 9], [4, 0, 0]])


def test_padding_is_the_id_given():
    """Here 1 is padding and 0 is a word."""
    batch = pack_batch([[0], [5, 0, 6]], pad_id=1)
    assert_equal(batch, expected=[[0, 1, 1], [5, 0, 6]])


def test_single_sentence_is_one_row():
    """A batch of one has two dimensions still."""
    assert_equal(pack_batch([(7, 8, 9)], pad_id=0), expected=[[7, 8, 9]])


@pytest.mark.parametrize("sequences", [[[5, 6], [7]], [[], []]], ids=["ids", "no ids"])
def test_batch_is_int64(sequences):
    """An embedding takes whole numbers; torch would make a float tensor of rows without ids."""
    import torch

    batch = pack_batch(sequences, pad_id=0)
    assert batch.dtype == torch.int64, f"ids are int64, but the batch is {batch.dtype}"


def test_large_ids_stay_exact():
    """2^53 + 1 is the first whole number that even a float64 cannot hold."""
    assert_equal(pack_batch([[2**53 + 1], []], pad_id=-1), expected=[[2**53 + 1], [-1]])


@pytest.mark.parametrize(("batch_size", "longest"), [(1, 4), (2, 1), (5, 3), (9, 7)])
def test_drawn_batch_equals_torchs_own(batch_size, longest):
    """torch's pad_sequence stacks a list of tensors in the same way."""
    from torch import tensor
    from torch.nn.utils.rnn import pad_sequence

    rng = random.Random(batch_size)
    sequences = [rng.choices(range(50), k=rng.randint(1, longest)) for _ in range(batch_size)]
    rows = [tensor(sequence) for sequence in sequences]
    batch = pack_batch(sequences, pad_id=13)
    assert_equal(batch, expected=pad_sequence(rows, batch_first=True, padding_value=13))
