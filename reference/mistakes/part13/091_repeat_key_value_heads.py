"""091 · repeat_key_value_heads, the ways it goes wrong."""

import torch


def _check(repeats):
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")


def whole_row_again(x, repeats):
    """The row of heads is repeated as a whole, a b a b: a head's copies stand side by side."""
    _check(repeats)
    return x.repeat(1, repeats, 1, 1)


def along_the_sequence(x, repeats):
    """The tokens are repeated, not the heads."""
    _check(repeats)
    return x.repeat(1, 1, repeats, 1)


def tokens_for_heads(x, repeats):
    """Copies are made of each token and read as heads: the shape is right, and heads mix."""
    _check(repeats)
    copies = x[:, :, :, None].expand(-1, -1, -1, repeats, -1)
    return copies.reshape(x.shape[0], x.shape[1] * repeats, *x.shape[2:])


def along_the_batch(x, repeats):
    """The sentences are repeated, not the heads."""
    _check(repeats)
    return x.repeat(repeats, 1, 1, 1)


def one_axis_more(x, repeats):
    """The copies keep an axis of their own: heads and copies are to be one axis."""
    _check(repeats)
    return x[:, :, None].expand(-1, -1, repeats, -1, -1)


def once_too_often(x, repeats):
    """Each head comes once more than it should."""
    _check(repeats)
    return x[:, :, None].expand(-1, -1, repeats + 1, -1, -1).flatten(1, 2)


def first_head_for_all(x, repeats):
    """All the copies are of the first head."""
    _check(repeats)
    return x[:, :1].expand(-1, x.shape[1] * repeats, -1, -1)


def split_not_copied(x, repeats):
    """The copies share out the numbers: each is divided by how many there are."""
    _check(repeats)
    return (x / repeats)[:, :, None].expand(-1, -1, repeats, -1, -1).flatten(1, 2)


def copies_detached(x, repeats):
    """The copies are detached: keys and values learn nothing."""
    _check(repeats)
    return x.detach()[:, :, None].expand(-1, -1, repeats, -1, -1).flatten(1, 2)


def only_the_first_copy_learns(x, repeats):
    """Only the first of the copies has a gradient: those of the others are lost."""
    _check(repeats)
    copies = [x] + [x.detach()] * (repeats - 1)
    return torch.stack(copies, dim=2).flatten(1, 2)


def any_number_of_times(x, repeats):
    """The number of repeats is not checked: −1 means "as it is" to torch, and 0 leaves no head."""
    return x[:, :, None].expand(-1, -1, repeats, -1, -1).flatten(1, 2)


def zero_let_through(x, repeats):
    """Only negative repeats are refused: 0 leaves no head."""
    if repeats < 0:
        raise ValueError(f"repeats must not be negative, got {repeats}")
    return x[:, :, None].expand(-1, -1, repeats, -1, -1).flatten(1, 2)


def torch_does_it(x, repeats):
    """Torch's ``repeat_interleave`` does the work that this step is there to build."""
    _check(repeats)
    return x.repeat_interleave(repeats, dim=1)
