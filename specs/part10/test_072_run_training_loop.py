"""072 · run_training_loop. Lesson: 072_run_training_loop.md."""

from math import log, nan

import pytest
import torch
from torch.nn import functional

from kata.part10_training import run_training_loop
from kata.weights import LinearWeights, TransformerConfig, TransformerWeights
from specs.harness import draw, draw_weights
from specs.harness.check import assert_close, assert_equal, rejects
from specs.harness.values import tensors

CHANGES = ("weights",)

START, END, WORD, PAD = range(4)
CONFIG = TransformerConfig(
    vocab_size=4, d_model=4, num_heads=2, d_ff=8, num_layers=0, max_length=9, dropout_rate=0.0,
    pad_id=PAD, start_id=START, end_id=END,
)  # fmt: skip
BELIEF = [log(1 / 16), log(1 / 4), log(1 / 2), log(3 / 16)]  # start, end, word, pad
SOURCE = torch.tensor([[WORD, END]])
SMALL = draw_weights.TINY._replace(num_layers=1)
ONE_A_STEP = {"warmup_steps": 4, "factor": 16.0}  # the rate is 1 at step 1, 2 at step 2, …


def batch(*targets):
    """One sentence."""
    return SOURCE, torch.tensor([targets])


THREE = [batch(WORD, END), batch(WORD, WORD, END), batch(END)]


def stubborn_model():
    """A model without layers that expects the same at every place, and that one parameter."""
    belief = torch.tensor(BELIEF, requires_grad=True)
    nothing = torch.zeros(4, 4)
    return TransformerWeights(nothing, (), (), LinearWeights(nothing, belief)), belief


def test_every_batch_is_a_step():
    """Also one with every guess right, and one of padding alone: a record each, in their order."""
    batches = [batch(WORD), batch(PAD, PAD), *THREE]
    records = run_training_loop(batches, stubborn_model()[0], CONFIG)
    told = [(record.step, record.tokens) for record in records]
    assert_equal(told, [(1, 1), (2, 0), (3, 2), (4, 3), (5, 1)])


def test_rate_climbs_from_step_to_step():
    """The counter goes on: rates of 1, 2 and 3."""
    records = run_training_loop(THREE, stubborn_model()[0], CONFIG, **ONE_A_STEP)
    assert_close([record.learning_rate for record in records], expected=[1.0, 2.0, 3.0])


def test_callers_weights_are_trained():
    """One step, as in 071: start, word and pad go down by 1, end goes up by 1."""
    weights, belief = stubborn_model()
    run_training_loop([batch(WORD, END, END)], weights, CONFIG, 0.0, **ONE_A_STEP)
    moved = [hope + by for hope, by in zip(BELIEF, (-1.0, 1.0, -1.0, -1.0), strict=True)]
    assert_close(belief, moved, atol=1e-6)


def test_frozen_tensor_stays_as_it_is():
    """The belief is trained; the table of zeros beside it takes no gradient, and no step."""
    weights, _ = stubborn_model()
    run_training_loop(THREE, weights, CONFIG, **ONE_A_STEP)
    assert_equal(weights.output_projection.weight, torch.zeros(4, 4))


def test_first_loss_comes_before_any_step():
    """The record of step 1 tells what the model was worth at the beginning: (ln 2 + ln 4)/2."""
    records = run_training_loop(THREE, stubborn_model()[0], CONFIG, 0.0, **ONE_A_STEP)
    assert_close(records[0].loss, expected=1.5 * log(2), rtol=1e-6)


def test_one_tenth_is_smoothed_by_default():
    """Wanted are 0.9 for the word, 0.05 for start and end; expected were 1/2, 1/16, 1/4."""
    records = run_training_loop([batch(WORD)], stubborn_model()[0], CONFIG)
    expected = 0.9 * log(0.9 * 2) + 0.05 * log(0.05 * 16) + 0.05 * log(0.05 * 4)
    assert_close(records[0].loss, expected, rtol=1e-6)


def test_paper_sets_the_pace_by_default():
    """4000 steps of warming up and a factor of 1: step 2 has 4^(−1/2) · 2 · 4000^(−3/2)."""
    records = run_training_loop(THREE, stubborn_model()[0], CONFIG)
    assert_close(records[1].learning_rate, expected=4000**-1.5, atol=0.0)


def test_batches_may_come_one_by_one():
    """A generator has no length, and can be gone through only once: 101 batches."""
    batches = (batch(END) for _ in range(101))
    records = run_training_loop(batches, stubborn_model()[0], CONFIG)
    assert_equal([record.step for record in records], list(range(1, 102)))


