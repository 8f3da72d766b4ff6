"""Right but unusual versions of step 103."""

import torch
from torch import multinomial, rand


def guess_by_guess(draft_probs, target_probs, draft_tokens, generator=None):
    """One number is drawn for each guess that is looked at, and the replacement is normalised."""
    said = []
    for place, token in enumerate(draft_tokens.tolist()):
        p, q = target_probs[place], draft_probs[place]
        ratio = (p[token] / q[token]).clamp(max=1)
        if rand(1, generator=generator, device=p.device) < ratio:
            said.append(token)
            continue
        left = torch.where(p > q, p - q, torch.zeros_like(p))
        said.append(multinomial(left / left.sum(), 1, generator=generator).item())
        return draft_tokens.new_tensor(said)
    said.append(int(target_probs[-1].multinomial(1, generator=generator)))
    return draft_tokens.new_tensor(said)


def draft_that_says_nothing(draft_probs, target_probs, draft_tokens, generator=None):
    """Behind its last guess the draft has a row of zeros, so max(p − q, 0) is p there."""
    count = draft_tokens.numel()
    places = torch.arange(count, device=draft_tokens.device)
    p, q = target_probs[places, draft_tokens], draft_probs[places, draft_tokens]
    refused = torch.rand((count,), generator=generator, device=p.device) >= p / q
    first = int(torch.cat([refused, refused.new_ones(1)]).int().argmax())
    padded = torch.cat([draft_probs, torch.zeros_like(target_probs[:1])])
    left = (target_probs - padded).clamp(min=0)[first : first + 1]
    extra = torch.multinomial(left.float(), num_samples=1, generator=generator)
    return torch.cat([draft_tokens[:first], extra.flatten()])
