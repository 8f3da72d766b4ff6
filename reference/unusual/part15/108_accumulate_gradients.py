"""Right but unusual versions of step 108."""

import torch


def running_mean(micro_batches, parameters, compute_loss):
    """After every micro-batch the gradients are those of the mean so far: sums never grow."""
    for parameter in parameters:
        parameter.grad = None
    mean, tokens = 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        if count == 0:
            continue
        tokens += count
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad *= (tokens - count) / tokens
        (loss / tokens).backward()
        mean += (loss.item() - count * mean) / tokens
    return mean, tokens


def gradients_asked_for(micro_batches, parameters, compute_loss):
    """``autograd.grad`` hands each gradient over, and the sums are kept beside, in float64."""
    sums, total, tokens = [None] * len(parameters), 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
        for index, gradient in enumerate(found):
            if gradient is not None:
                wide = gradient.double()
                sums[index] = wide if sums[index] is None else sums[index] + wide
        total, tokens = total + float(loss.detach()), tokens + count
        del loss
    for parameter, summed in zip(parameters, sums, strict=True):
        parameter.grad = None if summed is None else (summed / max(1, tokens)).to(parameter.dtype)
    return total / max(1, tokens), tokens


def all_looked_at_first(micro_batches, parameters, compute_loss):
    """Two passes over a list: one without a graph to count the tokens, one to learn."""
    batches = list(micro_batches)
    with torch.no_grad():
        told = [compute_loss(batch) for batch in batches]
    tokens = sum(count for _, count in told)
    for parameter in parameters:
        parameter.grad = None
    for batch in batches:
        loss, count = compute_loss(batch)
        if count:
            loss.backward(torch.full_like(loss, 1 / tokens))
    return sum(loss.item() for loss, _ in told) / max(tokens, 1), tokens
