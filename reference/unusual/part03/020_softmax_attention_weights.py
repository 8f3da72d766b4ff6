"""Right but unusual versions of step 020."""

from math import inf, log

import torch
import torch._dynamo  # loaded here: its first use takes longer than a call of the laws may
from torch.nn import functional


def exp_of_the_logarithm_of_shares(scores):
    """Centred, then exp(s − ln Σ exp s), with half scores in float32."""
    precise = scores.to(torch.promote_types(scores.dtype, torch.float32))
    loudest = precise.amax(-1, keepdim=True)
    nobody = loudest.isneginf()  # of such a row, logsumexp would have the gradient NaN
    centred = torch.where(nobody, 0.0, precise - torch.where(nobody, 0.0, loudest))
    shares = torch.exp(centred - torch.logsumexp(centred, dim=-1, keepdim=True))
    return torch.where(nobody, 0.0, shares).to(scores.dtype)


class _Shares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        loudest = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
        raised = (scores - loudest).exp_()
        total = raised.sum(-1, keepdim=True)
        shares = raised.div_(total.masked_fill_(total == 0, 1))
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    def backward(ctx, gradient):
        (shares,) = ctx.saved_tensors
        flow = gradient * shares
        return flow - shares * flow.sum(-1, keepdim=True)


def own_function(scores):
    """An ``autograd.Function``: forward in place, backward w · (g − Σ w g)."""
    return _Shares.apply(scores)


def normalised_in_the_one_norm(scores):
    """Powers of 2, in float32 at least, made to add up to 1 by ``F.normalize``."""
    precise = scores.to(torch.promote_types(scores.dtype, torch.float32))
    loudest = precise.sort(dim=-1, descending=True).values[..., :1]
    floor = torch.finfo(precise.dtype).min
    raised = torch.exp2((precise - loudest.clamp(min=floor)) / log(2))
    return functional.normalize(raised, p=1.0, dim=-1).type(scores.dtype)


def one_key_after_the_other(scores):
    """The maximum and the total are kept up to date from key to key, as in online softmax."""
    loudest = torch.full_like(scores[..., 0], torch.finfo(scores.dtype).min)
    total = torch.zeros_like(loudest)
    for score in scores.unbind(-1):
        louder = torch.maximum(loudest, score)
        total = total * torch.exp(loudest - louder) + torch.exp(score - louder)
        loudest = louder
    safe = torch.where(total > 0, total, torch.ones_like(total))
    return torch.stack([torch.exp(score - loudest) / safe for score in scores.unbind(-1)], dim=-1)


def query_after_query(scores):
    """A loop over all queries; one that sees nothing is multiplied away."""
    rows = scores.reshape(-1, scores.shape[-1])
    answers = torch.zeros_like(rows)
    for i, row in enumerate(rows):
        heard = row != -inf
        if heard.any():
            raised = torch.exp(row[heard] - row[heard].max())
            answers[i, heard] = raised / raised.sum()
        else:
            answers[i] = row.masked_fill(~heard, 0) * 0
    return answers.view(scores.shape)


def gradient_of_the_loudness(scores):
    """The shares are the gradient of ln Σ exp(s), which ``torch.func.grad`` takes."""
    precise = scores.to(torch.promote_types(scores.dtype, torch.float32))
    alone = torch.isneginf(precise).all(-1, keepdim=True)
    centred = precise.masked_fill(alone, 0)
    centred = centred - centred.amax(-1, keepdim=True).detach()
    shares = torch.func.grad(lambda s: torch.logsumexp(s, dim=-1).sum())(centred)
    return shares.masked_fill(alone, 0).to(scores.dtype)
