"""Wrong versions of step 110, one slip each."""

import torch
import torch.distributed as dist


def mean_over_workers(parameters, token_count):
    """Every worker counts the same, however many tokens it saw: a mean of means."""
    _average(parameters, token_count, share=lambda own, total: 1 / dist.get_world_size())


def summed_only(parameters, token_count):
    """The gradients are added up and never divided: with twice the workers, twice the step."""
    _average(parameters, token_count, share=lambda own, total: 1.0)


def not_divided_by_all_tokens(parameters, token_count):
    """Each gradient is multiplied by its tokens, and the sum is not divided by all of them."""
    _average(parameters, token_count, share=lambda own, total: own)


def divided_by_the_workers(parameters, token_count):
    """It is divided by the number of workers, not by all tokens."""
    _average(parameters, token_count, share=lambda own, total: own / dist.get_world_size())


def divided_by_the_workers_once_more(parameters, token_count):
    """It is divided by all tokens, and by the number of workers once more."""

    def share(own, total):
        return own / max(total, 1) / dist.get_world_size()

    _average(parameters, token_count, share=share)


def largest_share(parameters, token_count):
    """The largest of the workers' shares is taken, not their sum."""
    _average(parameters, token_count, op=dist.ReduceOp.MAX)


def divided_by_own_tokens(parameters, token_count):
    """The sum is divided by the worker's own tokens, not by everybody's."""
    _average(parameters, token_count, share=lambda own, total: own, after=lambda own, total: own)


def scaled_after_the_sum(parameters, token_count):
    """The gradients are divided only after they were summed: float16 has overflowed by then."""
    _average(parameters, token_count, share=lambda own, total: own, after=lambda own, total: total)


def nan_without_tokens(parameters, token_count):
    """Without a single token 0 is divided by 0: the gradients are NaN."""
    _average(parameters, token_count, share=lambda own, total: own / total if total else torch.nan)


def kept_without_tokens(parameters, token_count):
    """Without a single token the gradients stay as they are, where zeros are wanted."""
    _ask_for_a_group()
    if _summed(parameters, token_count):
        _average(parameters, token_count)


def tokens_counted_in_the_gradients_dtype(parameters, token_count):
    """The tokens are counted in the gradients' own dtype: float16 ends at 65504."""
    _ask_for_a_group()
    total = parameters[0].detach().new_tensor(float(token_count))
    dist.all_reduce(total)
    total = max(total.item(), 1)
    _average(parameters, token_count, share=lambda own, _: own / total)


def tokens_counted_on_the_cpu(parameters, token_count):
    """The token count travels in a tensor on the CPU: nccl takes only what lies on the GPU."""
    _ask_for_a_group()
    total = torch.tensor(token_count)
    dist.all_reduce(total)
    total = max(total.item(), 1)
    _average(parameters, token_count, share=lambda own, _: own / total)


def missing_gradient_passed_over(parameters, token_count):
    """A worker without a gradient passes it over: the others wait for it in vain."""
    _average([parameter for parameter in parameters if parameter.grad is not None], token_count)


def missing_gradient_is_an_error(parameters, token_count):
    """A parameter without a gradient is not provided for."""
    _ask_for_a_group()
    total = _summed(parameters, token_count)
    for parameter in parameters:
        gradient = (parameter.grad * (token_count / max(total, 1))).contiguous()
        dist.all_reduce(gradient)
        parameter.grad = gradient


def unused_gets_zeros(parameters, token_count):
    """What nobody used gets a gradient of zeros: Adam goes on moving it."""
    _average(parameters, token_count, always=True)


def receiver_stays_without(parameters, token_count):
    """Who had no gradient gives zeros to the sum, and does not take the result."""
    missing = [parameter for parameter in parameters if parameter.grad is None]
    _average(parameters, token_count)
    for parameter in missing:
        parameter.grad = None


def only_the_first(parameters, token_count):
    """The loop ends after the first parameter: of the others each worker keeps its own."""
    _average(parameters[:1], token_count)


def first_worker_decides(parameters, token_count):
    """The first worker's gradients are sent to all: the others have worked in vain."""
    _ask_for_a_group()
    for parameter in parameters:
        known = torch.tensor(parameter.grad is not None, device=parameter.device)
        dist.broadcast(known, src=0)
        if known:
            gradient = _filled(parameter)
            dist.broadcast(gradient, src=0)
            parameter.grad = gradient


def parameters_averaged(parameters, token_count):
    """The parameters are averaged, not their gradients: each worker goes its own way."""
    _ask_for_a_group()
    total = _summed(parameters, token_count)
    for parameter in parameters:
        share = parameter.detach() * (token_count / max(total, 1))
        dist.all_reduce(share)
        parameter.data.copy_(share)


def sent_as_it_lies(parameters, token_count):
    """Gradients are sent as they lie in memory: rows meet columns, and nobody notices."""
    _average(parameters, token_count, packed=False)


def name_for_attribute(parameters, token_count):
    """A name is given the average, not the attribute: every worker keeps its own gradient."""
    _ask_for_a_group()
    total = _summed(parameters, token_count)
    for parameter in parameters:
        gradient = _filled(parameter) * (token_count / max(total, 1))
        dist.all_reduce(gradient)


def death_not_noticed(parameters, token_count):
    """The error of a worker that died is swallowed: the others go on, each for itself."""
    _ask_for_a_group()
    try:
        _average(parameters, token_count)
    except RuntimeError:
        pass


def alone_without_a_group(parameters, token_count):
    """Without a process group it quietly does nothing: each worker trains a model of its own."""
    if dist.is_initialized():
        _average(parameters, token_count)


def does_not_say_how(parameters, token_count):
    """Without a process group the error does not say that torchrun starts one."""
    if not dist.is_initialized():
        raise RuntimeError("no process group")
    _average(parameters, token_count)


def _ask_for_a_group():
    if not dist.is_initialized():
        raise RuntimeError("start the workers with torchrun")


def _summed(parameters, token_count):
    total = torch.tensor(token_count, device=parameters[0].device)
    dist.all_reduce(total)
    return total.item()


def _filled(parameter):
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()


def _average(
    parameters,
    token_count,
    share=lambda own, total: own / max(total, 1),
    after=lambda own, total: 1.0,
    always=False,
    packed=True,
    op=dist.ReduceOp.SUM,
):  # fmt: skip
    _ask_for_a_group()
    total = _summed(parameters, token_count)
    for parameter in parameters:
        held = torch.tensor(int(parameter.grad is not None), device=parameter.device)
        dist.all_reduce(held)
        if held or always:
            gradient = _filled(parameter) * share(token_count, total)
            gradient = gradient.contiguous() if packed else gradient
            dist.all_reduce(gradient, op=op)
            parameter.grad = gradient / max(after(token_count, total), 1)
