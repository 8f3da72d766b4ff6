"""108 · accumulate_gradients. Lesson: 108_accumulate_gradients.md.

Micro-batches come from iterators, but for one list: there is no second look at them.
"""

import weakref

import pytest
import torch

from kata.part15_scaling_up import accumulate_gradients
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal

CHANGES = ("parameters",)


def weight(*values, gradient=None):
    """A parameter, and the gradient that an earlier batch has left on it."""
    parameter = torch.tensor(values, requires_grad=True)
    parameter.grad = None if gradient is None else torch.tensor(gradient)
    return parameter


PAD = 0.0


def times(*parameters):
    """Each token is a number x, and its loss is x · w for every parameter w; 0 is padding."""

    def compute_loss(tokens):
        losses = [parameter * torch.tensor(tokens) for parameter in parameters]
        return torch.stack(losses).sum(), len(tokens) - tokens.count(PAD)

    return compute_loss


def test_two_micro_batches_by_hand():
    """w = 2 and tokens 1 and 5: a loss of (2 + 10) / 2, and a slope of (1 + 5) / 2."""
    w = weight(2.0)
    told = accumulate_gradients(iter([[1.0], [5.0]]), [w], times(w))
    assert_close(told, expected=(6.0, 2))
    assert_close(w.grad, expected=[3.0])


def test_every_token_counts_the_same():
    """1, 1, 1 and 9: 12 / 4 = 3. The mean of the two means would be (1 + 9) / 2 = 5."""
    w = weight(2.0)
    told = accumulate_gradients(iter([[1.0, 1.0, 1.0], [9.0]]), [w], times(w))
    assert_close(told, expected=(6.0, 4))
    assert_close(w.grad, expected=[3.0])


@pytest.mark.parametrize("count", [1, 3, 4, 5])
def test_all_micro_batches_count(count):
    """Of 2, 4, 6, 8, 10, a token each, the mean of the first n is n + 1; w = 2 doubles the loss."""
    w = weight(2.0)
    batches = iter([[2.0], [4.0], [6.0], [8.0], [10.0]][:count])
    told = accumulate_gradients(batches, [w], times(w))
    assert_close(told, expected=(2.0 * count + 2.0, count))
    assert_close(w.grad, expected=[count + 1.0])


def test_loss_and_count_are_plain_numbers():
    """For printing and for adding up: no tensor holds on to a graph."""
    w = weight(2.0)
    told = accumulate_gradients([[1.0], [5.0]], [w], times(w))
    assert_equal([type(part) for part in told], expected=[float, int])


def test_old_gradients_are_cleared_first():
    """100 from an earlier batch is no part of (1 + 5) / 2."""
    w = weight(2.0, gradient=[100.0])
    accumulate_gradients(iter([[1.0], [5.0]]), [w], times(w))
    assert_close(w.grad, expected=[3.0])


@pytest.mark.parametrize("old", [None, [100.0]], ids=["never used", "used in an earlier batch"])
def test_parameter_that_nobody_uses_has_no_gradient(old):
    """None, and not 0: it takes no part in this step."""
    w, unused = weight(2.0), weight(7.0, gradient=old)
    accumulate_gradients(iter([[1.0], [5.0]]), [unused, w], times(w))
    assert unused.grad is None, f"Nobody used it, and its gradient is {unused.grad}."
    assert_close(w.grad, expected=[3.0])


def test_parameter_of_one_micro_batch_is_divided_by_all_tokens():
    """v meets the 4 alone, one of four tokens: 4 / 4 = 1. w meets 1, 2, 5 and 4: 12 / 4 = 3."""
    w, v = weight(2.0), weight(3.0)
    only_w, both = times(w), times(w, v)
    choose = {3: only_w, 2: both}
    batches = iter([[1.0, 2.0, 5.0], [4.0, PAD]])
    accumulate_gradients(batches, [w, v], lambda tokens: choose[len(tokens)](tokens))
    assert_close((w.grad, v.grad), expected=([3.0], [1.0]))


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "between", "last"])
def test_micro_batch_of_padding_adds_nothing(place):
    """A loss of 0 over 0 tokens, in any place."""
    w, batches = weight(2.0), [[1.0], [5.0]]
    batches.insert(place, [PAD, PAD])
    told = accumulate_gradients(iter(batches), [w], times(w))
    assert_close(told, expected=(6.0, 2))
    assert_close(w.grad, expected=[3.0])


