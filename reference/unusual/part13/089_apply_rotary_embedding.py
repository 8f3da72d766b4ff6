"""089 · apply_rotary_embedding, right all the same."""

import torch


def _places(x, cos, positions):
    if positions is None:
        positions = torch.arange(x.size(2), device=x.device)
    low, high = (positions.min(), positions.max()) if positions.numel() else (0, 0)
    if low < 0 or high >= max(cos.size(0), 1):
        raise IndexError(f"positions {int(low)} to {int(high)}, the table has {cos.size(0)}")
    return positions.expand(x.size(0), -1)


def as_complex_numbers(x, cos, sin, positions=None):
    """A pair is one complex number, and a turn is a product."""
    positions = _places(x, cos, positions)
    wide = x.to(torch.promote_types(torch.promote_types(x.dtype, cos.dtype), torch.float32))
    hands = torch.complex(cos.to(wide.dtype), sin.to(wide.dtype))[positions].unsqueeze(1)
    pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * hands).reshape(x.shape).to(x.dtype)


def by_matrices(x, cos, sin, positions=None):
    """Each place has a 2 × 2 matrix for each pair."""
    positions = _places(x, cos, positions)
    cos, sin = cos[positions], sin[positions]
    turns = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x.unflatten(-1, (-1, 2)).to(turns.dtype)
    return torch.einsum("btpij,bhtpj->bhtpi", turns, pairs).flatten(-2).to(x.dtype)


def whole_width_at_once(x, cos, sin, positions=None):
    """Tables as wide as the head: x · cos + swapped x · sin, where neighbours change places."""
    positions = _places(x, cos, positions)
    cos, sin = (
        torch.stack([table, table], -1).flatten(-2)[positions][:, None] for table in (cos, sin)
    )
    signs = torch.tensor([-1.0, 1.0], device=x.device, dtype=x.dtype).repeat(x.shape[-1] // 2)
    swapped = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2) * signs
    return (x * cos + swapped * sin).to(x.dtype)
