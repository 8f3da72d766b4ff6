"""Wrong versions of merge_heads_back_to_model_dim, one slip each."""


def not_transposed_back(x):
    """The heads are never moved back behind the tokens: the reshape tears the tokens up."""
    batch, heads, length, d_k = x.shape
    return x.reshape(batch, length, heads * d_k)


def dealt_like_cards(x):
    """The heads' features take turns, like shuffled cards: each head's slice should stay whole."""
    return x.permute(0, 2, 3, 1).flatten(-2)


def heads_averaged(x):
    """The heads are averaged into one of them, not laid side by side."""
    return x.mean(dim=1)


def only_transposed(x):
    """The heads move back behind the tokens, and stay an axis of their own."""
    return x.transpose(1, 2)


def heads_backwards(x):
    """The heads are laid side by side from the last to the first."""
    return x.flip(1).transpose(1, 2).flatten(-2)


def view_of_a_transpose(x):
    """view stands right after a transpose, which torch refuses: the numbers do not lie in line."""
    batch, heads, length, d_k = x.shape
    return x.transpose(1, 2).view(batch, length, heads * d_k)


def detached(x):
    """The input is detached first, so that no gradient flows back."""
    return x.detach().transpose(1, 2).flatten(-2)