def test_padding_alone_has_a_mean_of_zero():
    """0 / 0 is no number. The gradient is 0 too, or there is none."""
    w = weight(2.0, gradient=[100.0])
    told = accumulate_gradients(iter([[PAD], [PAD, PAD]]), [w], times(w))
    assert_close(told, expected=(0.0, 0))
    assert w.grad is None or w.grad.tolist() == [0.0], f"The gradient is {w.grad}."


def test_no_micro_batch_at_all():
    """The old gradients are cleared all the same."""
    w = weight(2.0, gradient=[100.0])
    told = accumulate_gradients(iter([]), [w], times(w))
    assert_close(told, expected=(0.0, 0))
    assert w.grad is None, f"The old gradient is {w.grad}."


def test_gradient_has_no_graph_of_its_own():
    """Slopes 2w and 2w · 25 make (4 + 100) / 2 = 52; of them no slope is wanted."""
    w = weight(2.0)

    def squared(tokens):
        return (w * torch.tensor(tokens)).square().sum(), len(tokens)

    accumulate_gradients(iter([[1.0], [5.0]]), [w], squared)
    assert_close((w.grad, w.grad.requires_grad), expected=([52.0], False))


def test_parameters_themselves_stay_as_they_are():
    """2 and −3: to walk is the optimiser's part."""
    w = weight(2.0, -3.0)
    accumulate_gradients(iter([[1.0, 1.0], [5.0, 5.0]]), [w], times(w))
    assert_close((w, w.requires_grad), expected=([2.0, -3.0], True))


class Kept:
    """What a graph keeps of one tensor, for as long as the graph lives."""

    def __init__(self, tensor):
        self.tensor = tensor


def test_one_graph_is_alive_at_a_time():
    """When a micro-batch is looked at, the graphs before it have been let go: that saves memory."""
    w, alive, seen = weight(2.0), weakref.WeakSet(), []

    def keep(tensor):
        kept = Kept(tensor)
        alive.add(kept)
        return kept

    def compute_loss(tokens):
        seen.append(len(alive))
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept.tensor):
            return (w * w * torch.tensor(tokens)).sum(), len(tokens)

    accumulate_gradients(iter([[1.0], [5.0], [3.0], [3.0]]), [w], compute_loss)
    assert_close(w.grad, expected=[12.0])
    assert_equal(max(seen), expected=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """The slope of 3 in half and in double precision."""
    w = torch.tensor([2.0], dtype=dtype, requires_grad=True)
    told = accumulate_gradients(iter([[1.0], [5.0]]), [w], times(w))
    assert_close(told, expected=(6.0, 2))
    assert_close(w.grad, expected=torch.tensor([3.0], dtype=dtype))


def squares(first, last):
    """A small model, and the sum of its squared errors."""

    def compute_loss(batch):
        inputs, targets = batch
        return (torch.tanh(inputs @ first) @ last - targets).square().sum(), len(inputs)

    return compute_loss


@pytest.mark.parametrize("sizes", [[11], [1, 10], [4, 2, 5], [1] * 11], ids=str)
def test_small_batches_agree_with_a_big_one(sizes):
    """Eleven tokens, in one go and in portions: one gradient, and one loss."""
    inputs, targets = draw.floats(11, 3), draw.floats(11, 2)
    parameters = [draw.floats(3, 5).requires_grad_(), draw.floats(5, 2).requires_grad_()]
    compute_loss = squares(*parameters)
    mean = compute_loss((inputs, targets))[0] / 11
    expected = torch.autograd.grad(mean, parameters)
    batches = zip(inputs.split(sizes), targets.split(sizes), strict=True)
    told = accumulate_gradients(batches, parameters, compute_loss)
    assert_close(told, expected=(mean.item(), 11), rtol=1e-5)
    assert_close([parameter.grad for parameter in parameters], expected)
