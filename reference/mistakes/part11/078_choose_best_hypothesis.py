"""Wrong versions of step 078, one slip each."""

from kata.part11_decoding import compute_length_penalty


def no_length_penalty(finished, alive, alpha):
    """Each one's own length makes no difference: the likelier wins, and so the shorter."""
    return max(finished or alive, key=lambda each: each.log_prob)


def multiplied_by_the_penalty(finished, alive, alpha):
    """The score is multiplied by the penalty, not divided: long sentences pay twice."""
    return max(finished or alive, key=lambda each: each.log_prob * _penalty(each, alpha))


def divided_by_the_length(finished, alive, alpha):
    """The score is divided by the length itself: a plain mean over the tokens."""
    return max(finished or alive, key=lambda each: each.log_prob / len(each.token_ids))


def start_token_counted(finished, alive, alpha):
    """The start token is counted too: every length is one too many."""
    return max(finished or alive, key=lambda each: each.log_prob / _penalty(each, alpha, 1))


def end_token_not_counted(finished, alive, alpha):
    """The end token is not counted: every length is one too few."""
    return max(finished or alive, key=lambda each: each.log_prob / _penalty(each, alpha, -1))


def alpha_of_the_paper(finished, alive, alpha):
    """Alpha is always 0.6, whatever was asked for."""
    return max(
        finished or alive,
        key=lambda each: each.log_prob / compute_length_penalty(len(each.token_ids)),
    )


def live_ones_compete(finished, alive, alpha):
    """A live hypothesis may win although others have finished: a sentence without an end."""
    return max([*finished, *alive], key=lambda each: each.log_prob / _penalty(each, alpha))


def live_ones_forgotten(finished, alive, alpha):
    """Only finished ones are looked at: when none has finished, there is no answer."""
    return max(finished, key=lambda each: each.log_prob / _penalty(each, alpha))


def first_live_one(finished, alive, alpha):
    """When none has finished, the first live one is taken unmeasured."""
    if not finished:
        return alive[0]
    return max(finished, key=lambda each: each.log_prob / _penalty(each, alpha))


def later_of_a_tie(finished, alive, alpha):
    """Of those that tie the later one is chosen."""
    return max(reversed(finished or alive), key=lambda each: each.log_prob / _penalty(each, alpha))


def worst(finished, alive, alpha):
    """The lowest score is chosen."""
    return min(finished or alive, key=lambda each: each.log_prob / _penalty(each, alpha))


def first_to_finish(finished, alive, alpha):
    """The first that finished is taken, however good the later ones are."""
    return (finished or alive)[0]


def longest_wins(finished, alive, alpha):
    """The longest is chosen, whatever its score."""
    return max(finished or alive, key=lambda each: len(each.token_ids))


def score_replaced(finished, alive, alpha):
    """The chosen one comes back with the score by length in place of its log-probability."""
    best = max(finished or alive, key=lambda each: each.log_prob / _penalty(each, alpha))
    return best._replace(log_prob=best.log_prob / _penalty(best, alpha))


def ids_alone(finished, alive, alpha):
    """Only the ids come back, without their score."""
    return max(finished or alive, key=lambda each: each.log_prob / _penalty(each, alpha)).token_ids


def length_to_the_alpha(finished, alive, alpha):
    """The length itself is raised to alpha, without the 5 and the 6: much too kind to long ones."""
    return max(finished or alive, key=lambda each: each.log_prob / len(each.token_ids) ** alpha)


def live_ones_by_the_bare_score(finished, alive, alpha):
    """When none has finished, live ones are compared without the penalty: the likelier wins."""
    if not finished:
        return max(alive, key=lambda each: each.log_prob)
    return max(finished, key=lambda each: each.log_prob / _penalty(each, alpha))


def likelier_of_a_tie(finished, alive, alpha):
    """Of those that tie the likelier, and so the shorter, is chosen, wherever it stands."""
    return max(
        finished or alive, key=lambda each: (each.log_prob / _penalty(each, alpha), each.log_prob)
    )


def _penalty(hypothesis, alpha, more=0):
    return ((5 + len(hypothesis.token_ids) + more) / 6) ** alpha
