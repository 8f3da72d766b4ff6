"""091 · repeat_key_value_heads, right all the same."""

import torch


def chosen_by_number(x, repeats):
    """Heads are chosen by a list of numbers: 0, 0, 0, 1, 1, 1."""
    if not repeats >= 1:
        raise ValueError(f"{repeats} copies")
    return x[:, [head for head in range(x.shape[1]) for _ in range(repeats)]]


def head_after_head(x, repeats):
    """Each head is taken out, spread, and put behind the last; once is the input itself."""
    if repeats <= 0:
        raise ValueError(f"{repeats} copies")
    if repeats == 1:
        return x
    return torch.cat([head.expand(-1, repeats, -1, -1) for head in x.split(1, dim=1)], dim=1)


def multiplied_by_ones(x, repeats):
    """Each head times one for each copy, by ``einsum``."""
    if repeats < 1:
        raise ValueError(f"{repeats} copies")
    copies = torch.einsum("bhtd,r->bhrtd", x, x.new_ones(repeats))
    return copies.reshape(x.shape[0], -1, *x.shape[2:])
