"""The capstone, second half: numbers in words, from English to German."""

from specs.capstone.apprentice import beam, greedy, train
from specs.capstone.number_words import in_german
from specs.capstone.picture import draw_cross_attention
from specs.capstone.tasks import numbers_task

ASKED = 1000
ASKED_WITH_BEAM = 100


def test_the_order_turns_round() -> None:
    """21 is twenty one, and ein und zwanzig; 100 is one hundred; 1001 ends in eins."""
    assert " ".join(in_german(21)) == "ein und zwanzig"
    assert " ".join(in_german(101)) == "ein hundert eins"
    assert " ".join(in_german(7016)) == "sieben tausend sechzehn"


def test_numbers_never_seen_are_translated(progress_line, picture_folder, say) -> None:
    """At least 95 of 100 numbers that were never trained on are right to the last word."""
    task = numbers_task()
    pupil = train(task, progress_line(task.name))
    with_greedy = pupil.share_right(task.held_out[:ASKED], greedy)
    with_beam = pupil.share_right(task.held_out[:ASKED_WITH_BEAM], beam)
    say(draw_cross_attention(pupil, picture_folder))
    assert with_greedy >= 0.95, f"greedy search: {with_greedy:.1%} right"
    assert with_beam >= 0.95, f"beam search: {with_beam:.1%} right"
