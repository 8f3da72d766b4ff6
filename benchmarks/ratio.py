"""How two rivals compare that were timed in turn: a ratio, and the interval that it lies in.

In every round each rival is timed once, in an order drawn by lot. If two rivals are the same code,
then whatever else the machine was doing, it is the lot alone that decides which of them got the
slower time: the signs of their log-ratios are fair coins. On fair coins the signed-rank interval is
exact. Load makes it wider, and never wrong.

Load only ever adds time, so rounds are taken together in batches, and of each rival the best lap of
a batch counts: the one that was least disturbed. That leaves the coins fair, and on a busy machine
the interval is up to a hundred times narrower.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.99
FEWEST_ROUNDS = 8  # with fewer no interval holds 99 %: eight coins fall alike in 1 of 128 throws
BATCHES = 24  # at least: the interval needs pairs more than each pair needs laps to choose from

Times = NDArray[np.float64]


class Ratio(NamedTuple):
    """How many times as long as the baseline, with the ends of the 99 % interval."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> str:
        """The interval as a person reads it."""
        return f"{self.low:.3f} – {self.high:.3f}" if self.low else "too few rounds"

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.ends})"


def paired_ratio(times: Times, baseline: Times, level: float = LEVEL) -> Ratio:
    """Compare two rivals, round by round: Hodges and Lehmann's estimate and its interval.

    The estimate is the median of the means of all pairs of log-ratios, each with itself too. One
    round in four may be spoiled before it is. With too few rounds the interval is everything.
    """
    logs = np.log(best_laps(times) / best_laps(baseline))
    rows, columns = np.triu_indices(len(logs))
    means = np.sort((logs[rows] + logs[columns]) / 2)
    outside = _means_outside(len(logs), level)
    value = math.exp(float(np.median(means)))
    if not outside:
        return Ratio(value, 0.0, math.inf)
    return Ratio(value, math.exp(means[outside - 1]), math.exp(means[-outside]))


def best_laps(times: Times) -> Times:
    """The best lap of each batch of rounds; a batch is a single round where there are few."""
    size = max(1, len(times) // BATCHES)
    batches = len(times) // size
    best: Times = times[: batches * size].reshape(batches, size).min(axis=1)
    return best


@lru_cache
def _means_outside(rounds: int, level: float) -> int:
    """How many of the sorted means lie at or beyond each end of the interval; 0: too few rounds.

    Counted from the distribution of Wilcoxon's signed-rank sum: the ranks 1 … n, each by a toss of
    a coin in the sum or not.
    """
    chances = np.ones(1)
    for rank in range(1, rounds + 1):
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return int(np.searchsorted(np.cumsum(chances), (1 - level) / 2, side="right"))


def halfway(limit: float) -> float:
    """The ratio that is as far from no change as from a slowdown by the limit."""
    return math.sqrt(1 + limit)


def is_suspect(ratio: Ratio, limit: float) -> bool:
    """Say whether the whole interval is nearer to the limit than to no change."""
    return ratio.low > halfway(limit)


def is_regression(ratio: Ratio, limit: float) -> bool:
    """Say whether it has become slower by the limit, beyond what noise can do.

    It is suspect, and the limit is not ruled out: a slowdown by the limit is caught, and the same
    code is not, nor are slowdowns surely below the limit.
    """
    return is_suspect(ratio, limit) and ratio.high >= 1 + limit


def is_decided(ratio: Ratio, limit: float) -> bool:
    """Say whether more rounds could not change much: a regression, or surely none."""
    return is_suspect(ratio, limit) or ratio.high < 1 + limit
