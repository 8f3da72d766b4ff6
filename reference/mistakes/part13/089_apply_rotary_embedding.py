"""089 · apply_rotary_embedding, the ways it goes wrong."""

import torch


def _places(x, cos, positions):
    """The right positions, checked."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    strays = positions[(positions < 0) | (positions >= len(cos))]
    if strays.numel():
        raise IndexError(f"no angles for position {strays[0]}: {len(cos)} rows")
    return positions


def _rows(x, cos, sin, positions):
    """Cosines and sines for each token, with room for the heads."""
    positions = _places(x, cos, positions)
    positions = positions[:, None] if positions.dim() == 2 else positions
    return cos[positions], sin[positions]


def _turn(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(start_dim=-2).to(x.dtype)


def halves_are_the_pairs(x, cos, sin, positions=None):
    """Feature i is paired with feature i + d_k/2, the rotate-half layout: neighbours are wanted."""
    cos, sin = _rows(x, cos, sin, positions)
    left, right = x.chunk(2, dim=-1)
    turned = torch.cat((left * cos - right * sin, left * sin + right * cos), dim=-1)
    return turned.to(x.dtype)


def laid_out_by_halves(x, cos, sin, positions=None):
    """The turned pairs are not put side by side again: all first ones come before all seconds."""
    cos, sin = _rows(x, cos, sin, positions)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=-1).to(x.dtype)


def turned_the_other_way(x, cos, sin, positions=None):
    """The hands turn backwards: the sines have the wrong sign."""
    cos, sin = _rows(x, cos, sin, positions)
    return _turn(x, cos, -sin)


def mirrored(x, cos, sin, positions=None):
    """A sign is missing: x cos + y sin, x sin + y cos is no turn, and lengths change."""
    cos, sin = _rows(x, cos, sin, positions)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos + odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(start_dim=-2).to(x.dtype)


def second_from_the_turned_first(x, cos, sin, positions=None):
    """The second feature is computed from the first one after its turn, not from before."""
    cos, sin = _rows(x, cos, sin, positions)
    even, odd = x[..., 0::2], x[..., 1::2]
    even = even * cos - odd * sin
    odd = even * sin + odd * cos
    return torch.stack((even, odd), dim=-1).flatten(start_dim=-2).to(x.dtype)


def sine_and_cosine_swapped(x, cos, sin, positions=None):
    """Cosine and sine have changed places."""
    cos, sin = _rows(x, cos, sin, positions)
    return _turn(x, sin, cos)


def positions_ignored(x, cos, sin, positions=None):
    """The positions given are checked but not used: every sentence starts at row 0."""
    _places(x, cos, positions)
    return _turn(x, *_rows(x, cos, sin, None))


def first_sentences_positions_for_all(x, cos, sin, positions=None):
    """Every sentence is turned by the first sentence's positions."""
    positions = _places(x, cos, positions)
    return _turn(x, *_rows(x, cos, sin, positions[0] if positions.dim() == 2 else positions))


def no_room_for_the_heads(x, cos, sin, positions=None):
    """Positions of sentences line up with the heads: the axis between them is missing."""
    positions = _places(x, cos, positions)
    return _turn(x, cos[positions], sin[positions])


def negative_positions_wrap(x, cos, sin, positions=None):
    """A negative position is not refused: −1 is read as the last row."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    if (positions >= len(cos)).any():
        raise IndexError(f"no angles for position {positions.max()}")
    positions = positions[:, None] if positions.dim() == 2 else positions
    return _turn(x, cos[positions], sin[positions])


def late_positions_held_at_the_last_row(x, cos, sin, positions=None):
    """A position behind the table is not refused: it is turned like the last one."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    if (positions < 0).any():
        raise IndexError(f"no angles for position {positions.min()}")
    return _turn(x, *_rows(x, cos, sin, positions.clamp(max=len(cos) - 1)))


def late_positions_start_again(x, cos, sin, positions=None):
    """A position outside the table is not refused: it is counted round, from row 0 again."""
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    return _turn(x, *_rows(x, cos, sin, positions % len(cos)))


def in_place(x, cos, sin, positions=None):
    """It turns x in place: the caller's numbers change."""
    cos, sin = _rows(x, cos, sin, positions)
    with torch.no_grad():
        turned = _turn(x, cos, sin)
        x[..., :] = turned
    return x


def table_decides_the_dtype(x, cos, sin, positions=None):
    """The result is not cast back: with a float32 table, halves turn to float32."""
    cos, sin = _rows(x, cos, sin, positions)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(start_dim=-2)


def table_detached(x, cos, sin, positions=None):
    """The table is detached: no gradient flows to it, though it is an input like others."""
    cos, sin = _rows(x, cos, sin, positions)
    return _turn(x, cos.detach(), sin.detach())
