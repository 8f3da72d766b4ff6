"""Wrong versions of step 102, one slip each."""

import math

import torch

from kata.part03_attention import softmax_attention_weights


def temperature_twice(logits, temperature=1.0, top_k=None, top_p=None):
    """The logits are divided by the temperature twice."""
    return _distribution(logits, temperature**2, top_k, top_p, told=temperature)


def temperature_multiplies(logits, temperature=1.0, top_k=None, top_p=None):
    """The logits are multiplied by the temperature."""
    return _distribution(logits, 1 / temperature if temperature else 0, top_k, top_p, temperature)


def temperature_not_used(logits, temperature=1.0, top_k=None, top_p=None):
    """The temperature is not used."""
    return _distribution(logits, 1.0 if temperature > 0 else temperature, top_k, top_p)


def temperature_last(logits, temperature=1.0, top_k=None, top_p=None):
    """top_p is cut at temperature 1, and the temperature comes after it."""
    if temperature <= 0:
        return _distribution(logits, temperature, top_k, top_p)
    kept = _distribution(logits, 1.0, top_k, top_p) > 0
    return _distribution(logits.masked_fill(~kept, -math.inf), temperature, None, None)


def divided_by_zero(logits, temperature=1.0, top_k=None, top_p=None):
    """At temperature 0 the logits are divided by it."""
    _check(logits, temperature, top_k, top_p)
    if temperature == 0:
        return softmax_attention_weights(logits / 0.0)
    return _distribution(logits, temperature, top_k, top_p)


def not_renormalised(logits, temperature=1.0, top_k=None, top_p=None):
    """What is left is not made to add up to 1 again."""
    kept = _distribution(logits, temperature, top_k, top_p) > 0
    return _distribution(logits, temperature, None, None).masked_fill(~kept, 0.0)


def top_p_of_everything(logits, temperature=1.0, top_k=None, top_p=None):
    """top_p is measured before top_k has cut, not on what top_k has left."""
    kept = _distribution(logits, temperature, None, top_p) > 0
    _check(logits, temperature, top_k, top_p)
    return _distribution(
        logits.masked_fill(~kept, -math.inf) if temperature else logits, temperature, top_k, None
    )


def crossing_word_dropped(logits, temperature=1.0, top_k=None, top_p=None):
    """The word that crosses top_p is cut off too; only the first always stays."""
    return _distribution(logits, temperature, top_k, top_p, cut=_before_it_crosses)


def one_word_more(logits, temperature=1.0, top_k=None, top_p=None):
    """When words make exactly top_p, one more stays."""
    return _distribution(
        logits, temperature, top_k, top_p, cut=lambda shares, p: _better(shares) <= p
    )


def top_p_one_keeps_one(logits, temperature=1.0, top_k=None, top_p=None):
    """At top_p = 1 the sum never passes it, argmax of nothing says 0, and one word is left."""
    return _distribution(
        logits,
        temperature,
        top_k,
        1e-9 if top_p == 1 else top_p,
        told_p=top_p,
    )


def tail_lost_to_rounding(logits, temperature=1.0, top_k=None, top_p=None):
    """At top_p = 1 the sum is 1 before the tail is reached, and the tail is cut off."""
    return _distribution(logits, temperature, top_k, 1.0 if top_p is None else top_p, always=True)


def all_that_tie(logits, temperature=1.0, top_k=None, top_p=None):
    """All words that tie at the k-th place stay: more than top_k."""
    _check(logits, temperature, top_k, top_p)
    least = logits.topk(top_k or logits.shape[-1]).values[..., -1:]
    logits = logits.masked_fill(logits < least, -math.inf)
    return _distribution(logits, temperature, None, top_p)


def ties_to_the_higher_id(logits, temperature=1.0, top_k=None, top_p=None):
    """Of words that tie the higher id wins."""
    flipped = _distribution(logits.flip(-1), temperature, top_k, top_p)
    return flipped.flip(-1)


def left_in_falling_order(logits, temperature=1.0, top_k=None, top_p=None):
    """The probabilities come back in falling order, not at their words' places."""
    return _distribution(logits, temperature, top_k, top_p).sort(-1, descending=True).values


def cut_by_the_first_row(logits, temperature=1.0, top_k=None, top_p=None):
    """The first row's number of words is kept in all rows."""
    first = _distribution(logits[:1], temperature, top_k, top_p)
    _check(logits, temperature, top_k, top_p)
    return _distribution(logits, temperature, int((first > 0).sum()), None)


def summed_in_half_precision(logits, temperature=1.0, top_k=None, top_p=None):
    """Half probabilities are summed in half precision, where the sum comes to a stop."""
    return _distribution(logits, temperature, top_k, top_p, precise=False)


def nothing_checked(logits, temperature=1.0, top_k=None, top_p=None):
    """Bad values of top_k, top_p and the temperature are let through."""
    top_k = None if top_k is None else min(max(top_k, 1), logits.shape[-1])
    top_p = None if top_p is None else min(max(top_p, 1e-9), 1.0)
    return _distribution(logits, max(temperature, 0.0), top_k, top_p)


def _check(logits, temperature, top_k, top_p):
    if temperature < 0:
        raise ValueError(f"temperature must be 0 or more, got {temperature}")
    if top_k is not None and not 1 <= top_k <= logits.shape[-1]:
        raise ValueError(f"top_k must be from 1 to {logits.shape[-1]}, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")


def _better(shares):
    return shares.cumsum(-1) - shares


def _reached(shares, top_p):
    return _better(shares) < top_p


def _before_it_crosses(shares, top_p):
    first = torch.arange(shares.shape[-1], device=shares.device) == 0
    return first | (shares.cumsum(-1) <= top_p)


def _distribution(
    logits,
    temperature,
    top_k,
    top_p,
    told=None,
    told_p=None,
    cut=_reached,
    always=False,
    precise=True,
):
    _check(logits, temperature if told is None else told, top_k, told_p or top_p)
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    top_k = logits.shape[-1] if top_k is None else top_k
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32)) if precise else logits
    ranked, ids = wide.sort(dim=-1, descending=True, stable=True)
    shares = softmax_attention_weights(ranked[:, :top_k] / temperature)
    if always or (top_p is not None and top_p < 1):
        shares = shares.masked_fill(~cut(shares, top_p), 0.0)
        shares = shares / shares.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids[:, :top_k], shares.to(logits.dtype))
