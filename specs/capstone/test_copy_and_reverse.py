"""The capstone, first half: sequences copied, and given back from the end."""

import pytest

from specs.capstone.apprentice import beam, greedy, train
from specs.capstone.tasks import copy_task, reverse_task

ASKED_WITH_BEAM = 100  # each is searched alone, so fewer are asked


@pytest.mark.parametrize("make_task", [copy_task, reverse_task], ids=["copy", "reverse"])
def test_sequences_never_seen_come_out_right(make_task, progress_line) -> None:
    """At least 99 of 100 sequences that were never trained on are right to the last symbol."""
    task = make_task()
    pupil = train(task, progress_line(task.name))
    with_greedy = pupil.share_right(task.held_out, greedy)
    with_beam = pupil.share_right(task.held_out[:ASKED_WITH_BEAM], beam)
    assert with_greedy >= 0.99, f"greedy search: {with_greedy:.1%} right"
    assert with_beam >= 0.99, f"beam search: {with_beam:.1%} right"
