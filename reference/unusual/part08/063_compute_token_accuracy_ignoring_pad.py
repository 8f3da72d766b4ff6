"""Right but unusual versions of step 063."""

from statistics import fmean

import torch


def mean_of_real_hits(log_probs, targets, pad_id):
    """Padding is taken out before anybody guesses; the mean is float64."""
    real = targets != pad_id
    hits = log_probs[real].argmax(dim=-1) == targets[real]
    return hits.double().mean().item() if len(hits) else 0.0


def plain_lists(log_probs, targets, pad_id):
    """Token after token, in plain Python."""
    hits = []
    for row, gold in zip(log_probs.flatten(0, 1).tolist(), targets.flatten().tolist(), strict=True):
        if gold != pad_id:
            guess = max(range(len(row)), key=row.__getitem__)
            hits.append(float(guess == gold))
    return fmean(hits) if hits else 0.0


def both_conditions_counted(log_probs, targets, pad_id):
    """Hits that are real over all that is real, or over 1."""
    _, guesses = log_probs.detach().max(dim=-1)
    real = targets.ne(pad_id)
    hits = guesses.eq(targets).logical_and(real)
    return hits.count_nonzero().item() / max(real.count_nonzero().item(), 1)


def first_of_the_sorted(log_probs, targets, pad_id):
    """A stable sort puts the best word in front; padding weighs 0 in the average."""
    order = log_probs.sort(dim=-1, descending=True, stable=True).indices
    weights = (targets != pad_id).double()
    hits = (order[..., 0] == targets) * weights
    return (hits.sum() / weights.sum().clamp(min=1)).item()


def sentence_by_sentence(log_probs, targets, pad_id):
    """Each sentence counts its hits and its words, and the two sums are divided at the end."""
    hits = words = 0
    with torch.no_grad():
        for believed, gold in zip(log_probs, targets, strict=True):
            places = torch.where(gold != pad_id)[0]
            words += len(places)
            hits += int((believed[places].argmax(dim=1) == gold[places]).sum())
    return hits / words if words else 0.0
