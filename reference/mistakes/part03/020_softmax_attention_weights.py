"""Wrong versions of step 020, one slip each."""

import math

import torch
from torch.nn import functional


def over_queries(scores):
    """The shares are taken over the queries, not over the keys: columns add up to 1."""
    return _shares(scores, dim=-2)


def over_heads_and_keys(scores):
    """All heads together share one whole: each head's rows add up to less than 1."""
    return _shares(scores, dim=(-3, -1) if scores.ndim > 2 else -1)


def no_shift(scores):
    """The row's largest score is not taken off first, and exp(10000) is infinite."""
    raised = torch.exp(scores)
    return raised / raised.sum(dim=-1, keepdim=True)


def maximum_from_zero(scores):
    """The search for the largest score starts at 0, so rows far below 0 vanish."""
    raised = torch.exp(scores - _loudest(scores).clamp(min=0.0))
    total = raised.sum(dim=-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1.0)


def one_maximum_for_all(scores):
    """The largest score of the whole tensor is taken off every row, and quiet rows vanish."""
    raised = torch.exp(scores - scores.detach().max().clamp(min=torch.finfo(scores.dtype).min))
    total = raised.sum(dim=-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1.0)


def nan_when_all_is_hidden(scores):
    """A row of −∞ alone becomes NaN: −∞ − (−∞) has no answer."""
    raised = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True))
    return raised / raised.sum(dim=-1, keepdim=True)


def shared_out_when_all_is_hidden(scores):
    """A row of −∞ alone is shared out evenly: whoever sees no key hears them all."""
    return _shares(scores.clamp(min=torch.finfo(scores.dtype).min), dim=-1)


def nan_swept_away(scores):
    """The NaN of a hidden row is swept away at the end, but its gradient is still NaN."""
    return torch.nan_to_num(nan_when_all_is_hidden(scores), nan=0.0)


def a_little_extra(scores):
    """A small number is added to the sum, so the shares fall short of 1."""
    raised = torch.exp(scores - _loudest(scores))
    return raised / (raised.sum(dim=-1, keepdim=True) + 1e-6)


def axis_of_the_sum_dropped(scores):
    """The sum is taken without keepdim: the shares of one row are divided by the sums of others."""
    raised = torch.exp(scores - _loudest(scores))
    return raised / raised.sum(dim=-1).clamp(min=1.0)


def axis_of_the_maximum_dropped(scores):
    """The maximum is taken without keepdim: each column loses one row's largest score."""
    raised = torch.exp(scores - _loudest(scores).squeeze(-1))
    total = raised.sum(dim=-1, keepdim=True)
    return raised / total.masked_fill(total == 0, 1.0)


def one_sum_for_all(scores):
    """One sum runs over all queries: the whole table adds up to 1, not each of its rows."""
    raised = torch.exp(scores - _loudest(scores))
    return raised / raised.sum().clamp(min=1.0)


def in_place(scores):
    """The largest score is taken off in place: the caller's tensor changes."""
    loudest = _loudest(scores)
    scores -= loudest
    return _shares(scores, dim=-1)


def divided_in_place(scores):
    """The exponentials are divided in place, and the way back needs them as they were."""
    raised = torch.exp(scores - _loudest(scores))
    raised /= raised.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return raised


def detached(scores):
    """The scores are detached: no gradient flows back."""
    return _shares(scores.detach(), dim=-1)


def in_float32(scores):
    """The weights are float32, whatever the scores were."""
    return _shares(scores.float(), dim=-1)


def by_way_of_float32(scores):
    """All is computed in float32 and cast back: float64 loses half its digits on the way."""
    return _shares(scores.float(), dim=-1).to(scores.dtype)


def torch_does_it(scores):
    """Torch's softmax does the work that this step is there to build."""
    return torch.softmax(scores, dim=-1)


def softmin_does_it(scores):
    """Torch's softmin does the work, with the sign turned round."""
    return functional.softmin(-scores, dim=-1)


def _loudest(scores, dim=-1):
    loudest = scores.detach().amax(dim=dim, keepdim=True)
    return loudest.masked_fill(loudest == -math.inf, 0.0)


def _shares(scores, dim):
    raised = torch.exp(scores - _loudest(scores, dim))
    return raised / raised.sum(dim=dim, keepdim=True).clamp(min=1.0)
