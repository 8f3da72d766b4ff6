"""015 · build_causal_mask. Lesson: 015_build_causal_mask.md."""

import pytest

from kata.part03_attention import build_causal_mask
from specs.harness.check import assert_equal


def test_three_positions_by_hand():
    """The first sees itself, the second two positions, the third all three."""
    assert_equal(
        build_causal_mask(3),
        expected=[[True, False, False], [True, True, False], [True, True, True]],
    )


def test_single_position_sees_itself():
    """A sentence of one token still has somebody to listen to."""
    assert_equal(build_causal_mask(1), expected=[[True]])


@pytest.mark.parametrize("length", [2, 4, 7, 300])
def test_position_i_sees_the_first_i_plus_1_positions(length):
    """Row i, counted from 0, holds i + 1 times True: 1, 2, 3, …"""
    assert_equal(build_causal_mask(length).sum(-1), expected=list(range(1, length + 1)))


@pytest.mark.parametrize("length", [2, 5, 8])
def test_key_j_is_seen_by_query_i_where_j_is_not_later(length):
    """Every pair looked at alone: True where j ≤ i."""
    by_hand = [[j <= i for j in range(length)] for i in range(length)]
    assert_equal(build_causal_mask(length), expected=by_hand)
