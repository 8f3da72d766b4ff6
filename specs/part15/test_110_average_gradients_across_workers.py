"""110 · average_gradients_across_workers. Lesson: 110_average_gradients_across_workers.md.

Each crew is of real processes, started for the test and ended after it.
"""

import pytest
import torch
from torch import nn

from kata.part15_scaling_up import average_gradients_across_workers
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects
from specs.harness.mail import strays_of
from specs.harness.workers import Crew, dies, given

CHANGES = ("parameters",)
NOT_WITH = ("DistributedDataParallel",)

HALF, BFLOAT, DOUBLE = torch.float16, torch.bfloat16, torch.float64


def weight(gradient, shape=(1,), dtype=None):
    """A parameter full of fives, and the gradient that its worker has found; None: it has none."""
    parameter = torch.full(shape, 5.0, dtype=dtype, requires_grad=True)
    parameter.grad = None if gradient is None else torch.full(shape, gradient, dtype=dtype)
    return parameter


def worker(parameters, tokens):
    """A worker's share: average, and show the gradients."""

    def share():
        average_gradients_across_workers(parameters, tokens)
        return [parameter.grad for parameter in parameters]

    return share


def crew(*shares):
    """As many workers as there are shares."""
    return Crew(average_gradients_across_workers, *shares)


@given("workers", crew(worker([weight(1.0)], tokens=30), worker([weight(4.0)], tokens=10)))
def test_two_workers_by_hand(workers):
    """30 tokens say 1 and 10 say 4: (30 · 1 + 10 · 4) / 40 = 1.75, and both workers hold it."""
    assert_close(workers.answers(), expected=[[[1.75]], [[1.75]]])


@given(
    "workers",
    crew(
        worker([weight(4.0), weight(8.0, (2, 3))], tokens=1),
        worker([weight(0.0), weight(16.0, (2, 3))], tokens=3),
    ),
)
def test_every_parameter_gets_its_own_average(workers):
    """A quarter of what the first worker says and three quarters of the second's."""
    assert_close(workers.answers(), expected=[[[1.0], [[14.0] * 3] * 2]] * 2)


@given(
    "workers",
    crew(
        worker([weight(4.0, (2,)), weight(None)], tokens=3),
        worker([weight(8.0, (2,)), weight(8.0)], tokens=1),
    ),
)
def test_gradient_missing_on_one_worker_counts_as_zeros(workers):
    """The first parameter: (3 · 4 + 1 · 8) / 4 = 5; the second: (3 · 0 + 1 · 8) / 4 = 2."""
    assert_close(workers.answers(), expected=[[[5.0, 5.0], [2.0]]] * 2)


@given(
    "workers",
    crew(
        worker([weight(None), weight(4.0)], tokens=1),
        worker([weight(None), weight(0.0)], tokens=1),
    ),
)
def test_gradient_missing_on_all_workers_stays_missing(workers):
    """Nobody used the first parameter: None, not 0. The second has its average."""
    missing = [[gradient is None for gradient in answer] for answer in workers.answers()]
    assert_equal(missing, expected=[[True, False], [True, False]])


@pytest.mark.parametrize(
    "workers",
    [
        crew(worker([weight(idle)], tokens=0), worker([weight(3.0)], tokens=1))
        for idle in (None, 8.0)
    ],
    ids=["and without a gradient", "but with a gradient"],
)
def test_worker_without_a_token_has_no_say(workers):
    """(0 + 1 · 3) / 1, be there a gradient on the idle worker or not."""
    assert_close(workers.answers(), expected=[[[3.0]], [[3.0]]])


@given("workers", crew(worker([weight(3.0)], tokens=0), worker([weight(4.0)], tokens=0)))
def test_no_token_at_all_gives_zeros(workers):
    """0 / 0 would be NaN."""
    assert_close(workers.answers(), expected=[[[0.0]], [[0.0]]])


@given("workers", crew(*[worker([weight(40000.0, dtype=HALF)], tokens=1)] * 2))
def test_half_gradients_are_scaled_before_they_are_summed(workers):
    """40000 + 40000 is more than float16 holds; a half of each makes 40000."""
    assert_close(workers.answers(), expected=[[[40000.0]]] * 2)


@given("workers", crew(*[worker([weight(2.0, dtype=HALF)], tokens=70000)] * 2))
def test_there_may_be_more_tokens_than_half_precision_can_count(workers):
    """Float16 ends at 65504, a count does not."""
    assert_close(workers.answers(), expected=[[[2.0]]] * 2)


