"""Right but unusual versions of step 032."""

import torch


def chosen_by_where(x):
    """``where`` takes a zero or the number itself; NaN is not ≤ 0, and stays."""
    return torch.where(x <= 0, torch.zeros_like(x), x)


def painted_over(x):
    """A copy is made, and what does not get through is written over in it."""
    answer = x.clone()
    answer[x <= 0] = 0
    return answer


def survivors_scattered(x):
    """What gets through is collected into a list, and scattered over a field of zeros."""
    through = ~(x <= 0)
    return torch.zeros_like(x).masked_scatter(through, x[through])


def picked_out_of_two(x):
    """Zero and the number lie side by side, and ``gather`` picks one of the two by its index."""
    two = torch.stack([torch.zeros_like(x), x], dim=-1)
    which = (~(x <= 0)).long().unsqueeze(-1)
    return two.gather(-1, which).squeeze(-1)


def number_after_number(x):
    """``vmap`` asks each number by itself."""
    numbers = torch.vmap(lambda number: number.masked_fill(number <= 0, 0))(x.reshape(-1))
    return numbers.reshape(x.shape)


class _Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        held_back = x <= 0
        ctx.save_for_backward(held_back)
        return x.masked_fill(held_back, 0)

    @staticmethod
    def backward(ctx, gradient):
        (held_back,) = ctx.saved_tensors
        return gradient.masked_fill(held_back, 0)


def own_function(x):
    """An ``autograd.Function`` that remembers what was held back, and holds the gradient back."""
    return _Relu.apply(x)
