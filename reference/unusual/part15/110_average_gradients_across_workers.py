"""Right but unusual versions of step 110."""

import torch
import torch.distributed as dist


def _ask_for_a_group():
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError("no group of workers: torchrun makes one")


def one_bucket(parameters, token_count):
    """All gradients of a dtype travel as one long vector, as fast implementations do it."""
    _ask_for_a_group()
    facts = [float(token_count), *(float(parameter.grad is not None) for parameter in parameters)]
    facts = torch.tensor(facts, dtype=torch.float64, device=parameters[0].device)
    dist.all_reduce(facts)
    used = [p for p, count in zip(parameters, facts[1:].tolist(), strict=True) if count]
    share = token_count / facts[0].item() if facts[0] else 0.0
    for dtype in sorted({parameter.dtype for parameter in used}, key=str):
        own = [parameter for parameter in used if parameter.dtype == dtype]
        flat = torch.cat([
            (torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in own
        ]).mul_(share)  # fmt: skip
        dist.all_reduce(flat)
        for parameter, part in zip(own, flat.split([p.numel() for p in own]), strict=True):
            parameter.grad = part.view(parameter.shape)


def everybody_hears_everybody(parameters, token_count):
    """Each worker gathers all gradients and counts, as Python objects, and adds up by itself."""
    _ask_for_a_group()
    said = [None] * dist.get_world_size()
    grads = [None if parameter.grad is None else parameter.grad.cpu() for parameter in parameters]
    dist.all_gather_object(said, (token_count, grads))
    total = sum(count for count, _ in said)
    for index, parameter in enumerate(parameters):
        heard = [(count, grads[index]) for count, grads in said if grads[index] is not None]
        if heard:
            average = torch.zeros_like(parameter)
            for count, gradient in heard:
                average += gradient.to(parameter.device) * (count / total if total else 0)
            parameter.grad = average


@torch.no_grad()
def all_at_once(parameters, token_count):
    """The sums are started one after the other and waited for in the end, in place."""
    _ask_for_a_group()
    total = torch.tensor([token_count], device=parameters[0].device)
    held = torch.tensor([p.grad is not None for p in parameters], device=total.device).byte()
    works = [dist.all_reduce(total, async_op=True)]
    works += [dist.all_reduce(held, op=dist.ReduceOp.MAX, async_op=True)]
    for work in works:
        work.wait()
    works = []
    for parameter, is_held in zip(parameters, held.tolist(), strict=True):
        if is_held:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            parameter.grad = parameter.grad.contiguous()
            parameter.grad *= token_count / max(int(total), 1)
            works.append(dist.all_reduce(parameter.grad, async_op=True))
    for work in works:
        work.wait()
