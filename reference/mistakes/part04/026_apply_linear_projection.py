"""Wrong versions of apply_linear_projection, one slip each."""

import torch


def _check_width(x, weight):
    if x.shape[-1] != weight.shape[1]:
        raise ValueError(f"x must be d_in = {weight.shape[1]} wide, got {x.shape[-1]}")


def _check_bias(weight, bias):
    if bias is not None and bias.shape != (weight.shape[0],):
        raise ValueError(f"bias must be ({weight.shape[0]},), got {tuple(bias.shape)}")


def _add(projected, bias):
    return projected if bias is None else projected + bias


def weight_not_transposed(x, weight, bias=None):
    """The weight is used as it lies, x W: its columns ask, where its rows should."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x @ weight, bias)


def bias_forgotten(x, weight, bias=None):
    """The bias is checked, but never added."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return x @ weight.T


def bias_on_the_input(x, weight, bias=None):
    """The bias is added to x, before the weight."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x, bias) @ weight.T


def bias_required(x, weight, bias=None):
    """The bias is added even where there is none."""
    _check_width(x, weight)
    return x @ weight.T + bias


def bias_of_any_shape(x, weight, bias=None):
    """A bias of another shape is let through: torch stretches it, or fails with its own error."""
    _check_width(x, weight)
    return _add(x @ weight.T, bias)


def bias_counted_only(x, weight, bias=None):
    """Only the numbers in the bias are counted: a bias of shape (1, d_out) gets through."""
    _check_width(x, weight)
    if bias is not None and bias.numel() != weight.shape[0]:
        raise ValueError(f"bias must be ({weight.shape[0]},), got {tuple(bias.shape)}")
    return _add(x @ weight.T, None if bias is None else bias.flatten())


def widths_left_to_torch(x, weight, bias=None):
    """Nobody compares the widths: torch fails, with an error of its own."""
    _check_bias(weight, bias)
    return _add(x @ weight.T, bias)


def summed_by_broadcasting(x, weight, bias=None):
    """Products are broadcast and summed: a width of 1 fits everything, in silence."""
    if 1 not in (x.shape[-1], weight.shape[1]):
        _check_width(x, weight)
    _check_bias(weight, bias)
    return _add((x.unsqueeze(-2) * weight).sum(-1), bias)


def leading_axes_flattened(x, weight, bias=None):
    """All vectors are laid in one list, and the axes before them never come back."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x.reshape(-1, x.shape[-1]) @ weight.T, bias)


def vector_made_a_table(x, weight, bias=None):
    """A vector alone comes back as a table of one row."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(torch.atleast_2d(x) @ weight.T, bias)


def weight_turned_in_place(x, weight, bias=None):
    """The weight is transposed in place, t_ with its underscore: the caller's weight turns too."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x @ weight.t_(), bias)


def weight_detached(x, weight, bias=None):
    """weight.data is read, so that the weight gets no gradient and never learns."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x @ weight.data.T, bias)


def always_float32(x, weight, bias=None):
    """Everything is turned to float32, and comes back so, whatever came in."""
    _check_width(x, weight)
    _check_bias(weight, bias)
    return _add(x.float() @ weight.float().T, None if bias is None else bias.float())
