"""Wrong versions of step 070, one slip each."""

import torch

from kata.part06_transformer import run_transformer_forward
from kata.part08_objective import (
    average_loss_over_non_pad_tokens,
    build_uniform_smoothing_distribution,
    compute_label_smoothed_kl_loss,
    compute_token_accuracy_ignoring_pad,
    set_confidence_on_gold_tokens,
    shift_targets_right_with_start_token,
    zero_pad_column_and_pad_token_rows,
)


def not_shifted(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The targets are not shifted: the decoder hears what it is asked for."""
    log_probs = run_transformer_forward(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing)


def first_token_for_start(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The first token is taken for the start: it is heard, and never asked for."""
    heard, wanted = target_ids[:, :-1], target_ids[:, 1:]
    if not wanted.shape[1]:
        return _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    log_probs = run_transformer_forward(source_ids, heard, weights, config, generator)
    return _judge(log_probs, wanted, config, smoothing)


def start_written_out(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """1 is written out for the start token: the config's start id is never read."""
    return _compute_loss(
        source_ids, target_ids, weights, config._replace(start_id=1), smoothing, generator
    )


def end_in_front(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The end token stands in front where the start token belongs."""
    return _compute_loss(
        source_ids, target_ids, weights, config._replace(start_id=config.end_id), smoothing,
        generator,
    )  # fmt: skip


def padding_in_front(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """Padding stands in front where the start token belongs, and padding is hidden from all."""
    return _compute_loss(
        source_ids, target_ids, weights, config._replace(start_id=config.pad_id), smoothing,
        generator,
    )  # fmt: skip


def source_and_target_swapped(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """Source and target have changed places: the model learns to translate back."""
    return _compute_loss(target_ids, source_ids, weights, config, smoothing, generator)


def dropout_left_out(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """Dropout is switched off, as if the model were being tested."""
    return _compute_loss(
        source_ids, target_ids, weights, config._replace(dropout_rate=0.0), smoothing, generator
    )


def dropout_only_with_gradients(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """Dropout is switched off where no gradient is asked for: the config's rate is not obeyed."""
    if not torch.is_grad_enabled():
        config = config._replace(dropout_rate=0.0)
    return _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)


def dice_copied(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """A copy of the generator is used: every call drops the same."""
    dice = generator.clone_state() if generator else None
    return _compute_loss(source_ids, target_ids, weights, config, smoothing, dice)


def generator_not_handed_on(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The generator is not handed on: dropout draws from torch's default one."""
    return _compute_loss(source_ids, target_ids, weights, config, smoothing, None)


def not_smoothed(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The targets are not smoothed: all belief goes to the gold token."""
    return _compute_loss(source_ids, target_ids, weights, config, 0.0, generator)


def smoothing_written_out(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """0.1 is written out: the smoothing that is asked for is never read."""
    return _compute_loss(source_ids, target_ids, weights, config, 0.1, generator)


def full_confidence(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The gold token gets 1, not 1 − ε: the wanted shares add up to more than 1."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing, confidence=1.0)


def confidence_written_out(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """0.9 is written out for the gold token: with another smoothing the shares do not fit."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing, confidence=0.9)


def smoothing_for_confidence(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """The gold token gets ε, not 1 − ε."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing, confidence=smoothing)


def padding_asked_for(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The step that takes padding out is left out: padding is asked for, and believed in."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    wanted = _wanted(log_probs, target_ids, config, smoothing, 1 - smoothing)
    total = compute_label_smoothed_kl_loss(log_probs.flatten(0, 1), wanted)
    return _finish(total, log_probs, target_ids, config)


def padding_is_zero(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """0 is written out for padding: the config's pad id is never read for the targets."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config._replace(pad_id=0), smoothing)


def summed(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is the sum over all tokens, not their mean."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss * (target_ids != config.pad_id).sum(), accuracy


def padding_shares_the_loss(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is shared out among all places, padding too."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss * (target_ids != config.pad_id).sum() / target_ids.numel(), accuracy


def divided_by_sentences(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is divided by the number of sentences, not of tokens: long ones cost more."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss * (target_ids != config.pad_id).sum() / len(target_ids), accuracy


def mean_of_sentences(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is the mean of the sentences' means: words of short sentences weigh more."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    rows = zip(log_probs.split(1), target_ids.split(1), strict=True)
    losses = [_judge(row, target, config, smoothing)[0] for row, target in rows]
    return torch.stack(losses).mean(), _judge(log_probs, target_ids, config, smoothing)[1]


def nan_without_tokens(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """A batch of padding alone divides by zero: NaN."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    tokens = (target_ids != config.pad_id).sum()
    return loss * tokens / tokens, accuracy


def cross_entropy(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is the cross-entropy, not the divergence: it is not 0 where the model agrees."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    wanted = _wanted(log_probs, target_ids, config, smoothing, 1 - smoothing)
    wanted = zero_pad_column_and_pad_token_rows(wanted, target_ids, config.pad_id)
    return _finish(-(wanted * log_probs.flatten(0, 1)).sum(), log_probs, target_ids, config)


def probabilities(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """Probabilities are compared where log-probabilities belong."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs.exp(), target_ids, config, smoothing)


def accuracy_with_padding(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The accuracy counts padding: a guess there is never asked for, and always wrong."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    loss, _ = _judge(log_probs, target_ids, config, smoothing)
    return loss, (log_probs.argmax(-1) == target_ids).double().mean().item()


def accuracy_of_a_second_run(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """The accuracy comes from a second run, without dropout: it is not what the loss speaks of."""
    loss, _ = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    log_probs = _run(source_ids, target_ids, weights, config._replace(dropout_rate=0.0), None)
    return loss, compute_token_accuracy_ignoring_pad(log_probs, target_ids, config.pad_id)


def accuracy_of_what_was_heard(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """The guesses are compared with what was heard, not with what comes next."""
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    loss, _ = _judge(log_probs, target_ids, config, smoothing)
    heard = shift_targets_right_with_start_token(target_ids, config.start_id)
    return loss, compute_token_accuracy_ignoring_pad(log_probs, heard, config.pad_id)


def accuracy_as_tensor(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The accuracy is a tensor, not a plain number."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss, torch.tensor(accuracy)


def loss_as_number(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is a plain number: no gradient can be sent back from it."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss.item(), accuracy


def loss_detached(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The loss is detached: nothing can be learned from it."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return loss.detach(), accuracy


def results_swapped(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The two results have changed places: the loss comes first, the accuracy second."""
    loss, accuracy = _compute_loss(source_ids, target_ids, weights, config, smoothing, generator)
    return accuracy, loss


def start_made_on_the_cpu(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The column of start tokens is made on the CPU, wherever the targets lie."""
    start = torch.full((len(target_ids), 1), config.start_id)
    heard = torch.cat((start, target_ids[:, :-1]), dim=1)
    log_probs = run_transformer_forward(source_ids, heard, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing)


def _run(source_ids, target_ids, weights, config, generator):
    heard = shift_targets_right_with_start_token(target_ids, config.start_id)
    return run_transformer_forward(source_ids, heard, weights, config, generator)


def _wanted(log_probs, target_ids, config, smoothing, confidence):
    wanted = build_uniform_smoothing_distribution(
        target_ids, config.vocab_size, smoothing, log_probs.dtype
    )
    return set_confidence_on_gold_tokens(wanted, target_ids, confidence)


def _judge(log_probs, target_ids, config, smoothing, confidence=None):
    confidence = 1 - smoothing if confidence is None else confidence
    wanted = _wanted(log_probs, target_ids, config, smoothing, confidence)
    wanted = zero_pad_column_and_pad_token_rows(wanted, target_ids, config.pad_id)
    total = compute_label_smoothed_kl_loss(log_probs.flatten(0, 1), wanted)
    return _finish(total, log_probs, target_ids, config)


def _finish(total, log_probs, target_ids, config):
    loss = average_loss_over_non_pad_tokens(total, target_ids, config.pad_id)
    return loss, compute_token_accuracy_ignoring_pad(log_probs, target_ids, config.pad_id)


def _compute_loss(source_ids, target_ids, weights, config, smoothing, generator):
    log_probs = _run(source_ids, target_ids, weights, config, generator)
    return _judge(log_probs, target_ids, config, smoothing)
