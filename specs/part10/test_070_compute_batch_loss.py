"""070 · compute_batch_loss. Lesson: 070_compute_batch_loss.md."""

from math import log

import pytest
import torch
from torch.nn import functional

from kata.part10_training import compute_batch_loss
from kata.weights import LinearWeights, TransformerConfig, TransformerWeights
from specs.harness import draw, draw_weights
from specs.harness.check import assert_close, assert_equal

START, END, WORD, PAD = range(4)
CONFIG = TransformerConfig(
    vocab_size=4, d_model=4, num_heads=2, d_ff=4, num_layers=0, max_length=9, dropout_rate=0.0,
    pad_id=PAD, start_id=START, end_id=END,
)  # fmt: skip
BELIEF = torch.tensor([1 / 16, 1 / 4, 1 / 2, 3 / 16]).log()  # start, end, word, pad
SOURCE = torch.tensor([[WORD, END]])


def stubborn_model(belief=BELIEF):
    """A model without layers that expects the same at every place, whatever it hears."""
    nothing = torch.zeros(4, 4)
    return TransformerWeights(nothing, (), (), LinearWeights(nothing, belief))


def counting_model(bias=None):
    """A model without layers that has heard k last and is sure that k + 1 comes next."""
    table = 10 * torch.eye(8)
    return TransformerWeights(table, (), (), LinearWeights(table.roll(1, dims=0), bias))


COUNTING = CONFIG._replace(vocab_size=8, d_model=8, pad_id=0, start_id=3, end_id=2)
SMALL = draw_weights.TINY._replace(num_layers=1)


def test_smoothed_loss_by_hand():
    """Word: ln(4)/4 = ln(2)/2. End: ln(4)/4 + ln(2)/2 − ln(2)/4 = 3 ln(2)/4. The mean."""
    loss, _ = compute_batch_loss(
        SOURCE, torch.tensor([[WORD, END]]), stubborn_model(), CONFIG, smoothing=0.5
    )
    assert_close(loss, expected=5 / 8 * log(2), rtol=1e-6)  # what is wanted may be kept in float32


def test_loss_without_smoothing():
    """Word was expected with 1/2, end with 1/4: ln 2 and ln 4, so 3/2 ln 2 on average."""
    loss, _ = compute_batch_loss(
        SOURCE, torch.tensor([[WORD, END]]), stubborn_model(), CONFIG, smoothing=0.0
    )
    assert_close(loss, expected=3 / 2 * log(2))


def test_one_tenth_is_smoothed_by_default():
    """Wanted are 0.9 for the word, 0.05 for start and end; expected were 1/2, 1/16, 1/4."""
    loss, _ = compute_batch_loss(SOURCE, torch.tensor([[WORD]]), stubborn_model(), CONFIG)
    expected = 0.9 * log(0.9 * 2) + 0.05 * log(0.05 * 16) + 0.05 * log(0.05 * 4)
    assert_close(loss, expected, rtol=1e-6)


def test_padding_is_not_asked_for():
    """Four words, two ends, two paddings: (4 · 1/2 + 2 · 3/4) ln 2, shared out among six."""
    targets = torch.tensor([[WORD, END, PAD, PAD], [WORD, WORD, WORD, END]])
    loss, _ = compute_batch_loss(SOURCE.expand(2, 2), targets, stubborn_model(), CONFIG, 0.5)
    assert_close(loss, expected=7 / 12 * log(2), rtol=1e-6)


def test_accuracy_is_the_share_of_right_guesses():
    """It always guesses the word: right at four of six real tokens."""
    targets = torch.tensor([[WORD, END, PAD, PAD], [WORD, WORD, WORD, END]])
    _, accuracy = compute_batch_loss(SOURCE.expand(2, 2), targets, stubborn_model(), CONFIG)
    assert_close(accuracy, expected=4 / 6)


def test_nothing_but_padding_costs_nothing():
    """No token took part: a loss of 0 and an accuracy of 0, not NaN."""
    targets = torch.tensor([[PAD, PAD]])
    answer = compute_batch_loss(SOURCE, targets, stubborn_model(), CONFIG)
    assert_close(answer, expected=(0.0, 0.0))


def test_gradient_by_hand():
    """Expected less wanted, on average over word and end: (1/16, 1/4 − 1/2, 1/2 − 1/2, 3/16)."""
    belief = BELIEF.clone().requires_grad_()
    loss, _ = compute_batch_loss(
        SOURCE, torch.tensor([[WORD, END]]), stubborn_model(belief), CONFIG, smoothing=0.0
    )
    loss.backward()
    assert_close(belief.grad, expected=[1 / 16, -1 / 4, 0.0, 3 / 16])


def test_sure_and_right_costs_nothing():
    """It is sure of 4 5 6, and 4 5 6 comes."""
    targets = torch.tensor([[4, 5, 6]])
    loss, _ = compute_batch_loss(SOURCE, targets, counting_model(), COUNTING, smoothing=0.0)
    assert_close(loss, expected=0.0)


