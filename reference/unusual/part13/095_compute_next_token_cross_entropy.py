"""095 · compute_next_token_cross_entropy, right all the same."""

import torch


def _wide(logits):
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def padding_filled_at_the_end(logits, token_ids, pad_id):
    """All places are computed; what stands at padding is filled over, before and after."""
    logits, targets = _wide(logits)[:, :-1], token_ids[:, 1:]
    is_pad = targets == pad_id
    logits = logits.masked_fill(is_pad[..., None], 0.0)
    places = targets.masked_fill(is_pad, 0).unsqueeze(-1)
    best = logits.max(dim=-1, keepdim=True).values
    total = torch.log((logits - best).exp().sum(dim=-1, keepdim=True)) + best
    surprise = (total - logits.gather(2, places)).squeeze(-1).masked_fill(is_pad, 0.0)
    return surprise.sum() / (~is_pad).sum().clamp(min=1)


def text_after_text(logits, token_ids, pad_id):
    """One text after the other, one word after the other; words are counted on the way."""
    surprise, words = _wide(logits[:, :0]).sum(), 0
    for scores, ids in zip(logits, token_ids, strict=True):
        for place, following in enumerate(ids[1:].tolist()):
            if following != pad_id:
                row = _wide(scores[place])
                row = row - row.max().detach()
                surprise = surprise + row.exp().sum().log() - row[following]
                words += 1
    return surprise / max(words, 1)


def last_place_told_to_be_padding(logits, token_ids, pad_id):
    """The tokens move one place to the left, and padding comes in at the end."""
    targets = torch.cat([token_ids[:, 1:], torch.full_like(token_ids[:, :1], pad_id)], dim=1)
    rows = torch.nonzero(targets.flatten() != pad_id).squeeze(1)
    asked = _wide(logits.flatten(0, 1).index_select(0, rows))
    asked = asked - asked.detach().amax(dim=1, keepdim=True)
    chosen = asked[torch.arange(len(rows), device=rows.device), targets.flatten()[rows]]
    return (asked.exp().sum(dim=1).log() - chosen).sum().div(max(len(rows), 1))
