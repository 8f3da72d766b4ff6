"""Wrong versions of step 077, one slip each."""

from kata.part11_decoding import compute_length_penalty


def ascending(candidates, beam_size):
    """Sorted upwards: the least likely are kept."""
    _check(beam_size)
    return sorted(candidates, key=lambda each: (each.log_prob, each.token_ids))[:beam_size]


def worst_of_the_best_first(candidates, beam_size):
    """The best are kept, but the best of them stands last."""
    return _top(candidates, beam_size)[::-1]


def not_sorted(candidates, beam_size):
    """The first ones are kept, in the order in which they came."""
    _check(beam_size)
    return candidates[:beam_size]


def kept_in_their_old_order(candidates, beam_size):
    """The best are kept, but in the order in which they came, not best first."""
    top = _top(candidates, beam_size)
    return [each for each in candidates if each in top]


def ties_as_they_came(candidates, beam_size):
    """Those that tie stay in the order in which they came."""
    _check(beam_size)
    return sorted(candidates, key=lambda each: -each.log_prob)[:beam_size]


def ties_by_highest_ids(candidates, beam_size):
    """Those that tie stand in falling order of their ids: sorted upwards, then turned round."""
    _check(beam_size)
    ranked = sorted(candidates, key=lambda each: (each.log_prob, each.token_ids))
    return ranked[::-1][:beam_size]


def ties_by_length(candidates, beam_size):
    """Of those that tie the shorter comes first, whatever its ids."""
    _check(beam_size)
    ranked = sorted(candidates, key=lambda e: (-e.log_prob, len(e.token_ids), e.token_ids))
    return ranked[:beam_size]


def ids_first(candidates, beam_size):
    """Sorted by ids, and by log-probability only where those are the same."""
    _check(beam_size)
    return sorted(candidates)[:beam_size]


def by_length(candidates, beam_size):
    """The length penalty is applied already: that is for finished sentences."""
    _check(beam_size)
    ranked = sorted(
        candidates,
        key=lambda each: (
            -each.log_prob / compute_length_penalty(len(each.token_ids)),
            each.token_ids,
        ),
    )
    return ranked[:beam_size]


def one_too_many(candidates, beam_size):
    """One hypothesis more than the beam holds is kept."""
    _check(beam_size)
    return _top(candidates, beam_size + 1)


def one_too_few(candidates, beam_size):
    """One hypothesis less than the beam holds is kept."""
    return _top(candidates, beam_size)[: beam_size - 1]


def fewer_is_an_error(candidates, beam_size):
    """Fewer candidates than the beam holds are refused, not returned."""
    if beam_size > len(candidates):
        raise ValueError(f"beam_size {beam_size} out of {len(candidates)} candidates")
    return _top(candidates, beam_size)


def no_check(candidates, beam_size):
    """A beam of 0 or less is not refused: the slice makes something of it."""
    return sorted(candidates, key=lambda each: (-each.log_prob, each.token_ids))[:beam_size]


def zero_refused_only(candidates, beam_size):
    """A beam of 0 is refused, but a negative one is not."""
    if beam_size == 0:
        raise ValueError("beam_size 0")
    return sorted(candidates, key=lambda each: (-each.log_prob, each.token_ids))[:beam_size]


def sorted_in_place(candidates, beam_size):
    """The caller's list is sorted in place."""
    _check(beam_size)
    candidates.sort(key=lambda each: (-each.log_prob, each.token_ids))
    return candidates[:beam_size]


def ties_by_text(candidates, beam_size):
    """Those that tie are sorted by their ids' text, in which 10 comes before 9."""
    _check(beam_size)
    return sorted(candidates, key=lambda each: (-each.log_prob, str(each.token_ids)))[:beam_size]


def ties_by_the_last_word(candidates, beam_size):
    """Those that tie are sorted by their last ids alone, whatever was said before."""
    _check(beam_size)
    ranked = sorted(candidates, key=lambda each: (-each.log_prob, each.token_ids[-1]))
    return ranked[:beam_size]


def only_the_best(candidates, beam_size):
    """Only the very best is kept, however many the beam holds."""
    _check(beam_size)
    return _top(candidates, 1)


def _top(candidates, beam_size):
    _check(beam_size)
    return sorted(candidates, key=lambda each: (-each.log_prob, each.token_ids))[:beam_size]


def _check(beam_size):
    if beam_size < 1:
        raise ValueError(f"a beam holds at least 1 hypothesis, got beam_size {beam_size}")
