"""107 · clip_gradients_by_global_norm. Lesson: 107_clip_gradients_by_global_norm.md."""

from math import inf, nan

import pytest
import torch
from torch import nn

from kata.part15_scaling_up import clip_gradients_by_global_norm
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects

CHANGES = ("parameters",)
NOT_WITH = ("clip_grad_norm_",)

NEARLY = 1e-5  # relative: who adds 1e-6 to the norm, as torch does, is right too


def weights(*gradients, dtype=None):
    """One parameter full of ones for each gradient; None: it has none."""
    parameters = []
    for gradient in gradients:
        values = torch.tensor(0.0 if gradient is None else gradient, dtype=dtype)
        parameters.append(torch.ones_like(values).requires_grad_())
        parameters[-1].grad = None if gradient is None else values
    return parameters


def gradients_of(parameters):
    """The gradients, where there are any."""
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


@pytest.mark.parametrize("max_norm", [2.5, 1.0, 0.5], ids=str)
def test_two_gradients_by_hand(max_norm):
    """√(3² + 4²) = 5: all the norm there may be is shared out as 3/5 and 4/5."""
    parameters = weights([3.0], [4.0])
    clip_gradients_by_global_norm(parameters, max_norm)
    shares = [[3 / 5 * max_norm], [4 / 5 * max_norm]]
    assert_close(gradients_of(parameters), expected=shares, rtol=NEARLY)


@pytest.mark.parametrize("max_norm", [2.5, 5.0, 10.0], ids=str)
def test_norm_before_is_told(max_norm):
    """5, whether it is cut or not; as a plain number."""
    norm = clip_gradients_by_global_norm(weights([3.0], [4.0]), max_norm)
    assert_close(norm, expected=5.0, rtol=1e-6)


@pytest.mark.parametrize("max_norm", [5.0, 10.0, inf], ids=str)
def test_shorter_gradients_stay_as_they_are(max_norm):
    """5 is not more than 5, nor than 10: nothing is ever made longer."""
    parameters = weights([3.0], [4.0])
    clip_gradients_by_global_norm(parameters, max_norm)
    assert_close(gradients_of(parameters), expected=[[3.0], [4.0]], rtol=NEARLY)


def test_every_number_counts():
    """A matrix, a vector, a single number: 1 + 1 + 1 + 1 + 4 + 4 + 4 = 4²; 4 becomes 2."""
    parameters = weights([[1.0, -1.0], [1.0, 1.0]], [2.0, -2.0], 2.0)
    norm = clip_gradients_by_global_norm(parameters, max_norm=2.0)
    assert_close(norm, expected=4.0, rtol=1e-6)
    halves = [[[0.5, -0.5], [0.5, 0.5]], [1.0, -1.0], 1.0]
    assert_close([gradient.tolist() for gradient in gradients_of(parameters)], halves, rtol=NEARLY)


def test_parameter_without_a_gradient_is_passed_over():
    """None stays None, and those behind it are cut."""
    parameters = weights([3.0], None, [4.0], None)
    clip_gradients_by_global_norm(parameters, max_norm=2.5)
    assert_equal([parameter.grad is None for parameter in parameters], [False, True, False, True])
    assert_close(gradients_of(parameters), expected=[[1.5], [2.0]], rtol=NEARLY)


@pytest.mark.parametrize("gradients", [[], [None], [[0.0, 0.0]]], ids=["no", "None", "zero"])
def test_nothing_to_cut_has_the_norm_zero(gradients):
    """No parameters, one without a gradient, or a gradient of zeros."""
    norm = clip_gradients_by_global_norm(weights(*gradients), max_norm=2.5)
    assert_close(norm, expected=0.0)


def test_zeros_stay_zeros():
    """2.5 / 0 is nobody's business."""
    parameters = weights([0.0, 0.0])
    clip_gradients_by_global_norm(parameters, max_norm=2.5)
    assert_close(gradients_of(parameters), expected=[[0.0, 0.0]])


def test_parameters_themselves_stay_as_they_are():
    """Ones they were, and ones they are, ready to be trained on."""
    parameters = weights([3.0], [4.0])
    clip_gradients_by_global_norm(parameters, max_norm=2.5)
    assert_close(parameters, expected=[[1.0], [1.0]])
    assert_equal([parameter.requires_grad for parameter in parameters], expected=[True, True])


