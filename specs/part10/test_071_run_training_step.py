"""071 · run_training_step. Lesson: 071_run_training_step.md."""

from math import exp, inf, log, nan, sqrt

import pytest
import torch

from kata.part10_training import run_training_step
from kata.weights import AdamState, LinearWeights, StepRecord, TransformerConfig, TransformerWeights
from specs.harness import draw_weights
from specs.harness.check import assert_close, assert_equal, rejects
from specs.harness.values import tensors

CHANGES = ("weights", "parameters", "state")

START, END, WORD, PAD = range(4)
CONFIG = TransformerConfig(
    vocab_size=4, d_model=4, num_heads=2, d_ff=8, num_layers=0, max_length=9, dropout_rate=0.0,
    pad_id=PAD, start_id=START, end_id=END,
)  # fmt: skip
BELIEF = [log(1 / 16), log(1 / 4), log(1 / 2), log(3 / 16)]  # start, end, word, pad
SOURCE = torch.tensor([[WORD, END]])
BATCH = (SOURCE, torch.tensor([[WORD, END]]))
SMALL = draw_weights.TINY._replace(num_layers=1)
ONE_A_STEP = {"warmup_steps": 4, "factor": 16.0}  # the rate is 1 at step 1, 2 at step 2, …


def stubborn_model(*belief):
    """A model without layers that expects the same at every place, and that one parameter."""
    belief = torch.tensor(belief or BELIEF, requires_grad=True)
    nothing = torch.zeros(len(belief), 4)
    return TransformerWeights(nothing, (), (), LinearWeights(nothing, belief)), belief


def fresh(*parameters, step=0):
    """The optimiser's state before step number ``step + 1``."""
    zeros = [[torch.zeros_like(parameter) for parameter in parameters] for _ in range(2)]
    return AdamState(*zeros, step)


def test_record_by_hand():
    """Step 1: a loss of (ln 2 + 2 ln 4)/3, one guess of three right, a rate of 1, 3 tokens."""
    weights, belief = stubborn_model()
    batch = (SOURCE, torch.tensor([[WORD, END, END]]))
    _, record = run_training_step(
        batch, weights, [belief], fresh(belief), CONFIG, 0.0, **ONE_A_STEP
    )
    expected = StepRecord(1, loss=5 / 3 * log(2), accuracy=1 / 3, learning_rate=1.0, tokens=3)
    assert_close(record, expected, rtol=1e-6)


def test_moments_come_back():
    """A tenth of the gradient (1/16, 1/4 − 1/2, 0, 3/16), and a fiftieth of its square."""
    weights, belief = stubborn_model()
    state, _ = run_training_step(BATCH, weights, [belief], fresh(belief), CONFIG, 0.0)
    gradient = torch.tensor([[1 / 16, -1 / 4, 0.0, 3 / 16]])
    assert_close(torch.stack(state.first), gradient / 10)
    assert_close(torch.stack(state.second), gradient**2 / 50)


def test_no_gradient_is_cut_short():
    """Heard is 2 · 8 and the first position: (16, 1, 0, 1), times expected less wanted."""
    table, heard = torch.zeros(4, 4, requires_grad=True), torch.zeros(4, 4)
    heard[START, 0] = 8.0
    weights = TransformerWeights(heard, (), (), LinearWeights(table, torch.tensor(BELIEF)))
    batch = (SOURCE, torch.tensor([[WORD]]))
    state, _ = run_training_step(batch, weights, [table], fresh(table), CONFIG, 0.0)
    less = torch.tensor([1 / 16, 1 / 4, -1 / 2, 3 / 16])
    assert_close(state.first[0], torch.outer(less, torch.tensor([16.0, 1.0, 0.0, 1.0])) / 10)


def test_first_step_by_hand():
    """Too much hope for start and pad, too little for end: each moves by the rate of 1."""
    weights, belief = stubborn_model()
    batch = (SOURCE, torch.tensor([[WORD, END, END]]))  # word too is hoped for too much
    run_training_step(batch, weights, [belief], fresh(belief), CONFIG, 0.0, **ONE_A_STEP)
    moved = [hope + by for hope, by in zip(BELIEF, (-1.0, 1.0, -1.0, -1.0), strict=True)]
    assert_close(belief, moved, atol=1e-6)


