"""Wrong versions of step 061, one slip each."""

import torch
from torch.nn import functional


def cross_entropy(log_probs, distribution):
    """The belief's own entropy is left out: −Σ p · log q, which is not 0 when the two agree."""
    believed = distribution > 0
    return -(distribution[believed] * log_probs[believed]).sum()


def probabilities_for_logs(log_probs, distribution):
    """The model's probabilities stand where its log-probabilities belong."""
    return _divergence(log_probs.exp(), distribution)


def log_taken_twice(log_probs, distribution):
    """The logarithm is taken once more of what is a log-probability already."""
    believed = distribution > 0
    probs = distribution[believed]
    return (probs * (probs.log() - log_probs[believed].log())).sum()


def the_other_way_round(log_probs, distribution):
    """The two sides are swapped: Σ q · (log q − log p), weighted by the model's belief."""
    believed = distribution > 0
    log_q = log_probs[believed]
    return (log_q.exp() * (log_q - distribution[believed].log())).sum()


def sign_turned_round(log_probs, distribution):
    """The sign is turned round: the better the model, the higher the loss."""
    return -_divergence(log_probs, distribution)


def zero_times_infinity(log_probs, distribution):
    """0 · log 0 is NaN: the entries without belief are not left out."""
    return (distribution * (distribution.log() - log_probs)).sum()


def impossible_words_are_nan(log_probs, distribution):
    """Only log p is guarded: where p = 0 meets log q = −∞, 0 · ∞ is NaN."""
    return (torch.special.xlogy(distribution, distribution) - distribution * log_probs).sum()


def swept_away(log_probs, distribution):
    """`nan_to_num` sweeps up afterwards: a loss of ∞ becomes 3.4 · 10³⁸, and NaN becomes 0."""
    return (distribution * (distribution.log() - log_probs)).nan_to_num(0.0).sum()


def small_shares_left_out(log_probs, distribution):
    """Small shares are left out: p > 10⁻⁸, say, stands where p > 0 is meant."""
    return _divergence(log_probs, distribution.masked_fill(distribution <= 1e-8, 0.0))


def a_little_extra(log_probs, distribution):
    """A small number is added to p before the logarithm, and every share is a little off."""
    believed = distribution > 0
    probs = distribution[believed]
    return (probs * ((probs + 1e-8).log() - log_probs[believed])).sum()


def floor_under_the_logs(log_probs, distribution):
    """Log-probabilities below −100 are lifted to −100."""
    return _divergence(log_probs.clamp(min=-100.0), distribution)


def mean_over_rows(log_probs, distribution):
    """The mean over the rows is taken, not the sum: pads count as tokens."""
    return _divergence(log_probs, distribution) / distribution.size(0)


def mean_over_everything(log_probs, distribution):
    """The mean over all entries is taken, not the sum."""
    return _divergence(log_probs, distribution) / distribution.numel()


def one_loss_a_row(log_probs, distribution):
    """There is one loss for each row: the sum stops at the vocabulary."""
    believed = distribution > 0
    guarded = distribution.masked_fill(~believed, 1.0)
    log_probs = log_probs.masked_fill(~believed, 0.0)
    return (distribution * (guarded.log() - log_probs)).sum(dim=-1)


def model_detached(log_probs, distribution):
    """The log-probabilities are detached: the model learns nothing."""
    return _divergence(log_probs.detach(), distribution)


def belief_detached(log_probs, distribution):
    """The distribution is detached: no gradient flows to it."""
    return _divergence(log_probs, distribution.detach())


def in_float32(log_probs, distribution):
    """The loss is float32, whatever came in."""
    return _divergence(log_probs.float(), distribution.float())


def in_place(log_probs, distribution):
    """The zeros of the caller's distribution are overwritten by a small number."""
    with torch.no_grad():
        distribution.clamp_(min=1e-12)
    return (distribution * (distribution.log() - log_probs)).sum()


def sum_started_on_the_cpu(log_probs, distribution):
    """The sum starts from a list on the CPU, wherever the model's answers are."""
    total = torch.zeros(1, dtype=log_probs.dtype)
    return torch.cat((total, _divergence(log_probs, distribution)[None])).sum()


def torch_does_it(log_probs, distribution):
    """Torch's kl_div does the work that this step is there to build."""
    return functional.kl_div(log_probs, distribution, reduction="sum")


def distributions_do_it(log_probs, distribution):
    """Torch's distributions do the work that this step is there to build."""
    asked = distribution.sum(dim=-1) > 0
    belief = torch.distributions.Categorical(probs=distribution[asked])
    model = torch.distributions.Categorical(logits=log_probs[asked])
    return torch.distributions.kl_divergence(belief, model).sum()


def _divergence(log_probs, distribution):
    believed = distribution > 0
    probs = distribution[believed]
    return (probs * (probs.log() - log_probs[believed])).sum()
