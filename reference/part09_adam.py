"""Part 9 · Adam Optimizer From Scratch.

A gradient says which way is downhill, but not how far to go, and every batch says it a little
differently. Adam listens to the whole history. For each weight it keeps two numbers (064): where
the gradients have been pointing (065), and how large they have been (066). Both start at zero and
are too small at first, which is put right (067). Then each weight walks by the ratio of the two
(068): a full step where the gradients agree, next to none where they quarrel. Once they are used,
the gradients are thrown away, or the next ones would pile up on them (069).

Section 5.3 of the paper: β₁ = 0.9, β₂ = 0.98 and ε = 10⁻⁹. The method is Kingma and Ba's, "Adam: A
Method for Stochastic Optimization".
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from kata.weights import AdamState


def initialize_adam_state(parameters: list[Tensor]) -> AdamState:
    """Open an empty notebook for every parameter: two pages of zeros, and no step taken yet.

    ``first`` and ``second`` hold one tensor per parameter, of its shape, dtype and device. They
    take no gradient, and no two of them share memory.

    Section 5.3 of the paper; algorithm 1 of Kingma and Ba, its first three lines.
    """
    return AdamState(
        first=[torch.zeros_like(parameter) for parameter in parameters],
        second=[torch.zeros_like(parameter) for parameter in parameters],
        step=0,
    )


def update_first_moment(
    first: Float[Tensor, "..."], gradient: Float[Tensor, "..."], beta1: float = 0.9
) -> Float[Tensor, "..."]:
    """Turn the heading a little towards the newest gradient, as a heavy ship turns.

    ``β₁ m + (1 − β₁) g``. What agrees from batch to batch adds up; what changes its sign cancels.

    Section 5.3 of the paper; algorithm 1 of Kingma and Ba, "update biased first moment estimate".
    """
    return beta1 * first + (1 - beta1) * gradient


def update_second_moment(
    second: Float[Tensor, "..."], gradient: Float[Tensor, "..."], beta2: float = 0.98
) -> Float[Tensor, "..."]:
    """Remember how rough the ground has been: a running average of the squared gradients.

    ``β₂ v + (1 − β₂) g²``, each number squared by itself. Signs play no part in it.

    Section 5.3 of the paper; algorithm 1 of Kingma and Ba, "update biased second raw moment
    estimate".
    """
    return beta2 * second + (1 - beta2) * gradient**2


def correct_moment_bias(
    moment: Float[Tensor, "..."], beta: float, step: int
) -> Float[Tensor, "..."]:
    """Make up for the cold start: an average that began at zero is still too small.

    ``m / (1 − βᵗ)``. After t updates the gradients' shares add up to 1 − βᵗ, not to 1; the division
    makes a whole of them. ``step`` is t, and the first update is step 1.

    A ``step`` below 1 raises ``ValueError``.

    Section 5.3 of the paper; section 3 of Kingma and Ba, "initialization bias correction".
    """
    if step < 1:
        raise ValueError(f"the first update is step 1, got step {step}")
    return moment / (1 - beta**step)


def take_adam_step(
    parameters: list[Tensor],
    state: AdamState,
    learning_rate: float,
    beta1: float = 0.9,
    beta2: float = 0.98,
    eps: float = 1e-9,
) -> AdamState:
    """Walk every parameter downhill: far where its gradients agree, less far where they quarrel.

    ``θ ← θ − learning_rate · m̂ / (√v̂ + ε)``, where m̂ and v̂ are the two moments after this step's
    gradient, each corrected for its cold start. Gradients are read from each parameter's ``grad``.

    Works in place: the parameters change where they are, outside autograd. The moments may be
    overwritten too, so go on with the state that is returned; its ``step`` is one more, and counts
    for all parameters alike. A parameter whose ``grad`` is ``None`` is left alone, and so are its
    moments. Not with ``torch.optim``.

    Section 5.3 of the paper; algorithm 1 of Kingma and Ba.
    """
    step = state.step + 1
    step_size = learning_rate / (1 - beta1**step)
    second_correction = math.sqrt(1 - beta2**step)
    with torch.no_grad():
        for index, parameter in enumerate(parameters):
            gradient, first, second = parameter.grad, state.first[index], state.second[index]
            if gradient is None:
                continue
            # Steps 065 to 067, in place: new tensors for each of them take several times as long.
            first.lerp_(gradient, 1 - beta1)
            second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            denominator = second.sqrt().div_(second_correction).add_(eps)
            parameter.addcdiv_(first, denominator, value=-step_size)
    return AdamState(state.first, state.second, step)


def zero_gradients(parameters: list[Tensor]) -> None:
    """Wipe the slate: backward adds to what is there, so the old gradients have to go first.

    Every ``grad`` becomes ``None``, in place. The parameters themselves stay as they are.

    The paper does not mention it: it comes with autograd, which sums what it finds.
    """
    for parameter in parameters:
        parameter.grad = None
