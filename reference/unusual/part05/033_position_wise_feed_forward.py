"""Right but unusual versions of step 033."""

import torch
import torch._dynamo  # loaded here: its first use takes longer than a call of the laws may
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from kata.part04_multi_head import apply_linear_projection
from kata.part05_sublayers import apply_relu


def convolutions_of_width_one(x, weights):
    """A width-1 convolution does each projection: tokens are places of a signal."""
    (w1, b1), (w2, b2) = weights
    signal = x.flatten(0, 1).unsqueeze(-1)
    hidden = apply_relu(functional.conv1d(signal, w1.unsqueeze(-1), b1))
    answer = functional.conv1d(hidden, w2.unsqueeze(-1), b2)
    return answer.view(*x.shape[:-1], w2.shape[0])


def each_token_by_vmap(x, weights):
    """The network is written for one token, and ``vmap`` of ``vmap`` is the batch of sentences."""

    def think(token):
        hidden = apply_relu(apply_linear_projection(token, *weights.expand))
        return apply_linear_projection(hidden, *weights.contract)

    return torch.vmap(torch.vmap(think))(x)


def sentence_column_by_column(x, weights):
    """One place of all sentences after the other."""
    answer = []
    for place in x.unbind(dim=1):
        hidden = apply_relu(apply_linear_projection(place, *weights.expand))
        answer.append(apply_linear_projection(hidden, *weights.contract))
    return torch.stack(answer, dim=1) if answer else x.clone()


def hidden_units_in_groups(x, weights):
    """Two hidden units at a time add their share to the answer."""
    (w1, b1), (w2, b2) = weights
    answer = x.new_zeros(*x.shape[:-1], w2.shape[0])
    for start in range(0, w1.shape[0], 2):
        group = slice(start, start + 2)
        hidden = apply_linear_projection(x, w1[group], None if b1 is None else b1[group])
        answer = answer + apply_relu(hidden) @ w2[:, group].mT
    return answer if b2 is None else answer + b2


def letters_for_the_axes(x, weights):
    """``einsum`` for both products, and a gate by ``where``."""
    (w1, b1), (w2, b2) = weights
    hidden = torch.einsum("btd,fd->btf", x, w1)
    if b1 is not None:
        hidden = hidden + b1
    hidden = torch.where(hidden <= 0, 0, hidden)
    answer = torch.einsum("btf,df->btd", hidden, w2)
    return answer if b2 is None else answer + b2


def computed_twice_to_save_memory(x, weights):
    """``checkpoint`` keeps nothing of the wide room, and computes it again for the backward."""

    def think(tokens):
        hidden = apply_relu(apply_linear_projection(tokens, *weights.expand))
        return apply_linear_projection(hidden, *weights.contract)

    return checkpoint(think, x, use_reentrant=False)
