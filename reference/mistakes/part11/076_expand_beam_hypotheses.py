"""Wrong versions of step 076, one slip each."""

import math

from kata.weights import Hypothesis


def score_of_the_last_word(hypotheses, log_probs):
    """The new word's score takes the place of the old one: the scores are not added up."""
    return [each._replace(log_prob=score) for each, _, score in _pairs(hypotheses, log_probs)]


def score_not_moved(hypotheses, log_probs):
    """The continuation keeps the score of its beginning."""
    return [
        each._replace(log_prob=beginning.log_prob)
        for each, beginning, _ in _pairs(hypotheses, log_probs)
    ]


def scores_multiplied(hypotheses, log_probs):
    """The scores are multiplied, as probabilities would be; log-probabilities are added."""
    return [
        each._replace(log_prob=beginning.log_prob * score)
        for each, beginning, score in _pairs(hypotheses, log_probs)
    ]


def scores_subtracted(hypotheses, log_probs):
    """The new score is taken off: unlikely words make a sentence likelier."""
    return [
        each._replace(log_prob=beginning.log_prob - score)
        for each, beginning, score in _pairs(hypotheses, log_probs)
    ]


def turned_into_probabilities(hypotheses, log_probs):
    """Probabilities are added to log-probabilities: exp has no place here."""
    return [
        each._replace(log_prob=beginning.log_prob + math.exp(score))
        for each, beginning, score in _pairs(hypotheses, log_probs)
    ]


def first_row_for_all(hypotheses, log_probs):
    """Every beginning goes on with the scores of the first row."""
    return _expand(hypotheses, log_probs[:1].expand(len(hypotheses), -1))


def word_in_front(hypotheses, log_probs):
    """The new word is put in front, not behind."""
    return [
        each._replace(token_ids=(each.token_ids[-1], *each.token_ids[:-1]))
        for each in _expand(hypotheses, log_probs)
    ]


def old_words_lost(hypotheses, log_probs):
    """Only the new word is kept, without the beginning that it continues."""
    return [each._replace(token_ids=each.token_ids[-1:]) for each in _expand(hypotheses, log_probs)]


def only_the_best_word(hypotheses, log_probs):
    """Every beginning goes on with its best word alone."""
    best = log_probs.amax(dim=1, keepdim=True)
    return _expand(hypotheses, log_probs.masked_fill(log_probs < best, -math.inf))


def impossible_words_kept(hypotheses, log_probs):
    """A word whose score is −∞ or NaN is kept as a continuation."""
    return [
        Hypothesis((*hypothesis.token_ids, token_id), hypothesis.log_prob + score)
        for hypothesis, scores in zip(hypotheses, log_probs.tolist(), strict=True)
        for token_id, score in enumerate(scores)
    ]


def not_a_number_kept(hypotheses, log_probs):
    """Only −∞ is left out: a score that is NaN is kept."""
    return [
        Hypothesis((*hypothesis.token_ids, token_id), hypothesis.log_prob + score)
        for hypothesis, scores in zip(hypotheses, log_probs.tolist(), strict=True)
        for token_id, score in enumerate(scores)
        if score != -math.inf
    ]


def places_for_ids(hypotheses, log_probs):
    """The possible words are numbered afresh: behind one that is left out the ids are too low."""
    return [
        Hypothesis((*hypothesis.token_ids, place), hypothesis.log_prob + score)
        for hypothesis, scores in zip(hypotheses, log_probs.tolist(), strict=True)
        for place, score in enumerate(filter(math.isfinite, scores))
    ]


def zero_taken_for_nothing(hypotheses, log_probs):
    """A score of 0 is taken for none: a word that is certain is left out."""
    return [each for each, _, score in _pairs(hypotheses, log_probs) if score]


def word_by_word(hypotheses, log_probs):
    """Word by word, not beginning by beginning: the loops stand the other way round."""
    expanded = _expand(hypotheses, log_probs)
    return sorted(expanded, key=lambda each: each.token_ids[-1])


def rows_cut_to_fit(hypotheses, log_probs):
    """Rows and beginnings are paired as far as they go: what is left over is dropped in silence."""
    count = min(len(hypotheses), len(log_probs))
    return _expand(hypotheses[:count], log_probs[:count])


def ids_in_a_list(hypotheses, log_probs):
    """The ids are kept in a list, which can be changed, and not in a tuple."""
    return [
        each._replace(token_ids=list(each.token_ids)) for each in _expand(hypotheses, log_probs)
    ]


def scores_as_tensors(hypotheses, log_probs):
    """The scores are tensors, not Python's floats."""
    return [
        each._replace(log_prob=log_probs.new_tensor(each.log_prob))
        for each in _expand(hypotheses, log_probs)
    ]


def list_grown_in_place(hypotheses, log_probs):
    """The caller's list is emptied and filled with the continuations."""
    hypotheses[:] = _expand(hypotheses, log_probs)
    return hypotheses


def best_first(hypotheses, log_probs):
    """The continuations come sorted, the likeliest first: that is left to step 077."""
    return sorted(_expand(hypotheses, log_probs), key=lambda each: -each.log_prob)


def added_as_tensors(hypotheses, log_probs):
    """The sums are made in the table's precision: a small doubt beside a large one is lost."""
    return [
        each._replace(log_prob=(log_probs.new_tensor(beginning.log_prob) + score).item())
        for each, beginning, score in _pairs(hypotheses, log_probs)
    ]


def very_unlikely_words_dropped(hypotheses, log_probs):
    """A score below −10⁹ is taken for −∞: a word that is very unlikely may follow all the same."""
    return [each for each, _, score in _pairs(hypotheses, log_probs) if score > -1e9]


def _expand(hypotheses, log_probs):
    return [each for each, _, _ in _pairs(hypotheses, log_probs)]


def _pairs(hypotheses, log_probs):
    return [
        (
            Hypothesis((*hypothesis.token_ids, token_id), hypothesis.log_prob + score),
            hypothesis,
            score,
        )
        for hypothesis, scores in zip(hypotheses, log_probs.tolist(), strict=True)
        for token_id, score in enumerate(scores)
        if math.isfinite(score)
    ]