def test_decoder_hears_the_targets_one_seat_late():
    """It hears 3 4 5 and expects 4 5 6: all right. Heard in their own seats, 4 5 6 gives 5 6 7."""
    targets = torch.tensor([[4, 5, 6]])
    _, accuracy = compute_batch_loss(SOURCE, targets, counting_model(), COUNTING, smoothing=0.0)
    assert_close(accuracy, expected=1.0)


@pytest.mark.parametrize(("start_id", "accuracy"), [(3, 1.0), (1, 0.5)], ids=["3", "1"])
def test_start_token_comes_from_the_config(start_id, accuracy):
    """Behind a 3 it expects the 4, behind a 1 a 2; the 5 it expects either way."""
    config = COUNTING._replace(start_id=start_id)
    answer = compute_batch_loss(SOURCE, torch.tensor([[4, 5]]), counting_model(), config)
    assert_close(answer[1], accuracy)


def test_own_source_and_padding_are_read():
    """Two sentences padded into one batch lose, token by token, what each of them loses alone."""
    weights = draw_weights.transformer(SMALL)
    sources = torch.tensor([[5, 6, 7, 8, 2], [9, 3, 2, 0, 0]])
    targets = torch.tensor([[4, 8, 9, 2], [7, 2, 0, 0]])
    together, _ = compute_batch_loss(sources, targets, weights, SMALL)
    long, _ = compute_batch_loss(sources[:1], targets[:1], weights, SMALL)
    short, _ = compute_batch_loss(sources[1:, :3], targets[1:, :2], weights, SMALL)
    assert_close(together, (4 * long + 2 * short) / 6, rtol=1e-5)


@pytest.mark.parametrize("size", draw.sizes("batch source length vocab_size", count=4), ids=str)
def test_agrees_with_torch(size):
    """Torch's ``kl_div`` in float64, on what a drawn model without layers must expect."""
    vocab_size, pad_id = size.vocab_size + 3, 2
    config = CONFIG._replace(vocab_size=vocab_size, start_id=1, pad_id=pad_id)
    table, output = draw.floats(vocab_size, 4), draw.floats(vocab_size, 4, seed=1)
    sources = draw.token_ids(size.batch, size.source, vocab_size=vocab_size)
    targets = draw.token_ids(size.batch, size.length, vocab_size=vocab_size, seed=1)
    targets[0, 0] = 0  # one real token at least
    weights = TransformerWeights(table, (), (), LinearWeights(output))
    answer = compute_batch_loss(sources, targets, weights, config, smoothing=0.25)

    heard = functional.pad(targets[:, :-1], (1, 0), value=1)
    turns = torch.arange(size.length, dtype=torch.float64)[:, None] / torch.tensor([1.0, 100.0])
    positions = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)
    logits = (2 * table[heard].double() + positions) @ output.double().T  # √4 = 2
    real, expected = targets != pad_id, logits.log_softmax(-1)
    wanted = torch.full_like(expected, 0.25 / (vocab_size - 2))
    wanted = wanted.scatter(-1, targets[..., None], 0.75)
    wanted[..., pad_id] = 0.0
    loss = functional.kl_div(expected[real], wanted[real], reduction="sum") / real.sum()
    accuracy = (expected.argmax(-1) == targets)[real].double().mean().item()
    assert_close(answer, (loss, accuracy), rtol=1e-5)


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "without gradients"])
def test_dropout_is_on_for_loss_and_accuracy(learning):
    """All that was heard is dropped: 6 is expected with 1/2 at each place, the others with 1/14."""
    bias = torch.tensor([1 / 14] * 6 + [1 / 2] + [1 / 14]).log()
    config, targets = COUNTING._replace(dropout_rate=1.0), torch.tensor([[4, 5, 6]])
    with torch.set_grad_enabled(learning):
        answer = compute_batch_loss(SOURCE, targets, counting_model(bias), config, smoothing=0.0)
    assert_close(answer, expected=((2 * log(14) + log(2)) / 3, 1 / 3))


def dropping(seed):
    """Two losses of a drawn model that drops half, with the seed's own dice."""
    weights, config = draw_weights.transformer(SMALL), SMALL._replace(dropout_rate=0.5)
    batch, dice = (torch.tensor([[5, 6, 2]]), torch.tensor([[4, 8, 2]])), torch.Generator()
    dice.manual_seed(seed)
    answers = [compute_batch_loss(*batch, weights, config, generator=dice) for _ in range(2)]
    return [loss.item() for loss, _ in answers]


def test_same_dice_drop_the_same():
    """The generator alone decides what is dropped."""
    assert_equal(dropping(seed=1), dropping(seed=1))


def test_other_dice_drop_something_else():
    """Dropout is on while a loss is computed, and the generator is the one that was given."""
    assert dropping(seed=1) != dropping(seed=2), "Whatever the dice say, the loss is the same."


def test_dice_are_thrown_afresh_at_every_call():
    """The same batch and the same weights, and yet another loss: something else was dropped."""
    first, second = dropping(seed=1)
    assert first != second, "The same is dropped at every call, or nothing at all."
