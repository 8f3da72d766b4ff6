"""Wrong versions of step 062, one slip each."""

import torch


def pads_counted(total_loss, targets, pad_id):
    """The pads are counted too: the loss seems small where there is much padding."""
    return total_loss / targets.numel()


def only_pads_counted(total_loss, targets, pad_id):
    """The pads are counted and the words are not: == stands where != is meant."""
    return total_loss / (targets == pad_id).sum().clamp(min=1)


def sentences_counted(total_loss, targets, pad_id):
    """The loss is divided by the number of sentences."""
    return total_loss / targets.size(0)


def words_of_the_first_sentence(total_loss, targets, pad_id):
    """Only the words of the first sentence are counted."""
    return total_loss / (targets[0] != pad_id).sum().clamp(min=1)


def padding_is_zero(total_loss, targets, pad_id):
    """Padding is always id 0, whatever pad_id says."""
    return total_loss / (targets != 0).sum().clamp(min=1)


def above_the_padding_id(total_loss, targets, pad_id):
    """Only ids above the padding id are counted: right where padding is 0, and only there."""
    return total_loss / (targets > pad_id).sum().clamp(min=1)


def different_words_counted(total_loss, targets, pad_id):
    """Each word is counted once, however often it comes."""
    return total_loss / targets[targets != pad_id].unique().numel()


def nan_over_padding_alone(total_loss, targets, pad_id):
    """Over padding alone the answer is NaN: 0 / 0."""
    return total_loss / (targets != pad_id).sum()


def nan_hidden(total_loss, targets, pad_id):
    """Over padding alone the answer is 0, but its gradient is NaN: both branches are computed."""
    words = (targets != pad_id).sum()
    return torch.where(words > 0, total_loss / words, 0.0)


def one_more_word(total_loss, targets, pad_id):
    """One is added to the number of words, so that it is never 0: every mean is too small."""
    return total_loss / ((targets != pad_id).sum() + 1)


def two_words_at_least(total_loss, targets, pad_id):
    """One word counts as two: the least that the loss is divided by is 2."""
    return total_loss / (targets != pad_id).sum().clamp(min=2)


def whole_quotient(total_loss, targets, pad_id):
    """The quotient is cut to a whole number: // stands where / is meant."""
    return total_loss // (targets != pad_id).sum().clamp(min=1)


def cut_off_by_item(total_loss, targets, pad_id):
    """The loss becomes a plain number on the way: no gradient flows back."""
    words = max((targets != pad_id).sum().item(), 1)
    return total_loss.new_tensor(total_loss.item() / words)


def plain_number(total_loss, targets, pad_id):
    """The answer is a Python number, and a number has no gradient."""
    return total_loss.item() / max((targets != pad_id).sum().item(), 1)


def in_place(total_loss, targets, pad_id):
    """The caller's total is divided in place."""
    with torch.no_grad():
        total_loss /= (targets != pad_id).sum().clamp(min=1)
    return total_loss


def in_float32(total_loss, targets, pad_id):
    """The mean is float32, whatever the total was."""
    return total_loss.float() / (targets != pad_id).sum().clamp(min=1)


def counted_in_a_byte(total_loss, targets, pad_id):
    """The words are counted in a byte: after 255 comes 0."""
    return total_loss / (targets != pad_id).sum(dtype=torch.uint8).clamp(min=1)


def zero_made_anew(total_loss, targets, pad_id):
    """Over padding alone the answer is a new 0, cut off from the model."""
    words = (targets != pad_id).sum()
    return total_loss / words if words else torch.tensor(0.0, dtype=total_loss.dtype)
