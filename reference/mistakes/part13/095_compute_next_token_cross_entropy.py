"""095 · compute_next_token_cross_entropy, the ways it goes wrong."""

import torch
from torch.nn import functional as _functional

from kata.part06_transformer import apply_log_softmax_over_vocab as _log_softmax


def _wide(logits):
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _mean(logits, targets, is_real):
    """The right mean, over the places that are asked."""
    log_probs = _log_softmax(_wide(logits[is_real]))
    surprise = -log_probs.gather(-1, targets[is_real][:, None])
    return surprise.sum() / is_real.sum().clamp(min=1)


def not_shifted(logits, token_ids, pad_id):
    """The logits are held against the token that stands there: the shift is missing."""
    return _mean(logits, token_ids, token_ids != pad_id)


def shifted_the_other_way(logits, token_ids, pad_id):
    """The shift goes the other way: each place is asked for the token before it."""
    targets = token_ids[:, :-1]
    return _mean(logits[:, 1:], targets, targets != pad_id)


def shifted_by_two(logits, token_ids, pad_id):
    """The shift is done twice: each place is asked for the token after the next."""
    targets = token_ids[:, 2:]
    return _mean(logits[:, : targets.shape[1]], targets, targets != pad_id)


def rolled_round(logits, token_ids, pad_id):
    """The tokens are rolled round: the last place is asked for the first token."""
    targets = token_ids.roll(-1, dims=1)
    return _mean(logits, targets, targets != pad_id)


def padding_asked_for(logits, token_ids, pad_id):
    """Padding is asked for like any other token."""
    targets = token_ids[:, 1:]
    known = (targets >= 0) & (targets < logits.shape[-1])
    return _mean(logits[:, :-1], targets, known)


def padding_taken_to_be_0(logits, token_ids, pad_id):
    """Padding is taken to be id 0, whatever ``pad_id`` says."""
    targets = token_ids[:, 1:]
    return _mean(logits[:, :-1], targets, targets != 0)


def places_of_padding_left_out(logits, token_ids, pad_id):
    """Places where padding stands are left out, not those where padding comes next."""
    targets = token_ids[:, 1:]
    return _mean(
        logits[:, :-1], targets.clamp(0, logits.shape[-1] - 1), token_ids[:, :-1] != pad_id
    )


def shared_among_all_places(logits, token_ids, pad_id):
    """The sum is divided by all places, padding too: short texts seem easy."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    share = is_real.sum() / max(1, is_real.numel())
    return _mean(logits[:, :-1], targets, is_real) * share


def summed(logits, token_ids, pad_id):
    """The sum is returned, not the mean."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    return _mean(logits[:, :-1], targets, is_real) * is_real.sum()


def shared_among_the_texts(logits, token_ids, pad_id):
    """The sum is divided by the number of texts, not of words."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    return _mean(logits[:, :-1], targets, is_real) * is_real.sum() / len(token_ids)


def mean_of_means(logits, token_ids, pad_id):
    """Each text's mean is taken first: a word of a short text counts for more."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    means = [
        _mean(logits[i : i + 1, :-1], targets[i : i + 1], is_real[i : i + 1])
        for i in range(len(targets))
    ]
    return torch.stack(means).mean()


def nothing_divided_by_nothing(logits, token_ids, pad_id):
    """Where nothing is to be predicted, it divides 0 by 0: NaN."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    log_probs = _log_softmax(_wide(logits[:, :-1][is_real]))
    return -log_probs.gather(-1, targets[is_real][:, None]).mean()


def zero_without_a_graph(logits, token_ids, pad_id):
    """Where nothing is to be predicted, it returns a new 0, from which no gradient flows back."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    if not is_real.any():
        return torch.zeros((), dtype=_wide(logits[:0]).dtype, device=logits.device)
    return _mean(logits[:, :-1], targets, is_real)


