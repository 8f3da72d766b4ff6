"""087 · rms_norm. Lesson: 087_rms_norm.md."""

import pytest
import torch
from torch.nn import functional

from kata.part13_decoder_only import rms_norm
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("rms_norm",)

GAIN = torch.tensor([12.0, 60.0])


def test_two_features_by_hand():
    """7 and 1: (49 + 1) / 2 + 11 = 36, whose root is 6. 12 · 7/6 = 14 and 60 · 1/6 = 10."""
    assert_close(rms_norm(torch.tensor([[7.0, 1.0]]), GAIN, eps=11.0), expected=[[14.0, 10.0]])


def test_nothing_is_taken_off():
    """1, 5 and 7 have the mean square 25: a fifth of each, and their mean stays above zero."""
    answer = rms_norm(torch.tensor([1.0, 5.0, 7.0]), torch.ones(3), eps=0.0)
    assert_close(answer, expected=[0.2, 1.0, 1.4])


def test_epsilon_is_a_millionth_by_default():
    """0.004 and 0: √(8e−6 + 1e−6) = 0.003, so 4/3."""
    answer = rms_norm(torch.tensor([[0.004, 0.0]]), torch.ones(2))
    assert_close(answer, expected=[[4 / 3, 0.0]])


def test_gain_belongs_to_features():
    """As many tokens as features: −6 and 2 are √(20 + 5) = 5, so 12 · −6/5 and 60 · 2/5."""
    x = torch.tensor([[[7.0, 1.0], [-6.0, 2.0]]])
    answer = rms_norm(x, GAIN, eps=5.0)
    loud = 30**-0.5  # 25 + 5
    assert_close(answer, expected=[[[84 * loud, 60 * loud], [-14.4, 24.0]]])


def test_each_token_has_a_loudness_of_its_own():
    """7 and 1, and the same ten times as loud: both become 1.4 and 0.2."""
    answer = rms_norm(torch.tensor([[7.0, 1.0], [70.0, 10.0]]), torch.ones(2), eps=0.0)
    assert_close(answer, expected=[[1.4, 0.2], [1.4, 0.2]])


def test_silence_stays_silent():
    """0 / √ε = 0, even where ε is too small for float16."""
    x = torch.zeros(1, 3, dtype=torch.float16)
    assert_close(rms_norm(x, torch.ones(3, dtype=torch.float16), 1e-9), expected=[[0.0] * 3])


def test_gradient_of_silence_is_finite():
    """Near zero the norm is x / √ε: slope 1/√0.01 = 10, not 0/0."""
    x = torch.zeros(1, 2, requires_grad=True)
    rms_norm(x, torch.ones(2), eps=0.01).sum().backward()
    assert_close(x.grad, expected=[[10.0, 10.0]])


def test_gain_learns_the_normed_numbers():
    """Tokens 7, 1 and 1, 7 with gradients 1 and 2: 1.4 + 2 · 0.2 and 0.2 + 2 · 1.4."""
    gain = torch.ones(2, requires_grad=True)
    answer = rms_norm(torch.tensor([[7.0, 1.0], [1.0, 7.0]]), gain, eps=0.0)
    answer.backward(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    assert_close(gain.grad, expected=[1.8, 3.0])


def test_squares_may_be_more_than_float16_can_hold():
    """700² = 490000 is infinite in float16; the root of the mean square is only 500."""
    x, gain = torch.tensor([[700.0, 100.0]]), torch.tensor([10.0, 20.0])
    answer = rms_norm(x.half(), gain.half())
    assert_close(answer, expected=[[14.0, 4.0]])


def test_small_squares_are_not_lost_in_bfloat16():
    """One 16 and 256 ones: in bfloat16 256 + 1 is 256; the mean square is 512/257."""
    x = torch.tensor([[16.0] + [1.0] * 256])
    answer = rms_norm(x.bfloat16(), torch.ones(257).bfloat16())
    assert_close(answer, expected=x * (257 / 512) ** 0.5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_result_has_the_dtype_of_x(dtype):
    """Whatever the gain's: 7 and 1 become 14 and 10."""
    gain = torch.tensor([12.0, 60.0], dtype=torch.float32)
    answer = rms_norm(torch.tensor([[7.0, 1.0]], dtype=dtype), gain, eps=11.0)
    assert_close(answer, expected=[[14.0, 10.0]])


@pytest.mark.parametrize("shape", [(1,), (2,), (4,), (1, 3), (5, 3), (2, 1, 3), ()], ids=str)
def test_gain_of_another_shape_is_an_error(shape):
    """For width 3 only a gain of shape (3,) will do, even where torch would broadcast."""
    with rejects(ValueError, naming=shape):
        rms_norm(torch.ones(5, 3), torch.ones(shape))


def test_gain_makes_no_features():
    """Three gains for a width of 1 would make three features of one."""
    with rejects(ValueError, naming=(3,)):
        rms_norm(torch.ones(5, 1), torch.ones(3))


@pytest.mark.parametrize("size", draw.sizes("batch length d_model", count=6), ids=str)
def test_equals_torch(size):
    """F.rms_norm in float64, with gains that are not 1."""
    x = 2 * draw.floats(size.batch, size.length, size.d_model) + 0.5
    gain = draw.floats(size.d_model, seed=1)
    expected = functional.rms_norm(x.double(), (size.d_model,), gain.double(), 1e-6)
    assert_close(rms_norm(x, gain), expected)
