"""Right but unusual versions of step 078."""

import math

from kata.part11_decoding import compute_length_penalty


def plain_loop(finished, alive, alpha):
    """The best so far is replaced by whatever is better, not by what is as good."""
    best, best_score = None, -math.inf
    for hypothesis in finished if len(finished) else alive:
        score = hypothesis.log_prob / compute_length_penalty(len(hypothesis.token_ids), alpha)
        if best is None or score > best_score:
            best, best_score = hypothesis, score
    return best


def formula_written_out(finished, alive, alpha):
    """Multiplied by the inverse of the penalty, sorted by score and place."""
    pool = list(finished) or list(alive)
    ranked = sorted(
        range(len(pool)),
        key=lambda place: (
            -pool[place].log_prob * (6 / (5 + len(pool[place].token_ids))) ** alpha,
            place,
        ),
    )
    return pool[ranked[0]]


def list_of_scores(finished, alive, alpha):
    """The place of the largest in a list of scores."""
    pool = [*finished] if finished else [*alive]
    scores = [score / compute_length_penalty(len(ids), alpha) for ids, score in pool]
    return pool[scores.index(max(scores))]
