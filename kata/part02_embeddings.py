"""Part 2 · Embeddings and Positional Encoding.

A model cannot add up words, so each word becomes a row of numbers: its embedding (section 3.4 of
the paper). Rows alone say what was said, not in which order, so every position gets a pattern of
its own, drawn from sine waves that run from fast to slow like the hands of a clock (section 3.5).
Added together, word and place travel through the model as one vector.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor


def lookup_token_embeddings(
    token_ids: Int[Tensor, "..."],
    embedding_table: Float[Tensor, "vocab d_model"],
) -> Float[Tensor, "... d_model"]:
    """Open the table at each token's row and hand back what is written there.

    ``output[…] = embedding_table[token_ids[…]]``, for integer ids of any shape. A token met twice
    reads one row twice, so its two gradients add up in that row.

    Raises ``TypeError`` for ids that are no integers, and ``IndexError`` for an id outside
    0 … vocab − 1, a negative one too. Section 3.4.
    """
    raise NotImplementedError("step 007: write lookup_token_embeddings")


def scale_embeddings(embeddings: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
    """Turn the embeddings up, so that the positions added next do not drown them.

    ``embeddings · √d_model``, where ``d_model`` is the size of the last dimension. Section 3.4,
    its last sentence.
    """
    raise NotImplementedError("step 008: write scale_embeddings")


def build_position_column(
    length: int,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length 1"]:
    """Number the places of a sentence, one below the other: 0, 1, 2, …

    ``pos`` in the equations of section 3.5, as a column, so that each place can meet every
    frequency.
    """
    raise NotImplementedError("step 009: write build_position_column")


def compute_inverse_frequencies(
    d_model: int,
    base: float = 10000.0,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "frequencies"]:
    """Set the speed of each clock hand: the first turns fast, each next one slower.

    ``base^(−2i/d_model)`` radians per position for pairs of columns i = 0, 1, …; an odd width
    ends on half a pair, so there are ``ceil(d_model / 2)`` of them. Computed in float32 (in
    float64 if that is the ``dtype`` asked for) and cast last. Section 3.5.
    """
    raise NotImplementedError("step 010: write compute_inverse_frequencies")


def compute_position_angles(
    positions: Float[Tensor, "length 1"],
    inverse_frequencies: Float[Tensor, "frequencies"],
) -> Float[Tensor, "length frequencies"]:
    """Read how far each clock hand has turned at each position.

    ``angle[pos, i] = pos · inverse_frequencies[i]``, in radians; whole turns stay in. The
    argument of sine and cosine in section 3.5.
    """
    raise NotImplementedError("step 011: write compute_position_angles")


def build_sinusoidal_positional_encoding(
    length: int,
    d_model: int,
    base: float = 10000.0,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length d_model"]:
    """Write down, for each position, where all the clock hands point.

    Column 2i is ``sin(pos · base^(−2i/d_model))`` and column 2i + 1 the cosine of the same angle,
    so sine and cosine take turns and an odd width ends on a sine. Computed in float32 (in float64
    if that is the ``dtype`` asked for) and cast last: bfloat16 cannot tell position 257 from 256.
    Section 3.5.
    """
    raise NotImplementedError("step 012: write build_sinusoidal_positional_encoding")


def add_positional_encoding(
    embeddings: Float[Tensor, "batch length d_model"],
    encoding: Float[Tensor, "max_length d_model"],
) -> Float[Tensor, "batch length d_model"]:
    """Stamp each token with its place: the first row on the first token, and so on.

    ``output[b, t] = embeddings[b, t] + encoding[t]``, in the dtype of the embeddings. The
    encoding is fixed, so it gets no gradient.

    Raises ``ValueError`` when the sentence is longer than the encoding, or their widths differ.
    Section 3.5.
    """
    raise NotImplementedError("step 013: write add_positional_encoding")