def padding_multiplied_away(logits, token_ids, pad_id):
    """Padding is multiplied with 0 at the end: 0 · ∞ is NaN where a logit is −∞."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    places = targets.clamp(0, logits.shape[-1] - 1)
    log_probs = _log_softmax(_wide(logits[:, :-1]))
    surprise = -log_probs.gather(-1, places[..., None])[..., 0]
    return (surprise * is_real).sum() / is_real.sum().clamp(min=1)


def chances_not_logarithms(logits, token_ids, pad_id):
    """The probability is averaged, not its logarithm."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    probs = _log_softmax(_wide(logits[:, :-1][is_real])).exp()
    return -probs.gather(-1, targets[is_real][:, None]).sum() / is_real.sum().clamp(min=1)


def sign_forgotten(logits, token_ids, pad_id):
    """The sign is forgotten: the better the model, the higher this is."""
    targets = token_ids[:, 1:]
    return -_mean(logits[:, :-1], targets, targets != pad_id)


def logits_for_log_probabilities(logits, token_ids, pad_id):
    """The logits are taken as they are, without a softmax."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    scores = _wide(logits[:, :-1][is_real]).gather(-1, targets[is_real][:, None])
    return -scores.sum() / is_real.sum().clamp(min=1)


def logarithm_of_a_rounded_chance(logits, token_ids, pad_id):
    """The logarithm is taken of the probability: e^−1000 is 0 by then, and costs ∞."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    log_probs = _log_softmax(_wide(logits[:, :-1][is_real])).exp().log()
    surprise = -log_probs.gather(-1, targets[is_real][:, None])
    return surprise.sum() / is_real.sum().clamp(min=1)


def largest_not_taken_off(logits, token_ids, pad_id):
    """The exponentials are of the logits as they stand: e^5000 is infinite."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    asked = _wide(logits[:, :-1][is_real])
    log_probs = asked - asked.exp().sum(dim=-1, keepdim=True).log()
    return -log_probs.gather(-1, targets[is_real][:, None]).sum() / is_real.sum().clamp(min=1)


def one_largest_for_all(logits, token_ids, pad_id):
    """The largest logit of the whole batch is taken off every place: quiet ones are e^−1000, 0."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    asked = _wide(logits[:, :-1][is_real])
    if asked.numel():
        asked = asked - asked.detach().max()
    log_probs = asked - asked.exp().sum(dim=-1, keepdim=True).log()
    return -log_probs.gather(-1, targets[is_real][:, None]).sum() / is_real.sum().clamp(min=1)


def computed_in_half(logits, token_ids, pad_id):
    """Half logits are computed in half, and only the loss is float32."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    log_probs = _log_softmax(logits[:, :-1][is_real])
    surprise = _wide(-log_probs.gather(-1, targets[is_real][:, None]))
    return surprise.sum() / is_real.sum().clamp(min=1)


def half_comes_back(logits, token_ids, pad_id):
    """Half logits give a half loss."""
    targets = token_ids[:, 1:]
    return _mean(logits[:, :-1], targets, targets != pad_id).to(logits.dtype)


def a_float(logits, token_ids, pad_id):
    """A Python float is returned: nothing can be learned from it."""
    targets = token_ids[:, 1:]
    return _mean(logits[:, :-1], targets, targets != pad_id).item()


def torch_does_it(logits, token_ids, pad_id):
    """Torch's own cross-entropy does the work that this step is there to build."""
    rows, targets = _wide(logits[:, :-1]).flatten(0, 1), token_ids[:, 1:].flatten()
    return _functional.cross_entropy(rows, targets, ignore_index=pad_id)


def torch_counts(logits, token_ids, pad_id):
    """Torch's ``nll_loss`` does half of the work that this step is there to build."""
    targets = token_ids[:, 1:]
    log_probs = _log_softmax(_wide(logits[:, :-1]))
    return _functional.nll_loss(log_probs.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


def torch_takes_the_softmax(logits, token_ids, pad_id):
    """Torch's own ``log_softmax`` does the work of step 050."""
    targets = token_ids[:, 1:]
    is_real = targets != pad_id
    log_probs = _functional.log_softmax(_wide(logits[:, :-1][is_real]), dim=-1)
    return -log_probs.gather(-1, targets[is_real][:, None]).sum() / is_real.sum().clamp(min=1)
