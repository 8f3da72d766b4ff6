"""Wrong versions of step 059, one slip each."""

import torch


def added(distribution, targets, confidence):
    """The confidence is added to the gold token's share, which should give way to it."""
    gold = _checked(distribution, targets)
    return distribution.scatter(1, gold, distribution.gather(1, gold) + confidence)


def smoothing_for_confidence(distribution, targets, confidence):
    """The gold tokens get 1 − confidence, the part that is meant for the others."""
    return distribution.scatter(1, _checked(distribution, targets), 1 - confidence)


def confidence_written_out(distribution, targets, confidence):
    """0.9 is written out: the confidence that is asked for is never read."""
    return distribution.scatter(1, _checked(distribution, targets), 0.9)


def everybody_gets_it(distribution, targets, confidence):
    """Whole columns are set: a token that is gold in one row has the confidence in every row."""
    gold = _checked(distribution, targets)
    return distribution.index_fill(1, gold.flatten(), confidence)


def rows_for_columns(distribution, targets, confidence):
    """Whole rows are set: every word of a row gets the confidence."""
    _checked(distribution, targets)
    return torch.full_like(distribution, confidence) + distribution * 0


def place_by_place(distribution, targets, confidence):
    """The rows run through the batch place by place, not sentence by sentence."""
    return distribution.scatter(1, _checked(distribution, targets.T), confidence)


def only_the_first_row(distribution, targets, confidence):
    """Only the first row gets its confidence."""
    return distribution.scatter(1, _checked(distribution, targets)[:1], confidence)


def others_cleared(distribution, targets, confidence):
    """The other words lose their share: only the gold token keeps anything."""
    gold = _checked(distribution, targets)
    return (distribution * 0).scatter(1, gold, confidence)


def made_to_add_up(distribution, targets, confidence):
    """The rows are divided by their sums, though padding is still to be taken out."""
    changed = distribution.scatter(1, _checked(distribution, targets), confidence)
    return changed / changed.sum(dim=1, keepdim=True)


def in_place(distribution, targets, confidence):
    """The confidence is written into the caller's distribution."""
    with torch.no_grad():
        distribution.scatter_(1, _checked(distribution, targets), confidence)
    return distribution


def detached(distribution, targets, confidence):
    """The distribution is detached: no gradient flows back."""
    return distribution.detach().scatter(1, _checked(distribution, targets), confidence)


def in_float32(distribution, targets, confidence):
    """The result is float32, whatever the distribution was."""
    return distribution.float().scatter(1, _checked(distribution, targets), confidence)


def float32_on_the_way(distribution, targets, confidence):
    """The confidence is rounded to float32 on its way to float64: it went through a tensor."""
    rounded = torch.tensor(confidence, dtype=torch.float32).item()
    return distribution.scatter(1, _checked(distribution, targets), rounded)


def ids_made_on_the_cpu(distribution, targets, confidence):
    """The gold ids take the way over a Python list, and come back on the CPU."""
    _checked(distribution, targets)
    gold = torch.tensor(targets.flatten().tolist())[:, None]
    return distribution.scatter(1, gold, confidence)


def negative_id_wraps(distribution, targets, confidence):
    """A negative id counts from the end: −1 is taken for the last word."""
    gold = torch.where(targets < 0, targets + distribution.size(1), targets)
    return distribution.scatter(1, _checked(distribution, gold), confidence)


def large_id_ignored(distribution, targets, confidence):
    """An id beyond the vocabulary is passed over: its row has no gold token."""
    vocab_size = distribution.size(1)
    _checked(distribution, targets.clamp(max=vocab_size - 1))
    words = torch.arange(vocab_size, device=distribution.device)
    return distribution.masked_fill(words == targets.reshape(-1, 1), confidence)


def torch_complains(distribution, targets, confidence):
    """An id outside the vocabulary is left to torch, whose error is a RuntimeError."""
    return distribution.scatter(1, targets.reshape(-1, 1), confidence)


def _checked(distribution, targets):
    gold, vocab_size = targets.reshape(-1, 1), distribution.size(1)
    strays = gold[(gold < 0) | (gold >= vocab_size)]
    if strays.numel():
        raise IndexError(f"gold token {strays[0].item()} is outside 0 … {vocab_size - 1}")
    return gold
