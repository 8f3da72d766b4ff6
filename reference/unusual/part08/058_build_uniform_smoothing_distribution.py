"""Right but unusual versions of step 058."""

import torch


def _share(vocab_size, smoothing):
    if vocab_size < 3:
        raise ValueError(f"at least 3 words are wanted, got {vocab_size}")
    if not (smoothing >= 0 and smoothing < 1):  # NaN is neither
        raise ValueError(f"the smoothing must lie in [0, 1), got {smoothing}")
    return smoothing / (vocab_size - 2)


def one_number_spread_out(targets, vocab_size, smoothing, dtype=torch.float32):
    """One number in memory, with stride 0 along both axes."""
    share = _share(vocab_size, smoothing)
    number = torch.tensor(share, dtype=dtype, device=targets.device)
    return number.expand(targets.numel(), vocab_size)


def one_row_repeated(targets, vocab_size, smoothing, dtype=torch.float32):
    """One row is made, and repeated for each token."""
    row = torch.ones(1, vocab_size, dtype=dtype, device=targets.device)
    return row.mul_(_share(vocab_size, smoothing)).repeat(targets.numel(), 1)


def tall_field_turned(targets, vocab_size, smoothing, dtype=torch.float32):
    """The vocabulary comes first in memory, and the result is a transposed view."""
    share = _share(vocab_size, smoothing)
    tall = torch.empty(vocab_size, targets.numel(), dtype=dtype, device=targets.device)
    return tall.fill_(share).T


def divided_in_float64(targets, vocab_size, smoothing, dtype=torch.float32):
    """The whole smoothing is laid out in float64, divided there, and cast once."""
    _share(vocab_size, smoothing)
    whole = targets.new_full((targets.numel(), vocab_size), smoothing, dtype=torch.float64)
    return whole.div_(vocab_size - 2).to(dtype)


def plain_lists(targets, vocab_size, smoothing, dtype=torch.float32):
    """Every row is a list of its own."""
    share = _share(vocab_size, smoothing)
    rows = [[share] * vocab_size for _ in targets.flatten()]
    return torch.tensor(rows, dtype=dtype, device=targets.device).view(-1, vocab_size)