def test_smoothing_is_handed_on():
    """With 1/2 smoothed away the loss is 5/8 ln 2, as in step 070."""
    weights, belief = stubborn_model()
    _, record = run_training_step(BATCH, weights, [belief], fresh(belief), CONFIG, 0.5)
    assert_close(record.loss, expected=5 / 8 * log(2), rtol=1e-6)


def test_one_tenth_is_smoothed_by_default():
    """Wanted are 0.9 for the word, 0.05 for start and end; expected were 1/2, 1/16, 1/4."""
    weights, belief = stubborn_model()
    batch = (SOURCE, torch.tensor([[WORD]]))
    _, record = run_training_step(batch, weights, [belief], fresh(belief), CONFIG)
    expected = 0.9 * log(0.9 * 2) + 0.05 * log(0.05 * 16) + 0.05 * log(0.05 * 4)
    assert_close(record.loss, expected, rtol=1e-6)


def test_paper_sets_the_pace_by_default():
    """4000 steps of warming up, a factor of 1, five words of width 4: 4^(−1/2) · 4000^(−3/2)."""
    weights, belief = stubborn_model(*BELIEF, 0.0)
    config = CONFIG._replace(vocab_size=5)
    _, record = run_training_step(BATCH, weights, [belief], fresh(belief), config)
    assert_close(record.learning_rate, expected=0.5 * 4000**-1.5, atol=0.0)


@pytest.mark.parametrize(("taken", "rate"), [(0, 1.0), (1, 2.0), (3, 4.0), (15, 2.0)], ids=str)
def test_rate_is_that_of_the_step_now_taken(taken, rate):
    """Warming up for 4 steps: 1, 2, 3, 4 at the top, and half of that at step 16."""
    weights, belief = stubborn_model()
    state = fresh(belief, step=taken)
    state, record = run_training_step(BATCH, weights, [belief], state, CONFIG, **ONE_A_STEP)
    assert_close((record.step, record.learning_rate, state.step), (taken + 1, rate, taken + 1))


def test_padding_is_not_counted():
    """Six real tokens among eight places, one of them with id 0; three are words, and guessed."""
    weights, belief = stubborn_model()
    targets = torch.tensor([[WORD, END, PAD, PAD], [WORD, START, WORD, END]])
    batch = (SOURCE.expand(2, 2), targets)
    _, record = run_training_step(batch, weights, [belief], fresh(belief), CONFIG)
    assert_close((record.tokens, record.accuracy), expected=(6, 3 / 6))


def test_batch_of_padding_is_a_step_that_leads_nowhere():
    """Nobody is asked: no loss, no hit, no token, and a gradient of 0. The counter goes on."""
    weights, belief = stubborn_model()
    batch = (SOURCE, torch.tensor([[PAD, PAD]]))
    state, record = run_training_step(batch, weights, [belief], fresh(belief), CONFIG, **ONE_A_STEP)
    assert_close((state.step, record), expected=(1, StepRecord(1, 0.0, 0.0, 1.0, 0)))
    assert_close(belief, BELIEF)


def adam_by_hand(batches):
    """Train the stubborn model in plain floats: what it loses, and what it believes in the end."""
    belief, first, second, losses = list(BELIEF), [0.0] * 4, [0.0] * 4, []
    for step, targets in enumerate(batches, start=1):
        total = sum(exp(hope) for hope in belief)
        expected = [exp(hope) / total for hope in belief]
        losses.append(-sum(log(expected[token]) for token in targets) / len(targets))
        for token in range(4):
            gradient = expected[token] - targets.count(token) / len(targets)
            first[token] = 0.9 * first[token] + 0.1 * gradient
            second[token] = 0.98 * second[token] + 0.02 * gradient**2
            size = sqrt(second[token] / (1 - 0.98**step)) + 1e-9
            rate = 0.25 * 0.5 * step * 4**-1.5  # factor · d_model^(−1/2) · step · warm-up^(−3/2)
            belief[token] -= rate * first[token] / (1 - 0.9**step) / size
    return losses, belief


