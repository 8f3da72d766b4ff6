"""Wrong versions of step 058, one slip each."""

import torch


def shared_among_all(targets, vocab_size, smoothing, dtype=torch.float32):
    """The smoothing is divided by all V words, gold and padding included."""
    return _layer(targets, vocab_size, _checked(vocab_size, smoothing) / vocab_size, dtype)


def shared_among_all_but_gold(targets, vocab_size, smoothing, dtype=torch.float32):
    """The smoothing is divided by V − 1: padding is left with a share."""
    return _layer(targets, vocab_size, _checked(vocab_size, smoothing) / (vocab_size - 1), dtype)


def not_shared(targets, vocab_size, smoothing, dtype=torch.float32):
    """Every word gets the whole of the smoothing: it is not divided at all."""
    return _layer(targets, vocab_size, _checked(vocab_size, smoothing), dtype)


def confidence_shared(targets, vocab_size, smoothing, dtype=torch.float32):
    """What is shared out is 1 − ε, the part of the gold token."""
    share = (1 - _checked(vocab_size, smoothing)) / (vocab_size - 2)
    return _layer(targets, vocab_size, share, dtype)


def one_row_a_sentence(targets, vocab_size, smoothing, dtype=torch.float32):
    """There is one row for each sentence, not for each token."""
    share = _checked(vocab_size, smoothing) / (vocab_size - 2)
    return _layer(targets[:, 0], vocab_size, share, dtype)


def sentences_kept_apart(targets, vocab_size, smoothing, dtype=torch.float32):
    """The result has three axes, batch, length and vocabulary: the targets are not flattened."""
    share = _checked(vocab_size, smoothing) / (vocab_size - 2)
    return _layer(targets, vocab_size, share, dtype).reshape(*targets.shape, vocab_size)


def padding_already_out(targets, vocab_size, smoothing, dtype=torch.float32):
    """Column 0 is taken for padding and set to 0: that is the work of step 060."""
    distribution = _right(targets, vocab_size, smoothing, dtype)
    distribution[:, 0] = 0.0
    return distribution


def gold_already_in(targets, vocab_size, smoothing, dtype=torch.float32):
    """The gold tokens have 1 − ε already: that is the work of step 059."""
    distribution = _right(targets, vocab_size, smoothing, dtype)
    gold = targets.reshape(-1, 1).clamp(0, vocab_size - 1)
    return distribution.scatter(1, gold, 1 - smoothing)


def always_float32(targets, vocab_size, smoothing, dtype=torch.float32):
    """The distribution is float32, whatever dtype was asked for."""
    return _right(targets, vocab_size, smoothing, torch.float32)


def float32_on_the_way(targets, vocab_size, smoothing, dtype=torch.float32):
    """The share is rounded to float32 on its way to float64."""
    return _right(targets, vocab_size, smoothing, torch.float32).to(dtype)


def made_on_the_cpu(targets, vocab_size, smoothing, dtype=torch.float32):
    """The distribution is made on the CPU, wherever the targets are."""
    share = _checked(vocab_size, smoothing) / (vocab_size - 2)
    return torch.full((targets.numel(), vocab_size), share, dtype=dtype)


def small_vocabulary_accepted(targets, vocab_size, smoothing, dtype=torch.float32):
    """A vocabulary below 3 is taken for one of 3, not refused."""
    share = _checked(3, smoothing) / max(vocab_size - 2, 1)
    return _layer(targets, vocab_size, share, dtype)


def three_words_refused(targets, vocab_size, smoothing, dtype=torch.float32):
    """Three words are refused: <= stands where < is meant."""
    return _right(targets, vocab_size if vocab_size != 3 else 2, smoothing, dtype)


def whole_smoothing_accepted(targets, vocab_size, smoothing, dtype=torch.float32):
    """A smoothing of 1 is accepted, which leaves the gold token nothing."""
    checked = smoothing if smoothing == 1 else _checked(vocab_size, smoothing)
    return _layer(targets, vocab_size, checked / (vocab_size - 2), dtype)


def smoothing_unchecked(targets, vocab_size, smoothing, dtype=torch.float32):
    """A smoothing below 0 or above 1 is accepted."""
    checked = _checked(vocab_size, smoothing if smoothing == 1 else 0.0) or smoothing
    return _layer(targets, vocab_size, checked / (vocab_size - 2), dtype)


def no_smoothing_refused(targets, vocab_size, smoothing, dtype=torch.float32):
    """A smoothing of 0 is refused: < stands where <= is meant."""
    return _right(targets, vocab_size, smoothing or -1.0, dtype)


def _right(targets, vocab_size, smoothing, dtype):
    return _layer(targets, vocab_size, _checked(vocab_size, smoothing) / (vocab_size - 2), dtype)


def _layer(targets, vocab_size, share, dtype):
    return torch.full((targets.numel(), vocab_size), share, dtype=dtype, device=targets.device)


def _checked(vocab_size, smoothing):
    if vocab_size < 3:
        raise ValueError(f"vocab_size must be at least 3, got {vocab_size}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must lie in [0, 1), got {smoothing}")
    return smoothing
