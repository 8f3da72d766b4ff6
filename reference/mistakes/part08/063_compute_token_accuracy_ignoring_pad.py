"""Wrong versions of step 063, one slip each."""

import math

import torch


def pads_counted(log_probs, targets, pad_id):
    """The pads are counted as tokens: a model that guesses them looks good."""
    return (_guesses(log_probs) == targets).double().mean().item()


def pads_are_misses(log_probs, targets, pad_id):
    """The hits are counted without the pads, and divided by all places."""
    hits = (_guesses(log_probs) == targets) & (targets != pad_id)
    return hits.sum().item() / hits.numel()


def hits_on_pads(log_probs, targets, pad_id):
    """The hits on pads are counted, and divided by the number of words."""
    words = (targets != pad_id).sum().item()
    return (_guesses(log_probs) == targets).sum().item() / words if words else 0.0


def guessed_pads_left_out(log_probs, targets, pad_id):
    """What is left out are the places where the model guesses padding, not where padding stands."""
    guesses = _guesses(log_probs)
    return _share((guesses == targets)[guesses != pad_id])


def either_pad_left_out(log_probs, targets, pad_id):
    """Words for which the model guesses padding are left out too, where they should be misses."""
    guesses = _guesses(log_probs)
    return _share((guesses == targets)[(targets != pad_id) & (guesses != pad_id)])


def padding_is_zero(log_probs, targets, pad_id):
    """Padding is always id 0, whatever pad_id says."""
    return _share((_guesses(log_probs) == targets)[targets != 0])


def least_likely_word(log_probs, targets, pad_id):
    """The guess is the word with the lowest log-probability."""
    return _share((log_probs.argmin(dim=-1) == targets)[targets != pad_id])


def one_place_on(log_probs, targets, pad_id):
    """The guesses are compared with the tokens one place further on."""
    following = torch.cat((targets[:, 1:], torch.full_like(targets[:, :1], pad_id)), dim=1)
    return _share((_guesses(log_probs) == following)[following != pad_id])


def guessed_along_the_places(log_probs, targets, pad_id):
    """argmax runs along the places, not along the words: it finds a place for each word."""
    return _share((log_probs.argmax(dim=1) == targets)[targets != pad_id])


def last_place_only(log_probs, targets, pad_id):
    """Only the last place of each sentence is looked at, as when a model writes on."""
    return _share((_guesses(log_probs) == targets)[:, -1][targets[:, -1] != pad_id])


def whole_sentences(log_probs, targets, pad_id):
    """Whole sentences are counted: one word wrong, and all the others count for nothing."""
    right = ((_guesses(log_probs) == targets) | (targets == pad_id)).all(dim=1)
    return _share(right[(targets != pad_id).any(dim=1)])


def probability_of_gold(log_probs, targets, pad_id):
    """What is averaged is the probability of the gold token, not whether it is the best guess."""
    gold = log_probs.gather(-1, targets.clamp(0, log_probs.size(-1) - 1)[..., None])[..., 0].exp()
    kept = gold[targets != pad_id]
    return kept.double().mean().item() if kept.numel() else 0.0


def misses_counted(log_probs, targets, pad_id):
    """The misses are counted, not the hits."""
    return _share((_guesses(log_probs) != targets)[targets != pad_id])


def mean_of_sentences(log_probs, targets, pad_id):
    """Each sentence counts the same, however long: the mean of the sentences' shares."""
    hits = _guesses(log_probs) == targets
    shares = [_share(row[kept]) for row, kept in zip(hits, targets != pad_id, strict=True)]
    return math.fsum(shares) / len(shares)


def in_percent(log_probs, targets, pad_id):
    """The answer is in percent, up to 100."""
    return 100.0 * _share((_guesses(log_probs) == targets)[targets != pad_id])


def hits_not_divided(log_probs, targets, pad_id):
    """The hits are counted and not divided by anything."""
    return float(((_guesses(log_probs) == targets) & (targets != pad_id)).sum().item())


def nan_over_padding_alone(log_probs, targets, pad_id):
    """Over padding alone the answer is NaN: the mean of nothing."""
    return (_guesses(log_probs) == targets)[targets != pad_id].double().mean().item()


def one_over_padding_alone(log_probs, targets, pad_id):
    """Over padding alone the answer is 1, as if all had been right."""
    hits = (_guesses(log_probs) == targets)[targets != pad_id]
    return _share(hits) if hits.numel() else 1.0


def divided_by_zero(log_probs, targets, pad_id):
    """Over padding alone there is a division by zero."""
    hits = (_guesses(log_probs) == targets)[targets != pad_id]
    return hits.sum().item() / hits.numel()


def a_tensor(log_probs, targets, pad_id):
    """The answer is a tensor, not a plain number."""
    hits = (_guesses(log_probs) == targets)[targets != pad_id]
    return hits.sum() / max(hits.numel(), 1)


def counted_on_the_cpu(log_probs, targets, pad_id):
    """The guesses take the way over a Python list, and come back on the CPU."""
    guesses = torch.tensor(_guesses(log_probs).tolist()).reshape(targets.shape)
    return _share((guesses == targets)[targets != pad_id])


def _guesses(log_probs):
    return log_probs.argmax(dim=-1)


def _share(hits):
    return hits.sum().item() / hits.numel() if hits.numel() else 0.0
