"""Wrong versions of split_last_dim_into_heads, one slip each."""


def _check(d_model, num_heads):
    if d_model % num_heads != 0:
        raise ValueError(f"d_model must be a multiple of num_heads = {num_heads}, got {d_model}")


def straight_to_heads_first(x, num_heads):
    """Time and width are reshaped straight into (batch, heads, length, d_k): tokens are torn up."""
    batch, length, d_model = x.shape
    _check(d_model, num_heads)
    return x.reshape(batch, num_heads, length, d_model // num_heads)


def heads_first_already(x, num_heads):
    """The heads are moved before the tokens already: that is the business of step 024."""
    _check(x.shape[-1], num_heads)
    return x.unflatten(-1, (num_heads, x.shape[-1] // num_heads)).transpose(1, 2)


def sizes_swapped(x, num_heads):
    """The last two sizes are swapped: d_k heads of num_heads features each."""
    batch, length, d_model = x.shape
    _check(d_model, num_heads)
    return x.reshape(batch, length, d_model // num_heads, num_heads)


def dealt_like_cards(x, num_heads):
    """Features are dealt out like cards, one to each head in turn: a head gets no neighbours."""
    batch, length, d_model = x.shape
    _check(d_model, num_heads)
    return x.reshape(batch, length, d_model // num_heads, num_heads).transpose(2, 3)


def leftover_features_dropped(x, num_heads):
    """A width that the heads cannot share loses its last features in silence."""
    d_k = x.shape[-1] // num_heads
    return x[..., : num_heads * d_k].unflatten(-1, (num_heads, d_k))


def left_to_torch(x, num_heads):
    """Nobody asks whether the heads divide the width: torch fails, with an error of its own."""
    batch, length, d_model = x.shape
    return x.reshape(batch, length, num_heads, d_model // num_heads)


def flattened_by_view(x, num_heads):
    """All tokens are first laid in one row by view, which a transposed input refuses."""
    batch, length, d_model = x.shape
    _check(d_model, num_heads)
    rows = x.view(batch * length, d_model)
    return rows.reshape(batch, length, num_heads, d_model // num_heads)


def tokens_folded(x, num_heads):
    """Sentence and token are folded into one axis, and never unfolded."""
    _check(x.shape[-1], num_heads)
    return x.reshape(-1, num_heads, x.shape[-1] // num_heads)


def detached(x, num_heads):
    """The input is detached first, so that no gradient flows back."""
    _check(x.shape[-1], num_heads)
    return x.detach().unflatten(-1, (num_heads, x.shape[-1] // num_heads))