@pytest.mark.parametrize("bad", [nan, inf, -inf], ids=["NaN", "infinite", "minus infinite"])
def test_norm_that_is_not_finite_is_rejected(bad):
    """One bad number makes the whole norm bad, wherever it stands."""
    with rejects(ValueError, naming="nan" if bad != bad else "inf"):
        clip_gradients_by_global_norm(weights([3.0], [4.0, bad]), max_norm=2.5)


@pytest.mark.parametrize("bad", [nan, inf], ids=["NaN", "infinite"])
def test_bad_norm_leaves_all_gradients_untouched(bad):
    """Multiplied by 2.5 / ∞ they would be 0, and by NaN lost."""
    parameters = weights([3.0], [4.0, bad])
    with rejects(ValueError):
        clip_gradients_by_global_norm(parameters, max_norm=2.5)
    assert_close(gradients_of(parameters), expected=[[3.0], [4.0, bad]])


@pytest.mark.parametrize("max_norm", [0.0, -2.5], ids=str)
def test_limit_is_above_zero(max_norm):
    """A limit of 0 would wipe the gradients out, one below would turn them round."""
    parameters = weights([3.0], [4.0])
    with rejects(ValueError, naming=max_norm):
        clip_gradients_by_global_norm(parameters, max_norm)
    assert_close(gradients_of(parameters), expected=[[3.0], [4.0]])


def test_limit_is_above_zero_though_nothing_is_cut():
    """There is no gradient, and 0 is no limit all the same."""
    with rejects(ValueError, naming=0.0):
        clip_gradients_by_global_norm(weights(None), max_norm=0.0)


def test_norm_of_half_gradients_may_be_larger_than_half_precision_holds():
    """Four times 40000: the norm is 80000, and float16 ends at 65504. 40000 / 20000 = 2."""
    parameters = weights([40000.0] * 4, dtype=torch.float16)
    norm = clip_gradients_by_global_norm(parameters, max_norm=4.0)
    assert_close(norm, expected=80000.0, rtol=1e-6)
    assert_close(gradients_of(parameters), expected=[[2.0] * 4])


def test_norm_of_half_gradients_is_as_exact_as_float32():
    """√(255² + 32²) = 257, an odd number: above 256 bfloat16 has the even ones only."""
    parameters = weights([255.0], [32.0], dtype=torch.bfloat16)
    norm = clip_gradients_by_global_norm(parameters, max_norm=514.0)
    assert_close(norm, expected=257.0, rtol=1e-6)


def test_gradients_of_different_precision_share_one_norm():
    """3 in float16 and 4 in float64."""
    parameters = weights([3.0], dtype=torch.float16) + weights([4.0], dtype=torch.float64)
    norm = clip_gradients_by_global_norm(parameters, max_norm=2.5)
    assert_close(norm, expected=5.0, rtol=1e-6)
    assert_close(gradients_of(parameters), expected=[[1.5], [2.0]], rtol=NEARLY)


@pytest.mark.parametrize("share", [0.1, 0.9, 1.1], ids=str)
def test_drawn_gradients_are_cut_as_torch_cuts_them(share):
    """A module's parameters, one gradient kept by columns; torch's own function beside it."""
    shapes = [(5,), (4, 3), (2, 1, 6)]
    mine = [nn.Parameter(draw.floats(*shape)) for shape in shapes]
    for parameter, shape in zip(mine, shapes, strict=True):
        parameter.grad = 3 * draw.floats(*shape, seed=1)
    mine[1].grad = mine[1].grad.mT.contiguous().mT
    theirs = [parameter.detach().clone().requires_grad_() for parameter in mine]
    for parameter, other in zip(mine, theirs, strict=True):
        other.grad = parameter.grad.clone()
    limit = share * torch.cat([parameter.grad.flatten() for parameter in mine]).norm().item()
    norm = clip_gradients_by_global_norm(mine, limit)
    assert_close(norm, expected=nn.utils.clip_grad_norm_(theirs, limit).item(), rtol=1e-6)
    assert_close(gradients_of(mine), gradients_of(theirs), rtol=NEARLY)