@pytest.mark.parametrize(
    "workers",
    [
        crew(
            worker([weight(2.0, dtype=dtype), weight(None, dtype=dtype)], tokens=1),
            worker([weight(6.0, dtype=dtype), weight(4.0, dtype=dtype)], tokens=3),
        )
        for dtype in (HALF, BFLOAT, DOUBLE)
    ],
    ids=["float16", "bfloat16", "float64"],
)
def test_all_precisions(workers):
    """(1 · 2 + 3 · 6) / 4 = 5 and (0 + 3 · 4) / 4 = 3, in halves too."""
    assert_close(workers.answers(), expected=[[[5.0], [3.0]]] * 2)


def kept_by_columns():
    """A gradient of two rows whose numbers lie in memory column by column."""
    parameter = weight(None, (2, 2))
    parameter.grad = torch.tensor([[1.0, 5.0], [3.0, 7.0]]).T
    return parameter


@given("workers", crew(worker([weight(0.0, (2, 2))], 1), worker([kept_by_columns()], 1)))
def test_workers_may_keep_a_gradient_in_different_layouts(workers):
    """Halves of 1, 3 and 5, 7: each number meets the one in its own place."""
    assert_close(workers.answers(), expected=[[[[0.5, 1.5], [2.5, 3.5]]]] * 2)


def goes_on_training(start):
    """A worker's share: from its own start, backward once more after the average, which adds 3."""

    def share():
        parameter = torch.tensor([start], requires_grad=True)
        parameter.grad = torch.tensor([4.0])
        average_gradients_across_workers([parameter], 1)
        (3 * parameter).backward()
        return parameter.detach(), parameter.grad

    return share


@given("workers", crew(goes_on_training(5.0), goes_on_training(9.0)))
def test_parameter_itself_stays_as_it_is(workers):
    """5 and 9 before and afterwards, and they can be trained on: gradients of 4 + 3."""
    assert_close(workers.answers(), expected=[([5.0], [7.0]), ([9.0], [7.0])])


def as_if_on_a_gpu():
    """A share: what is sent from the CPU although the gradients lie on a GPU."""
    return strays_of(average_gradients_across_workers, [weight(1.0), weight(None)], 3)


@given("workers", crew(as_if_on_a_gpu, as_if_on_a_gpu))
def test_what_is_sent_lies_where_the_gradients_lie(workers):
    """Nccl carries gradients from GPU to GPU, and takes nothing, counts neither, from the CPU."""
    assert_equal(workers.answers(), expected=[[], []])


INPUTS, TARGETS = draw.floats(11, 3), draw.floats(11, 2)
FIRST, LAST = draw.floats(3, 5), draw.floats(5, 2)


def trained(tokens):
    """The parameters of a small model after a backward pass of its mean loss over some tokens."""
    parameters = [FIRST.clone().requires_grad_(), LAST.clone().requires_grad_()]
    outputs = torch.tanh(INPUTS[tokens] @ parameters[0]) @ parameters[1]
    nn.functional.mse_loss(outputs, TARGETS[tokens]).backward()
    return parameters


@given("workers", crew(worker(trained(slice(0, 4)), 4), worker(trained(slice(4, 11)), 7)))
def test_two_processes_learn_what_one_learns_from_both_batches(workers):
    """4 tokens here and 7 there, against all 11 in one process: equal to 1e-6."""
    expected = [parameter.grad for parameter in trained(slice(0, 11))]
    assert_close(workers.answers(), expected=[expected, expected], rtol=1e-6, atol=1e-6)


@given("workers", crew(*(worker([weight(g)], n) for g, n in ((8.0, 1), (5.0, 2), (2.0, 5)))))
def test_three_workers_by_hand(workers):
    """(1 · 8 + 2 · 5 + 5 · 2) / 8 = 3.5."""
    assert_close(workers.answers(), expected=[[[3.5]]] * 3)


def told_of_a_death():
    """A share: an error is wanted."""
    with rejects(RuntimeError):
        average_gradients_across_workers([weight(1.0)], 30)
    return "told"


@given("workers", crew(told_of_a_death, dies))
def test_dead_worker_is_an_error_for_the_others(workers):
    """One is killed before its turn: the other is told, and neither waits nor goes on alone."""
    assert_equal(workers.answers(), expected=["told", None])


def test_without_a_process_group_it_says_how_to_get_one():
    """Nobody has started any workers."""
    with rejects(RuntimeError, naming="torchrun"):
        average_gradients_across_workers([weight(1.0)], token_count=30)
