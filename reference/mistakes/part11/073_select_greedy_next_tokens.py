"""Wrong versions of step 073, one slip each."""

import torch


def first_position(log_probs):
    """The first position is read, not the last."""
    return log_probs[:, 0].argmax(dim=-1)


def last_sentence(log_probs):
    """The last sentence is read, at every position, not the last position of every sentence."""
    return log_probs[-1].argmax(dim=-1)


def every_position(log_probs):
    """The best word of every position comes back, not of the last one alone."""
    return log_probs.argmax(dim=-1)


def over_the_sentences(log_probs):
    """The best sentence is sought for each word, not the best word for each sentence."""
    return log_probs[:, -1].argmax(dim=0)


def whole_batch_at_once(log_probs):
    """One best place is sought in all rows together: argmax without a dimension."""
    return log_probs[:, -1].argmax()


def least_likely(log_probs):
    """The least likely word is taken."""
    return log_probs[:, -1].argmin(dim=-1)


def highest_id_wins_a_tie(log_probs):
    """Of words that tie the one with the highest id is taken."""
    scores = log_probs[:, -1]
    return scores.shape[-1] - 1 - scores.flip(-1).argmax(dim=-1)


def column_kept(log_probs):
    """The dimension of the words is kept: a column comes back."""
    return log_probs[:, -1].argmax(dim=-1, keepdim=True)


def scores_returned(log_probs):
    """The best score comes back, not whose it is."""
    return log_probs[:, -1].amax(dim=-1)


def ids_as_floats(log_probs):
    """The ids are made numbers of the scores' type, not whole numbers."""
    return log_probs[:, -1].argmax(dim=-1).to(log_probs.dtype)


def over_all_positions(log_probs):
    """Each word's best score at any position counts, not the one at the last."""
    return log_probs.amax(dim=1).argmax(dim=-1)


def by_way_of_a_list(log_probs):
    """The ids pass through a Python list, and come back on the CPU."""
    return torch.tensor([row.argmax().item() for row in log_probs[:, -1]])


def squeezed(log_probs):
    """``squeeze`` takes away every axis of size 1: of a batch of one only a number is left."""
    return log_probs[:, -1:].argmax(dim=-1).squeeze()
