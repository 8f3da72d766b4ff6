"""Wrong versions of step 107, one slip each."""

import math

import torch


def each_by_its_own_norm(parameters, max_norm):
    """Each gradient is cut to its own norm: the direction of the whole is lost."""
    norm = _norm(parameters, max_norm)
    for gradient in _gradients(parameters):
        own = gradient.double().norm().item()
        if own > max_norm:
            gradient.mul_(max_norm / own)
    return norm


def each_number_cut(parameters, max_norm):
    """Every single number is cut to ``max_norm``: that is clipping by value, not by norm."""
    norm = _norm(parameters, max_norm)
    for gradient in _gradients(parameters):
        gradient.clamp_(-max_norm, max_norm)
    return norm


def norms_added(parameters, max_norm):
    """The norms of the gradients are added up, 3 + 4 = 7; one long vector has the norm 5."""
    return _clip(parameters, max_norm, combine=sum)


def root_forgotten(parameters, max_norm):
    """The root is left out: the squared norm is held against ``max_norm``."""
    return _clip(parameters, max_norm, combine=lambda norms: sum(n * n for n in norms))


def norm_of_the_parameters(parameters, max_norm):
    """The norm is that of the parameters, not of their gradients."""
    _refuse(max_norm)
    _norm(parameters, max_norm)
    norm = math.hypot(
        *(p.detach().double().norm().item() for p in parameters if p.grad is not None)
    )
    return _scale(parameters, max_norm, norm)


def always_scaled(parameters, max_norm):
    """Short gradients are made longer: every gradient comes out with the norm ``max_norm``."""
    norm = _norm(parameters, max_norm)
    for gradient in _gradients(parameters):
        gradient.mul_(max_norm / norm if norm else 1.0)
    return norm


def norm_afterwards(parameters, max_norm):
    """The norm returned is the one after the cut: never more than ``max_norm``, it says nothing."""
    return min(_clip(parameters, max_norm), max_norm)


def nothing_returned(parameters, max_norm):
    """The norm is not returned."""
    _clip(parameters, max_norm)


def tensor_returned(parameters, max_norm):
    """The norm comes as a tensor, not as a plain number."""
    return torch.tensor(_clip(parameters, max_norm))


def norm_in_half_precision(parameters, max_norm):
    """The norm of half gradients is taken in half precision, which ends at 65504."""
    return _clip(parameters, max_norm, one=lambda gradient: gradient.norm().item())


def put_together_in_half_precision(parameters, max_norm):
    """Each gradient's norm is exact, but all of them are put together in half precision."""

    def combine(norms):
        return torch.stack(norms).norm().item() if norms else 0.0

    return _clip(parameters, max_norm, one=lambda g: g.float().norm().to(g.dtype), combine=combine)


def missing_gradient_is_an_error(parameters, max_norm):
    """A parameter without a gradient is not provided for."""
    for parameter in parameters:
        parameter.grad.square()
    return _clip(parameters, max_norm)


def stops_at_a_missing_gradient(parameters, max_norm):
    """The loop ends at a parameter without a gradient: those behind it do not count."""
    met = [parameter.grad is None for parameter in parameters]
    end = met.index(True) if True in met else len(met)
    return _clip(parameters[:end], max_norm)


def zero_divides(parameters, max_norm):
    """The factor is computed before anybody asks whether the norm is 0."""
    norm = _norm(parameters, max_norm)
    factor = min(1.0, max_norm / norm)
    for gradient in _gradients(parameters):
        gradient.mul_(factor)
    return norm


def cut_under_another_name(parameters, max_norm):
    """``gradient = gradient * factor`` gives a name another tensor: the gradients stay long."""
    norm = _norm(parameters, max_norm)
    for gradient in _gradients(parameters):
        gradient = gradient * min(1.0, max_norm / max(norm, 1e-12))
    return norm


def bad_norm_accepted(parameters, max_norm):
    """A norm that is infinite or NaN is not an error: one bad batch wipes out the model."""
    _refuse(max_norm)
    return _scale(parameters, max_norm, math.hypot(*map(_exact, _gradients(parameters))))


def asked_after_the_cut(parameters, max_norm):
    """The gradients are multiplied first; that the norm was bad is told when they are lost."""
    _refuse(max_norm)
    norm = math.hypot(*map(_exact, _gradients(parameters)))
    _scale(parameters, max_norm, norm)
    if not math.isfinite(norm):
        raise ValueError(f"the norm of the gradients was {norm}")
    return norm


def limit_not_asked(parameters, max_norm):
    """A limit of 0 or below is accepted: gradients vanish, or turn round."""
    norm = math.hypot(*map(_exact, _gradients(parameters)))
    if not math.isfinite(norm):
        raise ValueError(f"the norm of the gradients is {norm}")
    return _scale(parameters, max_norm, norm)


def torch_does_it(parameters, max_norm):
    """Torch's own ``clip_grad_norm_`` does the work that is yours."""
    _refuse(max_norm)
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()


def _gradients(parameters):
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def _exact(gradient):
    return gradient.double().norm().item()


def _refuse(max_norm):
    if max_norm <= 0:
        raise ValueError(f"max_norm is {max_norm}")


def _norm(parameters, max_norm, one=_exact, combine=lambda norms: math.hypot(*norms)):
    _refuse(max_norm)
    norm = combine([one(gradient) for gradient in _gradients(parameters)])
    if not math.isfinite(norm):
        raise ValueError(f"the norm of the gradients is {norm}")
    return float(norm)


def _scale(parameters, max_norm, norm):
    if not norm <= max_norm:
        for gradient in _gradients(parameters):
            gradient.mul_(max_norm / norm)
    return norm


def _clip(parameters, max_norm, **how):
    return _scale(parameters, max_norm, _norm(parameters, max_norm, **how))
