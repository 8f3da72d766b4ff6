"""Right but unusual versions of step 028."""

import torch

from kata.part04_multi_head import (
    split_last_dim_into_heads,
    transpose_heads_before_sequence,
)


def one_long_sentence(queries, keys, values, num_heads):
    """All three are laid end to end, split together and cut apart again."""
    together = torch.cat([queries, keys, values], dim=1)
    heads = transpose_heads_before_sequence(split_last_dim_into_heads(together, num_heads))
    return heads.split([x.shape[1] for x in (queries, keys, values)], dim=2)


def windows_moved_forward(queries, keys, values, num_heads):
    """Windows over the width, moved in front of the tokens; written inline, as a list."""
    answer = []
    for x in (queries, keys, values):
        if x.shape[-1] % num_heads:
            raise ValueError(f"{num_heads} heads cannot share a width of {x.shape[-1]}")
        d_k = x.shape[-1] // num_heads
        answer.append(x.unfold(2, d_k, d_k).movedim(2, 1))
    return answer


def keys_and_values_stacked(queries, keys, values, num_heads):
    """Keys and values are of one shape, so they are dealt out as one tensor of five axes."""
    batch, length, d_model = keys.shape
    split_last_dim_into_heads(queries, num_heads)  # for its ValueError
    both = torch.stack([keys, values]).view(2, batch, length, num_heads, -1).transpose(2, 3)
    asked = queries.reshape(batch, -1, num_heads, d_model // num_heads).permute(0, 2, 1, 3)
    return asked, *both


def composed(queries, keys, values, num_heads):
    """A closure is made for the number of heads, and mapped."""

    def deal(x):
        return transpose_heads_before_sequence(split_last_dim_into_heads(x, num_heads))

    return tuple(map(deal, (queries, keys, values)))


def chunks_stacked(queries, keys, values, num_heads):
    """Chunks of the width are stacked on axis 1 at once, without a transpose."""
    if any(x.size(-1) % num_heads for x in (queries, keys, values)):
        raise ValueError(f"widths {queries.size(-1)}, {keys.size(-1)} over {num_heads} heads")
    return tuple(torch.stack(x.chunk(num_heads, -1), dim=1) for x in (queries, keys, values))
