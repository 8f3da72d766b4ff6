"""011 · compute_position_angles. Lesson: 011_compute_position_angles.md."""

import pytest
import torch

from kata.part02_embeddings import compute_position_angles
from specs.harness import draw
from specs.harness.check import assert_close


def test_three_positions_and_two_frequencies_by_hand():
    """The fast hand turns 1 radian a step, the slow one 1/4."""
    angles = compute_position_angles(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([1.0, 0.25]))
    assert_close(angles, expected=[[0.0, 0.0], [1.0, 0.25], [2.0, 0.5]])


def test_as_many_positions_as_frequencies():
    """A square table: positions still run down, frequencies across."""
    angles = compute_position_angles(torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 0.5]))
    assert_close(angles, expected=[[1.0, 0.5], [2.0, 1.0]])


def test_whole_turns_stay_in():
    """Position 100 at 1 radian a step is 100 radians, almost 16 turns, and stays 100."""
    angles = compute_position_angles(torch.tensor([[100.0]]), torch.tensor([1.0]))
    assert_close(angles, expected=[[100.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_the_type_stays(dtype):
    """3 · 1/2 and 3 · 1/8 are exact in every type."""
    positions = torch.tensor([[0.0], [3.0]], dtype=dtype)
    angles = compute_position_angles(positions, torch.tensor([0.5, 0.125], dtype=dtype))
    assert_close(angles, expected=[[0.0, 0.0], [1.5, 0.375]])


@pytest.mark.parametrize("size", draw.sizes("length frequencies"), ids=str)
def test_agrees_with_the_outer_product(size):
    """torch.outer multiplies every position with every frequency."""
    positions = draw.floats(size.length, 1, seed=1)
    frequencies = draw.floats(size.frequencies, seed=2)
    angles = compute_position_angles(positions, frequencies)
    assert_close(angles, expected=torch.outer(positions.flatten(), frequencies))
