"""Wrong versions of step 103, one slip each."""

import torch


def replaced_from_the_target(draft_probs, target_probs, draft_tokens, generator=None):
    """A rejected guess is replaced from p, not from what p has more than q."""
    return _verify(draft_probs, target_probs, draft_tokens, generator, left=lambda p, *_: p)


def replaced_from_the_distance(draft_probs, target_probs, draft_tokens, generator=None):
    """A rejected guess is replaced from |p − q|: words that q had too much of get more."""
    return _verify(
        draft_probs, target_probs, draft_tokens, generator, left=lambda p, q, _: (p - q).abs()
    )


def replaced_the_other_way(draft_probs, target_probs, draft_tokens, generator=None):
    """A rejected guess is replaced from max(q − p, 0)."""
    return _verify(
        draft_probs,
        target_probs,
        draft_tokens,
        generator,
        left=lambda p, q, _: (q - p).relu(),
    )


def replaced_from_the_others(draft_probs, target_probs, draft_tokens, generator=None):
    """A rejected guess is replaced from p without that token, not from max(p − q, 0)."""

    def left(p, _, token):
        return p.where(torch.arange(len(p), device=p.device) != token, 0.0)

    return _verify(draft_probs, target_probs, draft_tokens, generator, left=left)


def all_accepted(draft_probs, target_probs, draft_tokens, generator=None):
    """Every guess is accepted, whatever the target says of it."""
    return _verify(draft_probs, target_probs, draft_tokens, generator, accept=lambda u, p, q: u < 2)


def accepted_with_p(draft_probs, target_probs, draft_tokens, generator=None):
    """A guess is accepted with probability p, not p / q."""
    return _verify(draft_probs, target_probs, draft_tokens, generator, accept=lambda u, p, q: u < p)


def accepted_with_q_over_p(draft_probs, target_probs, draft_tokens, generator=None):
    """A guess is accepted with q / p, upside down."""
    return _verify(
        draft_probs, target_probs, draft_tokens, generator, accept=lambda u, p, q: u * p < q
    )


def impossible_kept_at_zero(draft_probs, target_probs, draft_tokens, generator=None):
    """Drawn ≤ p / q: when exactly 0 is drawn, a word that the target rules out is kept."""
    return _verify(
        draft_probs, target_probs, draft_tokens, generator, accept=lambda u, p, q: u * q <= p
    )


def one_draw_for_all(draft_probs, target_probs, draft_tokens, generator=None):
    """One number is drawn for all guesses."""
    return _verify(draft_probs, target_probs, draft_tokens, generator, draws=1)


def later_guesses_kept(draft_probs, target_probs, draft_tokens, generator=None):
    """Accepted guesses are counted, also those behind the first that was rejected."""
    return _verify(
        draft_probs, target_probs, draft_tokens, generator, count=lambda kept: kept.sum()
    )


def checked_on_behind_the_first(draft_probs, target_probs, draft_tokens, generator=None):
    """Behind a rejected guess the next are checked as well: they followed a word never said."""
    said = []
    for i in range(len(draft_tokens)):
        one = slice(i, i + 1)
        pair = draft_probs[one], target_probs[i : i + 2], draft_tokens[one]
        said.append(_verify(*pair, generator)[:1])
    return torch.cat([*said, _drawn(target_probs[-1], generator)])


def nothing_extra(draft_probs, target_probs, draft_tokens, generator=None):
    """When all guesses are accepted, no token is added."""
    answer = _verify(draft_probs, target_probs, draft_tokens, generator)
    return answer[: max(len(draft_tokens), 1)]


def extra_from_the_row_before(draft_probs, target_probs, draft_tokens, generator=None):
    """The token behind the last guess is drawn from the row of the last guess itself."""
    rows = torch.cat([target_probs[:-1], target_probs[:-1][-1:]]) if len(draft_tokens) else None
    return _verify(draft_probs, target_probs if rows is None else rows, draft_tokens, generator)


def extra_after_a_rejection(draft_probs, target_probs, draft_tokens, generator=None):
    """A token from the last row is added after a rejection as well."""
    answer = _verify(draft_probs, target_probs, draft_tokens, generator)
    if len(answer) <= len(draft_tokens):
        more = torch.multinomial(target_probs[-1], 1, generator=generator)
        answer = torch.cat([answer, more])
    return answer


def likeliest_extra(draft_probs, target_probs, draft_tokens, generator=None):
    """The likeliest word is taken where one should be drawn."""
    return _verify(
        draft_probs,
        target_probs,
        draft_tokens,
        generator,
        draw=lambda left, generator: left.argmax(dim=-1, keepdim=True),
    )


def generator_not_used(draft_probs, target_probs, draft_tokens, generator=None):
    """Everybody's generator is drawn from, whichever is given."""
    return _verify(draft_probs, target_probs, draft_tokens, None)


def drawn_on_the_cpu(draft_probs, target_probs, draft_tokens, generator=None):
    """The numbers are drawn on the CPU, wherever the probabilities are."""
    return _verify(draft_probs, target_probs, draft_tokens, generator, device="cpu")


def _drawn(left, generator):
    return torch.multinomial(left, 1, generator=generator)


def _verify(
    draft_probs,
    target_probs,
    draft_tokens,
    generator,
    left=lambda p, q, _: (p - q).clamp(min=0),
    accept=lambda u, p, q: u * q < p,
    count=lambda kept: kept.cumprod(dim=0).sum(),
    draws=None,
    draw=_drawn,
    device=None,
):
    guesses = len(draft_tokens)
    p = target_probs[:guesses].gather(1, draft_tokens[:, None])[:, 0]
    q = draft_probs.gather(1, draft_tokens[:, None])[:, 0]
    u = torch.rand(draws or guesses, generator=generator, device=device or p.device)
    kept = accept(u[:guesses], p, q)
    accepted = int(count(kept))
    row = target_probs[accepted]
    if accepted < guesses:
        row = left(row, draft_probs[accepted], draft_tokens[accepted])
    return torch.cat([draft_tokens[:accepted], draw(row, generator)])
