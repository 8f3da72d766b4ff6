"""013 · add_positional_encoding, the ways it goes wrong."""

import torch


def _check(embeddings, encoding):
    length, d_model = embeddings.shape[-2:]
    if length > len(encoding):
        raise ValueError(f"{length} positions asked for, the encoding has {len(encoding)}")
    if d_model != encoding.size(1):
        raise ValueError(f"embeddings of width {d_model}, an encoding of width {encoding.size(1)}")


def _fixed(encoding, embeddings):
    return encoding.detach().to(embeddings.dtype)


def one_row_for_all(embeddings, encoding):
    """A colon is missing: row T goes to every token, instead of the first T rows, one to each."""
    _check(embeddings, encoding)
    row = min(embeddings.size(1), len(encoding) - 1)
    return embeddings + _fixed(encoding[row], embeddings)


def last_rows(embeddings, encoding):
    """The last T rows of the encoding are added, not the first T."""
    _check(embeddings, encoding)
    return embeddings + _fixed(encoding[len(encoding) - embeddings.size(1) :], embeddings)


def rows_for_sentences(embeddings, encoding):
    """The rows go to the sentences of the batch instead of to the tokens."""
    _check(embeddings, encoding)
    rows = torch.arange(embeddings.size(0), device=embeddings.device) % len(encoding)
    return embeddings + _fixed(encoding[rows].unsqueeze(1), embeddings)


def shifted_by_one(embeddings, encoding):
    """The first token gets row 1: positions count from 0."""
    _check(embeddings, encoding)
    rows = torch.arange(1, embeddings.size(1) + 1, device=embeddings.device) % len(encoding)
    return embeddings + _fixed(encoding[rows], embeddings)


def multiplied(embeddings, encoding):
    """The encoding is multiplied in, instead of added."""
    _check(embeddings, encoding)
    return embeddings * _fixed(encoding[: embeddings.size(1)], embeddings)


def scaled_again(embeddings, encoding):
    """The embeddings are scaled by √D here, which step 008 has already done."""
    _check(embeddings, encoding)
    grown = embeddings * embeddings.size(-1) ** 0.5
    return grown + _fixed(encoding[: embeddings.size(1)], embeddings)


def lone_row_is_spread(embeddings, encoding):
    """An encoding of one row is spread over all the tokens, instead of being refused."""
    if len(encoding) > 1:
        _check(embeddings, encoding)
    return embeddings + _fixed(encoding[: embeddings.size(1)], embeddings)


def cut_to_fit(embeddings, encoding):
    """Tokens beyond the encoding are cut off without a word."""
    kept = embeddings[:, : len(encoding)]
    _check(kept, encoding)
    return kept + _fixed(encoding[: kept.size(1)], embeddings)


def lone_column_is_spread(embeddings, encoding):
    """An encoding of width 1 is spread over the whole width, instead of being refused."""
    if encoding.size(1) > 1:
        _check(embeddings, encoding)
    return embeddings + _fixed(encoding[: embeddings.size(1)], embeddings)


def width_grows(embeddings, encoding):
    """Embeddings of width 1 are spread over the encoding's width, instead of being refused."""
    if embeddings.size(-1) > 1:
        _check(embeddings, encoding)
    return embeddings + _fixed(encoding[: embeddings.size(1)], embeddings)


def encoding_learns(embeddings, encoding):
    """The encoding gets a gradient: it is fixed, nothing in it should learn."""
    _check(embeddings, encoding)
    return embeddings + encoding[: embeddings.size(1)].to(embeddings.dtype)


def encoding_sets_the_type(embeddings, encoding):
    """The answer has the encoding's type where that is wider: the embeddings' should stay."""
    _check(embeddings, encoding)
    return embeddings + encoding[: embeddings.size(1)].detach()


def in_place(embeddings, encoding):
    """The embeddings given are themselves changed."""
    _check(embeddings, encoding)
    embeddings += _fixed(encoding[: embeddings.size(1)], embeddings)
    return embeddings


def detached(embeddings, encoding):
    """The answer is cut off from the embeddings, so they cannot learn."""
    _check(embeddings, encoding)
    return embeddings.detach() + _fixed(encoding[: embeddings.size(1)], embeddings)


def narrow_sum(embeddings, encoding):
    """The sum is made in the encoding's type, and where that is narrower, digits are lost."""
    _check(embeddings, encoding)
    total = embeddings.to(encoding.dtype) + encoding[: embeddings.size(1)].detach()
    return total.to(embeddings.dtype)


def float32_on_the_way(embeddings, encoding):
    """Both are turned to float32 to be added, which takes digits and range from float64."""
    _check(embeddings, encoding)
    total = embeddings.float() + encoding[: embeddings.size(1)].detach().float()
    return total.to(embeddings.dtype)
