"""011 · compute_position_angles, the ways it goes wrong."""

import math


def divided(positions, inverse_frequencies):
    """The positions are divided by the frequencies: those are inverted already."""
    return positions / inverse_frequencies


def added(positions, inverse_frequencies):
    """Positions and frequencies are added instead of multiplied."""
    return positions + inverse_frequencies


def across(positions, inverse_frequencies):
    """The positions run across and the frequencies down: the table lies on its side."""
    return positions.T * inverse_frequencies.unsqueeze(1)


def paired_off(positions, inverse_frequencies):
    """Each position meets one frequency only: the column was flattened before the product."""
    shared = min(len(positions), len(inverse_frequencies))
    return positions.flatten()[:shared] * inverse_frequencies[:shared]


def in_whole_turns(positions, inverse_frequencies):
    """The frequencies are taken for turns: the angles are 2π times too large."""
    return positions * inverse_frequencies * (2 * math.pi)


def wrapped(positions, inverse_frequencies):
    """Whole turns are taken out: the angles are cut to less than 2π."""
    return positions * inverse_frequencies % (2 * math.pi)


def from_position_one(positions, inverse_frequencies):
    """Every position is one too large."""
    return (positions + 1) * inverse_frequencies


def summed(positions, inverse_frequencies):
    """All the frequencies of a position are added up to one number."""
    return (positions * inverse_frequencies).sum(dim=-1)


def detached(positions, inverse_frequencies):
    """The angles are cut off from what they are made of: no gradient flows."""
    return (positions * inverse_frequencies).detach()


def always_float32(positions, inverse_frequencies):
    """The angles are float32, whatever the type of what they are made of."""
    return (positions * inverse_frequencies).float()
