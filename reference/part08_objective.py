"""Part 8 · Training Objective and Schedule.

What does the model have to do, how wrong was it, and how fast may it change its mind? The decoder
is asked for each token with only the earlier ones in sight (056), and the pace of learning rises
and falls with the steps (057). The answer it is held to is not one word with certainty: a little
belief is spread over the others (058), the rest goes to the right word (059), and padding is not
asked about at all (060). How far the model's own belief is from that one is the loss (061), told
per real token (062), beside the share of tokens that it would have guessed right (063).

Targets are a batch of sentences, ``(batch, length)``; where a function speaks of *rows*, sentence
follows sentence, one row for each of their ``batch · length`` tokens.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def shift_targets_right_with_start_token(
    targets: Int[Tensor, "batch length"], start_id: int
) -> Int[Tensor, "batch length"]:
    """Move every token one seat to the right, so that each place sees only what came before it.

    The start token takes the first seat, and the last token has none left: ``a b c`` becomes
    ``start a b``. At each place the decoder reads this and is asked for the target itself.

    Section 3.1 of the paper, and "Outputs (shifted right)" in figure 1.
    """
    start = targets.new_full((targets.size(0), 1), start_id)
    return torch.cat((start, targets[:, :-1]), dim=1)


def compute_noam_learning_rate(
    step: int, d_model: int, warmup_steps: int = 4000, factor: float = 1.0
) -> float:
    """Set the pace: uphill in a straight line while it warms up, then down, ever more gently.

    ``factor · d_model^(−1/2) · min(step^(−1/2), step · warmup_steps^(−3/2))``, where the steps
    count from 1. The two terms meet at ``step = warmup_steps``, the top.

    A ``step`` or ``warmup_steps`` below 1 raises ``ValueError``.

    Section 5.3 of the paper, equation 3, there without the factor.
    """
    if step < 1:
        raise ValueError(f"steps count from 1, got step {step}")
    if warmup_steps < 1:
        raise ValueError(f"warming up takes at least 1 step, got {warmup_steps}")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def build_uniform_smoothing_distribution(
    targets: Int[Tensor, "batch length"],
    vocab_size: int,
    smoothing: float,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "rows vocab"]:
    """Lay a thin, even layer of belief over the whole vocabulary, once for each token.

    ``smoothing / (vocab_size − 2)`` everywhere: two tokens get no part of it in the end, the right
    one (059) and padding (060). On the device of the targets.

    A ``vocab_size`` below 3, and a ``smoothing`` outside [0, 1), raise ``ValueError``.

    Section 5.4 of the paper: "label smoothing of value ε = 0.1".
    """
    if vocab_size < 3:
        raise ValueError(f"nothing to smooth over: vocab_size must be at least 3, got {vocab_size}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must lie in [0, 1), got {smoothing}")
    share = smoothing / (vocab_size - 2)
    shape = (targets.numel(), vocab_size)
    return torch.full(shape, share, dtype=dtype, device=targets.device)


def set_confidence_on_gold_tokens(
    distribution: Float[Tensor, "rows vocab"],
    targets: Int[Tensor, "batch length"],
    confidence: float,
) -> Float[Tensor, "rows vocab"]:
    """Pile the rest of the belief on the gold token, the one that really stands there.

    In each row the entry at that row's target becomes ``confidence``; all others stay as they are.
    With ``confidence = 1 − smoothing`` a real token's row has given everything away.

    Raises ``IndexError`` for a gold id outside 0 … vocab − 1, a negative one too.

    Section 5.4 of the paper.
    """
    gold = targets.reshape(-1, 1)
    vocab_size = distribution.size(1)
    strays = gold[(gold < 0) | (gold >= vocab_size)]
    if strays.numel():
        raise IndexError(f"no gold token {strays[0]}: {vocab_size} tokens, from 0 on")
    return distribution.scatter(1, gold, confidence)


def zero_pad_column_and_pad_token_rows(
    distribution: Float[Tensor, "rows vocab"], targets: Int[Tensor, "batch length"], pad_id: int
) -> Float[Tensor, "rows vocab"]:
    """Take padding out of the exam: it is never an answer, and never a question.

    0 in the column of ``pad_id``, and in every row whose target is ``pad_id``; all other entries
    stay as they are. The rows of real tokens now add up to 1.

    The paper does not write this down: it comes with batches of unequal sentences.
    """
    is_real_row = targets.reshape(-1, 1) != pad_id
    is_word_column = torch.arange(distribution.size(1), device=distribution.device) != pad_id
    return (distribution * is_real_row).mul_(is_word_column)


def compute_label_smoothed_kl_loss(
    log_probs: Float[Tensor, "rows vocab"], distribution: Float[Tensor, "rows vocab"]
) -> Float[Tensor, ""]:
    """Measure how far the model's belief is from the one it should hold, summed over all tokens.

    ``Σ p · (log p − log q)``, the Kullback-Leibler divergence of the model's q, given as
    ``log_probs``, from the ``distribution`` p. Where p = 0 nothing is added and no gradient flows
    to ``log_probs``, whatever stands there: 0 · log 0 counts as 0.

    Section 5.4 of the paper smooths the labels; the divergence is 0 when the model agrees.
    """
    wanted = distribution.to(log_probs.dtype)
    agreement = (wanted * log_probs).sum()
    if not agreement.isfinite():  # 0 · −∞ is NaN: leave out what nobody asked for
        asked = wanted > 0
        agreement = (wanted[asked] * log_probs[asked]).sum()
    log_wanted = wanted.clamp(min=torch.finfo(wanted.dtype).tiny).log_()  # 0 · log 0 is 0
    return (wanted * log_wanted).sum() - agreement


def average_loss_over_non_pad_tokens(
    total_loss: Float[Tensor, ""], targets: Int[Tensor, "batch length"], pad_id: int
) -> Float[Tensor, ""]:
    """Share the loss out among the tokens that took part, so that longer batches weigh no more.

    ``total_loss`` divided by the number of targets that are not ``pad_id``. Where all of them are,
    nothing was lost and nothing is shared out: 0.

    The paper does not write this down; its perplexities are "per-wordpiece" (table 3).
    """
    tokens = (targets != pad_id).sum()
    return total_loss / tokens.clamp(min=1)


def compute_token_accuracy_ignoring_pad(
    log_probs: Float[Tensor, "batch length vocab"],
    targets: Int[Tensor, "batch length"],
    pad_id: int,
) -> float:
    """Count how many tokens the model would have guessed right, as a share of the real ones.

    A guess is the token with the highest log-probability. Where the target is ``pad_id`` nobody
    asks; where all of them are, the share is 0.

    A number to watch while training: nothing learns from it. (The paper reports BLEU, section 6.)
    """
    hits = (log_probs.argmax(dim=-1) == targets)[targets != pad_id]
    return hits.sum().item() / hits.numel() if hits.numel() else 0.0
