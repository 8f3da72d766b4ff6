"""Right but unusual versions of step 059."""

import torch
from torch.nn import functional


def _gold_ids(distribution, targets):
    """The gold ids in a row, as plain numbers of the vocabulary."""
    vocab_size = distribution.shape[1]
    gold = targets.flatten()
    for token in gold.tolist():
        if token not in range(vocab_size):
            raise IndexError(f"{token} is no token of a vocabulary of {vocab_size}")
    return gold.long()


def compared_with_every_word(distribution, targets, confidence):
    """Each word is compared with the gold token, and ``where`` chooses."""
    words = torch.arange(distribution.shape[1], device=distribution.device)
    is_gold = _gold_ids(distribution, targets).unsqueeze(1) == words
    return torch.where(is_gold, confidence, distribution)


def marks_filled(distribution, targets, confidence):
    """A field of bools is marked in the gold places, and filled there."""
    gold = _gold_ids(distribution, targets).unsqueeze(1)
    marks = torch.zeros_like(distribution, dtype=torch.bool).scatter_(1, gold, True)
    return distribution.masked_fill(marks, confidence)


def written_by_index(distribution, targets, confidence):
    """A copy, and one assignment by a pair of indices."""
    gold = _gold_ids(distribution, targets)
    answer = distribution.clone()
    answer[torch.arange(len(gold), device=gold.device), gold] = confidence
    return answer


def one_hot_blend(distribution, targets, confidence):
    """One-hot rows blend the distribution with the confidence: all or nothing."""
    gold = _gold_ids(distribution, targets)
    one_hot = functional.one_hot(gold, distribution.shape[1]).to(distribution.dtype)
    return distribution * (1 - one_hot) + confidence * one_hot


def row_after_row(distribution, targets, confidence):
    """A row is what stands before the gold token, the confidence, and what stands behind it."""
    rows = []
    for row, gold in zip(distribution, _gold_ids(distribution, targets).tolist(), strict=True):
        own = row.new_full((1,), confidence)
        rows.append(torch.cat([row[:gold], own, row[gold + 1 :]]))
    return torch.stack(rows) if rows else distribution.clone()


def one_long_row(distribution, targets, confidence):
    """All rows are one long row, where token g of row r has place r · V + g."""
    gold = _gold_ids(distribution, targets)
    rows, vocab_size = distribution.shape
    places = torch.arange(rows, device=gold.device) * vocab_size + gold
    return distribution.reshape(-1).index_fill(0, places, confidence).view(rows, vocab_size)
