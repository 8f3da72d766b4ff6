"""Wrong versions of step 108, one slip each."""

import torch


def mean_of_means(micro_batches, parameters, compute_loss):
    """Each micro-batch is averaged, and then their means: a small one counts as much as any."""
    _clear(parameters)
    means, tokens = [], 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        (loss / max(count, 1)).backward()
        means.append(loss.item() / max(count, 1))
        tokens += count
    _divide(parameters, len(means))
    return sum(means) / max(len(means), 1), tokens


def divided_by_micro_batches(micro_batches, parameters, compute_loss):
    """The sum is divided by the number of micro-batches, not of tokens."""
    batches = list(micro_batches)
    total, tokens = _summed(batches, parameters, compute_loss)
    _divide(parameters, len(batches))
    return total / max(len(batches), 1), tokens


def gradient_of_a_mean_of_means(micro_batches, parameters, compute_loss):
    """Each micro-batch's mean counts alike in the gradients, however many tokens it has."""
    _clear(parameters)
    total, tokens, number = 0.0, 0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        (loss / max(count, 1)).backward()
        total, tokens, number = total + loss.item(), tokens + count, number + 1
    _divide(parameters, number)
    return total / max(tokens, 1), tokens


def gradients_divided_by_micro_batches(micro_batches, parameters, compute_loss):
    """The gradients are divided by the number of micro-batches, not of tokens."""
    batches = list(micro_batches)
    total, tokens = _summed(batches, parameters, compute_loss)
    _divide(parameters, len(batches))
    return total / max(tokens, 1), tokens


def gradients_not_divided(micro_batches, parameters, compute_loss):
    """The gradients are those of the sum: the step grows with the number of tokens."""
    total, tokens = _summed(micro_batches, parameters, compute_loss)
    return total / max(tokens, 1), tokens


def loss_not_divided(micro_batches, parameters, compute_loss):
    """The loss returned is the sum over all tokens, not the mean."""
    total, tokens = _summed(micro_batches, parameters, compute_loss)
    _divide(parameters, tokens)
    return total, tokens


def cleared_at_every_micro_batch(micro_batches, parameters, compute_loss):
    """The gradients are cleared at every micro-batch: only the last one is learned from."""
    total, tokens = _summed(micro_batches, parameters, compute_loss, before=_clear)
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def first_not_learned_from(micro_batches, parameters, compute_loss):
    """The first micro-batch is counted and not learned from."""
    _clear(parameters)
    total, tokens = 0.0, 0
    for number, micro_batch in enumerate(micro_batches):
        loss, count = compute_loss(micro_batch)
        if number > 0:
            loss.backward()
        total, tokens = total + loss.item(), tokens + count
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def not_cleared(micro_batches, parameters, compute_loss):
    """The old gradients are not cleared: those of the last batch are learned from again."""
    total, tokens = _summed(micro_batches, parameters, compute_loss, clear=lambda _: None)
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def filled_with_zeros(micro_batches, parameters, compute_loss):
    """Gradients are filled with zeros, not removed: what nobody used seems to have one."""

    def fill(parameters):
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)

    total, tokens = _summed(micro_batches, parameters, compute_loss, clear=fill)
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def divided_at_every_micro_batch(micro_batches, parameters, compute_loss):
    """The gradients so far are divided in every round: the first micro-batch all but vanishes."""
    _clear(parameters)
    total, tokens = 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        loss.backward()
        total, tokens = total + loss.item(), tokens + count
        _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def odd_one_thrown_away(micro_batches, parameters, compute_loss):
    """Micro-batches are taken in twos, and what is left at the end is thrown away."""
    batches = list(micro_batches)
    return _right(batches[: len(batches) // 2 * 2], parameters, compute_loss)


def one_backward_at_the_end(micro_batches, parameters, compute_loss):
    """All graphs are alive at once: none is let go before the last micro-batch has been seen."""
    _clear(parameters)
    told = [compute_loss(micro_batch) for micro_batch in micro_batches]
    tokens = sum(count for _, count in told)
    total = sum(loss for loss, _ in told)
    if told:
        total.backward()
    _divide(parameters, tokens)
    return float(sum(loss.detach() for loss, _ in told)) / max(tokens, 1), tokens


def graph_retained(micro_batches, parameters, compute_loss):
    """``retain_graph=True`` keeps each graph until the next one is there: two at a time."""
    _clear(parameters)
    total, tokens = 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        loss.backward(retain_graph=True)
        total, tokens = total + loss.item(), tokens + count
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def losses_kept(micro_batches, parameters, compute_loss):
    """The losses are added up as tensors, and the sum is returned as one."""
    _clear(parameters)
    total, tokens = torch.tensor(0.0), 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        loss.backward()
        total, tokens = total + loss.detach(), tokens + count
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def padding_divides_by_zero(micro_batches, parameters, compute_loss):
    """Each micro-batch is divided by its own tokens on the way: one of padding makes NaN of all."""
    _clear(parameters)
    total, tokens = 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        ((loss / count) * count).backward()
        total, tokens = total + loss.item(), tokens + count
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def padding_counts_as_a_token(micro_batches, parameters, compute_loss):
    """A micro-batch without a token counts as one."""

    def at_least_one(batch):
        loss, count = compute_loss(batch)
        return loss, max(count, 1)

    return _right(micro_batches, parameters, at_least_one)


def nothing_divides_by_zero(micro_batches, parameters, compute_loss):
    """Without a single token the mean is 0 / 0."""
    total, tokens = _summed(micro_batches, parameters, compute_loss)
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad /= tokens
    return float(torch.tensor(total) / tokens), tokens


def unused_parameter_is_an_error(micro_batches, parameters, compute_loss):
    """A parameter that nobody used is not provided for."""
    total, tokens = _summed(micro_batches, parameters, compute_loss)
    for parameter in parameters:
        parameter.grad.div_(max(tokens, 1))
    return total / max(tokens, 1), tokens


def parameters_walked(micro_batches, parameters, compute_loss):
    """After every micro-batch a step is taken: that is many small batches, not a large one."""

    def walk(parameters):
        with torch.no_grad():
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter -= 0.1 * parameter.grad

    total, tokens = _summed(micro_batches, parameters, compute_loss, before=walk)
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens


def _clear(parameters):
    for parameter in parameters:
        parameter.grad = None


def _summed(micro_batches, parameters, compute_loss, before=lambda _: None, clear=_clear):
    clear(parameters)
    total, tokens = 0.0, 0
    for micro_batch in micro_batches:
        before(parameters)
        loss, count = compute_loss(micro_batch)
        loss.backward()
        total += loss.item()
        tokens += count
    return total, tokens


def _divide(parameters, by):
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad /= max(by, 1)


def _right(micro_batches, parameters, compute_loss):
    total, tokens = _summed(micro_batches, parameters, compute_loss)
    _divide(parameters, tokens)
    return total / max(tokens, 1), tokens
