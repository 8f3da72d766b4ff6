"""Part 1 · Tokenization and Batching.

A Transformer reads numbers, not words. This part leads from sentences to the rectangle of integers
that the model is fed: give every word of a corpus an id, turn sentences into ids and back, mark
where a sentence starts and ends, and fill sentences of different lengths up to one length.

All of it is plain Python, except for the last line of the last function: ``pack_batch`` makes the
batch a tensor, and imports torch only then, so that the other five steps answer at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from jaxtyping import Int
    from torch import Tensor


def build_vocabulary(
    sentences: Iterable[Sequence[str]],
    min_frequency: int = 1,
    special_tokens: Sequence[str] = ("<pad>", "<s>", "</s>", "<unk>"),
) -> dict[str, int]:
    """Hand out ids like seats: some are reserved for special tokens, then frequent words go first.

    Ids count up from 0: first the special tokens in the order given, then every token seen at least
    ``min_frequency`` times, by falling frequency; tokens of equal frequency stand in code-point
    order (as Python compares strings), so that the same corpus always gives the same ids. A special
    token that turns up in the corpus keeps the id it has. A sentence is a sequence of tokens; the
    sentences may come from an iterator, which can be read only once.

    Raises ``ValueError`` if ``min_frequency`` is below 1, or if a special token is given twice.
    The paper's vocabularies, of about 37,000 and 32,000 word pieces, are told of in section 5.1.
    """
    raise NotImplementedError("step 001: write build_vocabulary")


def encode_tokens_to_ids(
    tokens: Sequence[str],
    vocabulary: Mapping[str, int],
    unknown_token: str = "<unk>",
) -> list[int]:
    """Look every token up, as in a phone book; whoever is not listed gets the number for strangers.

    The result has one id per token, in order. A token that the vocabulary does not hold gets the id
    of ``unknown_token``.

    Raises ``KeyError``, naming the token, if neither it nor ``unknown_token`` is in the vocabulary.
    Section 3.4 of the paper starts from these ids: its embedding turns each into a vector.
    """
    raise NotImplementedError("step 002: write encode_tokens_to_ids")


def decode_ids_to_tokens(
    ids: Sequence[int] | Int[Tensor, "length"],
    vocabulary: Mapping[str, int],
    end_id: int | None = None,
    skip_ids: Collection[int] = (),
) -> list[str]:
    """Read the numbers back as words, up to the end sign and past the marks that are no words.

    Reading stops before the first ``end_id``, and whatever follows it is not looked at; ids in
    ``skip_ids`` are left out, and need not be ids of the vocabulary (-100 marks ignored targets,
    say). ``None`` reads to the last id. ``ids`` is a list or a 1-D tensor of integers.

    Raises ``IndexError``, naming the id, for any other id that the vocabulary does not hold:
    a negative one does not count from the end.
    This is how a decoded sentence of section 6.1 becomes text.
    """
    raise NotImplementedError("step 003: write decode_ids_to_tokens")


def add_start_and_end_ids(ids: Sequence[int], start_id: int, end_id: int) -> list[int]:
    """Put a sentence between its bookends: the start id before it, the end id after it.

    The result is a new list. Both ids are added to every sentence, whatever it holds: an empty one
    becomes start, end.

    The decoder begins from the start id and stops at the end id: sections 3.1 and 6.1 of the paper.
    """
    raise NotImplementedError("step 004: write add_start_and_end_ids")


def pad_sequences_to_length(
    sequences: Sequence[Sequence[int]],
    pad_id: int,
    length: int | None = None,
) -> list[list[int]]:
    """Fill every row up with padding on the right, until all rows are equally long.

    ``length`` is the length that all rows get, counted in ids; ``None`` takes that of the longest.
    The ids of a sequence stay as they are, ones that equal ``pad_id`` too.

    Raises ``ValueError`` if a sequence is longer than ``length``, since cutting it would lose its
    end, and if there is no sequence at all.
    The paper's batches hold sentences of about the same length for this reason: section 5.1.
    """
    raise NotImplementedError("step 005: write pad_sequences_to_length")


def pack_batch(
    sequences: Sequence[Sequence[int]],
    pad_id: int,
    device: torch.device | str | None = None,
) -> Int[Tensor, "batch length"]:
    """Stack the sentences into one block of integers: a row each, as wide as the longest.

    Row i is sentence i, padded on the right with ``pad_id``. The block is int64, which an embedding
    lookup takes; ``device=None`` follows torch's default. Torch is imported inside this function,
    so that the rest of the part does without.

    A batch of the paper held about 25,000 source and 25,000 target tokens: section 5.1.
    """
    raise NotImplementedError("step 006: write pack_batch")