def test_four_steps_in_a_row():
    """Against Adam in plain floats: no gradient piles up, no moment and no step is lost."""
    batches = [[WORD, END, END], [WORD, WORD, END], [END, END], [WORD, END, END, END]]
    weights, belief = stubborn_model()
    state, losses = fresh(belief), []
    for targets in batches:
        batch = (SOURCE, torch.tensor([targets]))
        state, record = run_training_step(batch, weights, [belief], state, CONFIG, 0.0, 4, 0.25)
        losses.append(record.loss)
    expected = adam_by_hand(batches)
    assert_close((losses, belief.tolist()), expected, rtol=1e-5, atol=1e-6)


def test_model_learns_its_sentence():
    """A drawn model with layers sees one batch six times: the loss falls by a third and more."""
    weights = draw_weights.trainable(draw_weights.transformer(SMALL))
    parameters = list({id(tensor): tensor for tensor in tensors(weights)}.values())
    state, losses = fresh(*parameters), []
    batch = (torch.tensor([[5, 6, 2]]), torch.tensor([[8, 4, 7, 2]]))
    for _ in range(6):
        state, record = run_training_step(batch, weights, parameters, state, SMALL, 0.0, 1, 0.1)
        losses.append(record.loss)
    assert losses[-1] < 2 / 3 * losses[0], (
        f"The loss went from {losses[0]:.3f} to {losses[-1]:.3f}."
    )


@pytest.mark.parametrize("bad", [nan, -inf], ids=["NaN", "infinite"])
def test_loss_that_is_no_number_is_an_error(bad):
    """What stands there for the word makes the loss NaN, or infinite; 41 steps went well."""
    weights, belief = stubborn_model(0.0, 0.0, bad, 0.0)
    with rejects(FloatingPointError, naming=42):
        run_training_step(BATCH, weights, [belief], fresh(belief, step=41), CONFIG)


@pytest.mark.parametrize("bad", [nan, -inf], ids=["NaN", "infinite"])
def test_no_weight_has_changed_by_then(bad):
    """The other numbers are as they were: one bad batch is not the end of the model."""
    weights, belief = stubborn_model(1.0, 2.0, bad, 3.0)
    with rejects(FloatingPointError):
        run_training_step(BATCH, weights, [belief], fresh(belief), CONFIG, **ONE_A_STEP)
    assert_equal(belief, [1.0, 2.0, bad, 3.0])


def losses_with_dropout(seed):
    """Two losses of a drawn model that drops half; at a rate of 0 its weights stay as they are."""
    weights = draw_weights.trainable(draw_weights.transformer(SMALL))
    parameters, config = [weights.token_embedding], SMALL._replace(dropout_rate=0.5)
    state, losses, dice = fresh(*parameters), [], torch.Generator().manual_seed(seed)
    batch = (torch.tensor([[5, 6, 2]]), torch.tensor([[8, 4, 2]]))
    for _ in range(2):
        state, record = run_training_step(
            batch, weights, parameters, state, config, factor=0.0, generator=dice
        )
        losses.append(record.loss)
    return losses


def test_same_dice_drop_the_same():
    """The generator alone decides what is dropped."""
    assert_equal(losses_with_dropout(seed=1), losses_with_dropout(seed=1))


def test_other_dice_drop_something_else():
    """Dropout is on while the model learns, and the generator is the one that was given."""
    same = losses_with_dropout(seed=1)[0] == losses_with_dropout(seed=2)[0]
    assert not same, "Whatever the dice say, the loss is the same."


def test_dice_are_thrown_afresh_at_every_step():
    """The same batch and the same weights, and yet another loss: something else was dropped."""
    first, second = losses_with_dropout(seed=1)
    assert first != second, "The same is dropped at every step, or nothing at all."
