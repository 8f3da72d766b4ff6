"""Wrong versions of transpose_heads_before_sequence, one slip each."""


def reshaped(x):
    """The axes are renamed by a reshape: the shape is right, and the numbers sit in wrong heads."""
    batch, length, heads, d_k = x.shape
    return x.reshape(batch, heads, length, d_k)


def last_two_axes(x):
    """The last two axes are transposed, heads with features, as for a matrix."""
    return x.transpose(-2, -1)


def batch_and_heads(x):
    """The heads change places with the sentences, not with the tokens."""
    return x.transpose(0, 2)


def one_axis_too_far(x):
    """The heads do come first, but behind them features stand before tokens."""
    return x.permute(0, 2, 3, 1)


def folded_into_the_batch(x):
    """Sentences and heads are folded into one axis."""
    return x.transpose(1, 2).flatten(0, 1)


def left_as_it_was(x):
    """Nothing is moved: the heads still stand behind the tokens."""
    return x


def in_place(x):
    """The axes are swapped in place, in the caller's tensor too: transpose_ with its underscore."""
    return x.transpose_(1, 2)


def detached(x):
    """The input is detached first, so that no gradient flows back."""
    return x.detach().transpose(1, 2)
