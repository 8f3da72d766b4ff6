"""Right but unusual versions of step 076."""

import itertools
import math

import torch

from kata.weights import Hypothesis


def added_up_by_torch(hypotheses, log_probs):
    """One sum for all, in float64, and the places of what is finite."""
    if len(hypotheses) != log_probs.shape[0]:
        raise IndexError(f"{len(hypotheses)} hypotheses and {log_probs.shape[0]} rows")
    before = torch.tensor(
        [each.log_prob for each in hypotheses], dtype=torch.float64, device=log_probs.device
    )
    total = before[:, None] + log_probs
    found = torch.isfinite(log_probs)
    places, scores = found.nonzero().tolist(), total[found].tolist()
    return [
        Hypothesis((*hypotheses[row].token_ids, word), score)
        for (row, word), score in zip(places, scores, strict=True)
    ]


def pair_by_pair(hypotheses, log_probs):
    """All pairs of a row and a word, looked up one by one."""
    rows, words = log_probs.shape
    assert rows == len(hypotheses), "one row for each hypothesis"
    answer = []
    for row, word in itertools.product(range(rows), range(words)):
        score = log_probs[row, word].item()
        if -math.inf < score < math.inf:
            ids, so_far = hypotheses[row]
            answer.append(Hypothesis(log_prob=so_far + score, token_ids=(*ids, word)))
    return answer


def chain_of_generators(hypotheses, log_probs):
    """A generator for each hypothesis, chained."""

    def children(parent, row):
        for word, score in enumerate(row.double().tolist()):
            if not (math.isinf(score) or math.isnan(score)):
                yield parent._replace(
                    token_ids=(*parent.token_ids, word), log_prob=parent.log_prob + score
                )

    pairs = zip(hypotheses, log_probs.unbind(), strict=True)
    return list(itertools.chain.from_iterable(itertools.starmap(children, pairs)))
