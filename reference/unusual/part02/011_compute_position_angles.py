"""Right but unusual versions of step 011."""

import torch


def product_of_column_and_row(positions, inverse_frequencies):
    """A matrix product of a column and a row."""
    return positions @ inverse_frequencies.unsqueeze(0)


def outer(positions, inverse_frequencies):
    """``torch.outer`` of two lines."""
    return torch.outer(positions.squeeze(1), inverse_frequencies)


def row_after_row(positions, inverse_frequencies):
    """One row of angles a position, stacked."""
    return torch.stack([position * inverse_frequencies for position in positions])


def kronecker(positions, inverse_frequencies):
    """The Kronecker product of a column with a row is their table of products."""
    return torch.kron(positions, inverse_frequencies[None])


def written_into_zeros(positions, inverse_frequencies):
    """Products are added to a table of zeros, in place."""
    table = positions.new_zeros(len(positions), len(inverse_frequencies))
    return table.addcmul_(positions, inverse_frequencies)


def vmap_over_positions(positions, inverse_frequencies):
    """``vmap`` scales the frequencies by one position after the other."""
    return torch.vmap(torch.mul, in_dims=(0, None))(positions[:, 0], inverse_frequencies)
