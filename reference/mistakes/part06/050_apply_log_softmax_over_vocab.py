"""050 · apply_log_softmax_over_vocab, the ways it goes wrong."""

import torch
from torch.nn import functional


def _shares(logits, dim=-1):
    raised = (logits - logits.detach().amax(dim=dim, keepdim=True)).exp()
    return raised / raised.sum(dim=dim, keepdim=True)


def _finish(shifted):
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()


def nothing_taken_off(logits):
    """The largest score is not taken off first: e^10000 is infinite."""
    return _finish(logits)


def shift_not_put_back(logits):
    """The largest score is taken off inside the sum and not put back."""
    best = logits.detach().amax(dim=-1, keepdim=True)
    return logits - (logits - best).exp().sum(dim=-1, keepdim=True).log()


def log_of_the_shares(logits):
    """The shares are computed first and their logarithm last: a share of 0 becomes −inf."""
    return _shares(logits).log()


def a_little_added(logits):
    """A small number is added before the logarithm: every log-probability is a little wrong."""
    return (_shares(logits) + 1e-9).log()


def shares_lifted(logits):
    """Shares are lifted to 10⁻¹² before the logarithm: hopeless words all score alike."""
    return _shares(logits).clamp(min=1e-12).log()


def probabilities(logits):
    """The logarithm is missing: these are probabilities."""
    return _shares(logits)


def sign_turned_round(logits):
    """The sign is turned round: these are surprises, −log p."""
    return -_finish(logits - logits.detach().amax(dim=-1, keepdim=True))


def over_positions(logits):
    """The shares are handed out over the positions, not over the vocabulary."""
    turned = logits.transpose(1, 2)
    return _finish(turned - turned.detach().amax(dim=-1, keepdim=True)).transpose(1, 2)


def over_the_batch(logits):
    """The shares are handed out over the sentences of the batch, not over the vocabulary."""
    turned = logits.transpose(0, 2)
    return _finish(turned - turned.detach().amax(dim=-1, keepdim=True)).transpose(0, 2)


def one_maximum_for_all(logits):
    """One maximum for the whole batch is taken off: a quiet row drowns beside a loud one."""
    return _finish(logits - logits.detach().max())


def sum_not_logged(logits):
    """The sum itself is subtracted, not its logarithm."""
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    return shifted - shifted.exp().sum(dim=-1, keepdim=True)


def base_two(logits):
    """The logarithm is the one of base 2."""
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log2()


def total_detached(logits):
    """The sum is detached: each score's gradient is 1, and the others never hear of it."""
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log().detach()


def in_place(logits):
    """The largest score is taken off in place: the caller's logits change."""
    logits -= logits.detach().amax(dim=-1, keepdim=True)
    return _finish(logits)


def in_float32(logits):
    """The result is float32, whatever came in."""
    logits = logits.float()
    return _finish(logits - logits.detach().amax(dim=-1, keepdim=True))


def torch_does_it(logits):
    """Torch's own log-softmax does the work that this step is there to build."""
    return functional.log_softmax(logits, dim=-1)


def logsumexp_does_it(logits):
    """Torch's logsumexp does the work that this step is there to build."""
    return logits - torch.logsumexp(logits, dim=-1, keepdim=True)