def test_no_batches_are_no_steps():
    """Nothing to learn from: no records, and a belief that stays as it is."""
    weights, belief = stubborn_model()
    assert_equal(run_training_loop([], weights, CONFIG), [])
    assert_close(belief, BELIEF)


def test_loss_that_is_no_number_ends_the_loop():
    """Step 071 refuses it by name, and nobody keeps that quiet."""
    weights, belief = stubborn_model()
    belief.data[WORD] = nan
    with rejects(FloatingPointError, naming=1):
        run_training_loop(THREE, weights, CONFIG)


def test_each_call_starts_afresh():
    """The counter of the first call is not taken over by the second."""
    weights, _ = stubborn_model()
    run_training_loop(THREE, weights, CONFIG)
    records = run_training_loop(THREE, weights, CONFIG)
    assert_equal([record.step for record in records], [1, 2, 3])


def by_torch(batches, table, config):
    """Train a tied model without layers by torch's Adam, in float64: its losses and its table."""
    table = table.double().requires_grad_()
    judge, losses = torch.optim.Adam([table], betas=(0.9, 0.98), eps=1e-9), []
    for step, (_, targets) in enumerate(batches, start=1):
        heard = functional.pad(targets[:, :-1], (1, 0), value=config.start_id)
        turns = torch.arange(targets.shape[1])[:, None] / torch.tensor([1.0, 100.0]).double()
        positions = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)
        logits = (2 * table[heard] + positions) @ table.T  # √4 = 2
        loss = functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=config.pad_id
        )
        judge.param_groups[0]["lr"] = 0.5 * 0.5 * min(step**-0.5, step * 3**-1.5)
        judge.zero_grad()
        loss.backward()
        judge.step()
        losses.append(loss.item())
    return losses, table


@pytest.mark.parametrize("size", draw.sizes("batch length vocab_size", count=4), ids=str)
def test_agrees_with_torch_on_a_tied_model(size):
    """Torch's Adam and cross-entropy, in float64; the table learns from both its places at once."""
    vocab_size = size.vocab_size + 3
    config = CONFIG._replace(vocab_size=vocab_size, start_id=1, pad_id=2)
    batches = []
    for turn in range(5):
        targets = draw.token_ids(size.batch, size.length, vocab_size=vocab_size, seed=turn)
        targets[0, 0] = 0  # one real token at least
        batches.append((targets, targets))
    drawn = draw.floats(vocab_size, 4).double()
    table = drawn.clone().requires_grad_()
    weights = TransformerWeights(table, (), (), LinearWeights(table))
    records = run_training_loop(batches, weights, config, 0.0, warmup_steps=3, factor=0.5)
    expected = by_torch(batches, drawn, config)
    assert_close(([record.loss for record in records], table), expected, rtol=1e-5, atol=1e-6)


def test_every_layer_is_trained():
    """Every matrix of a drawn model has moved after two batches."""
    before = draw_weights.transformer(SMALL)
    weights = draw_weights.trainable(before)
    pair = (torch.tensor([[5, 6, 2]]), torch.tensor([[8, 4, 2]]))
    run_training_loop([pair, pair], weights, SMALL)
    pairs = zip(tensors(before), tensors(weights), strict=True)
    stood = [tuple(old.shape) for old, new in pairs if old.dim() == 2 and torch.equal(old, new)]
    assert_equal(stood, [])


def losses_with_dropout(seed):
    """Three losses of a drawn model that drops half; at a rate of 0 its weights stay the same."""
    weights = draw_weights.trainable(draw_weights.transformer(SMALL))
    pair = (torch.tensor([[5, 6, 2]]), torch.tensor([[8, 4, 2]]))
    config, dice = SMALL._replace(dropout_rate=0.5), torch.Generator().manual_seed(seed)
    records = run_training_loop([pair] * 3, weights, config, factor=0.0, generator=dice)
    return [record.loss for record in records]


def test_same_dice_drop_the_same():
    """The generator alone decides what is dropped."""
    assert_equal(losses_with_dropout(seed=1), losses_with_dropout(seed=1))


def test_dice_are_thrown_afresh_at_every_step():
    """The same batch and the same weights, and yet another loss: something else was dropped."""
    first, second, third = losses_with_dropout(seed=1)
    assert first != second, "The same is dropped at every step, or nothing at all."
    assert second != third, "From the second step on the same is dropped, or nothing at all."
