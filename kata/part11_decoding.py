"""Part 11 · Decoding and Beam Search.

The model can score every next word; now it has to speak. The simplest way is to say the best word
at each turn (073) and never to look back, until the end token is said or there is no more room
(074). But the best first word need not begin the best sentence. Beam search keeps a few beginnings
alive at a time: each is continued in every way there is (076), the best few go on (077), and those
that have said the end token are put aside. Long sentences collect more doubt than short ones, so
scores are compared after a length penalty (075), and the best finished sentence is the answer
(078). Step 079 is the whole search.

Decoding runs without dropout and without a gradient graph. Only the causal mask applies to the
target: a ``pad_id`` that the model says is a token like any other. ``max_length=None`` means
``config.max_length``.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from kata.part01_tokens import pack_batch
from kata.part06_transformer import decode_target, encode_source
from kata.weights import Hypothesis, TransformerConfig, TransformerWeights


def select_greedy_next_tokens(
    log_probs: Float[Tensor, "batch length vocab"],
) -> Int[Tensor, "batch"]:
    """Let each sentence say the word that comes to mind first.

    ``argmaxᵥ log_probs[:, −1, v]``: the last position is the one that speaks of the word to come.
    Of words that tie, the one with the lowest id is said.

    Section 3 of the paper: the decoder generates "an output sequence of symbols one element at a
    time".
    """
    raise NotImplementedError("step 073: write select_greedy_next_tokens")


def greedy_decode(
    source_ids: Int[Tensor, "batch source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    max_length: int | None = None,
) -> Int[Tensor, "batch length"]:
    """Read each sentence once, then answer word by word, never taking a word back.

    Starts with ``config.start_id``, and feeds every word said back in. Returns the words after the
    start token, ``config.end_id`` included. A row that has said it is filled with ``config.pad_id``
    while others go on; when all have, or at ``max_length`` words, decoding stops. No dropout, no
    gradient graph.

    Section 3 of the paper: "consuming the previously generated symbols as additional input when
    generating the next".
    """
    raise NotImplementedError("step 074: write greedy_decode")


def compute_length_penalty(length: int, alpha: float = 0.6) -> float:
    """Say by how much a long sentence may be excused for its doubts.

    ``((5 + length) / 6)^alpha``, by which a log-probability is divided: 1 at one token, and growing
    more and more slowly. ``alpha = 0`` excuses nothing. The length counts the tokens generated: the
    end token, but not the start token.

    A ``length`` below 1 raises ``ValueError``.

    Section 6.1 of the paper, "length penalty α = 0.6"; Wu et al., "Google's Neural Machine
    Translation System" (2016), equation 14.
    """
    raise NotImplementedError("step 075: write compute_length_penalty")


def expand_beam_hypotheses(
    hypotheses: list[Hypothesis], log_probs: Float[Tensor, "hypotheses vocab"]
) -> list[Hypothesis]:
    """Let every beginning of a sentence go on with every word there is.

    Row i of ``log_probs`` scores the words that may follow hypothesis i. Each continuation has one
    token more, and the sum of the two scores. A word whose score is −∞ or NaN cannot follow.
    Hypothesis by hypothesis, in order of the token ids.

    The tree that the beam search of the paper's section 6.1 grows.
    """
    raise NotImplementedError("step 076: write expand_beam_hypotheses")


def select_top_hypotheses(candidates: list[Hypothesis], beam_size: int) -> list[Hypothesis]:
    """Keep the few most likely, best first, and let the rest go.

    By falling log-probability; those that tie stand in the order of their ``token_ids``. All of
    them, if there are no more than ``beam_size``.

    A ``beam_size`` below 1 raises ``ValueError``.

    Section 6.1 of the paper: "we used beam search with a beam size of 4".
    """
    raise NotImplementedError("step 077: write select_top_hypotheses")


def choose_best_hypothesis(
    finished: list[Hypothesis], alive: list[Hypothesis], alpha: float
) -> Hypothesis:
    """Crown the sentence that is most likely for its length.

    The highest ``log_prob / compute_length_penalty(length, alpha)``, each by the length of its own
    ``token_ids``. A live hypothesis is broken off in mid-sentence: one is chosen only when none has
    finished. Of those that tie, the earlier in the list is chosen.

    Section 6.1 of the paper; Wu et al. (2016), equation 14, without the coverage penalty.
    """
    raise NotImplementedError("step 078: write choose_best_hypothesis")


def beam_search_decode(
    source_ids: Int[Tensor, "batch source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    beam_size: int = 4,
    alpha: float = 0.6,
    max_length: int | None = None,
) -> Int[Tensor, "batch length"]:
    """Follow the few best beginnings side by side, and say the best sentence that comes of them.

    Each row is searched alone, from one empty hypothesis. At each turn the ``beam_size`` best
    continuations of all live hypotheses are kept; those of them that end in ``config.end_id`` are
    finished, the others live on. The search stops at ``max_length`` tokens, or as soon as no live
    hypothesis can still beat the best finished one: not even if it went on to the last place and
    lost no more probability on its way. Returns each row's best sentence, as step 078 chooses it,
    with ``config.pad_id`` behind the shorter ones. No dropout, no gradient graph.

    Section 6.1 of the paper: "beam size of 4 and length penalty α = 0.6", and "terminate early when
    possible".
    """
    raise NotImplementedError("step 079: write beam_search_decode")
