"""Mutants that no spec can kill, each with the reason why it is no slip."""

_NOTHING = "surprise = distribution.masked_fill(nothing, 1.0).log() - log_probs.masked_fill(nothing, 0.0)"

_SHIFT = "below_best = logits - logits.detach().amax(dim=-1, keepdim=True)"

EQUIVALENT: dict[int, dict[str, str]] = {
    50: {
        f"{_SHIFT} → {_SHIFT.replace('detach', 'clone')}": "a shift cancels out, gradient and all",
    },
    61: {
        f"{_NOTHING} → {_NOTHING.replace(', 1.0)', ', 2.0)')}": "p = 0 times any number is 0",
        f"{_NOTHING} → {_NOTHING.replace(', 0.0)', ', 1.0)')}": "p = 0 times any number is 0",
    },
}
