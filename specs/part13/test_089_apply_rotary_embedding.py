"""089 · apply_rotary_embedding. Lesson: 089_apply_rotary_embedding.md."""

import pytest
import torch

from kata.part13_decoder_only import apply_rotary_embedding
from specs.harness import draw, torch_decoder_only
from specs.harness.check import assert_close, rejects

# Row 0 turns nothing. Row 1 turns the first pair by the angle of the triangle 3, 4, 5 and the
# second by a right angle; row 2 turns the first by half a turn and the second not at all.
COS = torch.tensor([[1.0, 1.0], [0.6, 0.0], [-1.0, 1.0]])
SIN = torch.tensor([[0.0, 0.0], [0.8, 1.0], [0.0, 0.0]])
TOKEN = torch.tensor([5.0, 10.0, 1.0, 2.0])
TURNED = [TOKEN.tolist(), [-5.0, 10.0, -2.0, 1.0], [-5.0, -10.0, 1.0, 2.0]]


def sentence(length, *, batch=1, heads=1):
    """The same token over and over."""
    return TOKEN.expand(batch, heads, length, 4)


def test_one_token_at_three_places_by_hand():
    """At place 1: 5 · 0.6 − 10 · 0.8 = −5 and 5 · 0.8 + 10 · 0.6 = 10; (1, 2) becomes (−2, 1)."""
    assert_close(apply_rotary_embedding(sentence(3), COS, SIN), expected=[[TURNED]])


def test_neighbours_are_the_pairs():
    """Features 0 and 1 turn together, 2 and 3 together; feature 0 has nothing to do with 2."""
    x = torch.tensor([[[[0.0] * 4, [5.0, 0.0, 0.0, 0.0]]]])
    answer = apply_rotary_embedding(x, COS, SIN)
    assert_close(answer, expected=[[[[0.0] * 4, [3.0, 4.0, 0.0, 0.0]]]])


def test_positions_choose_the_row():
    """Places 2 and 0 for two tokens: half a turn, and none."""
    answer = apply_rotary_embedding(sentence(2), COS, SIN, torch.tensor([2, 0]))
    assert_close(answer, expected=[[[TURNED[2], TURNED[0]]]])


def test_positions_go_on_from_anywhere():
    """One token at place 1, as while decoding: row 1, not row 0."""
    answer = apply_rotary_embedding(sentence(1), COS, SIN, torch.tensor([1]))
    assert_close(answer, expected=[[[TURNED[1]]]])


def test_each_sentence_may_have_its_own_positions():
    """Two sentences, two heads: places 0, 1 in the first, 2, 2 in the second, in both heads."""
    positions = torch.tensor([[0, 1], [2, 2]])
    answer = apply_rotary_embedding(sentence(2, batch=2, heads=2), COS, SIN, positions)
    first, second = [TURNED[0], TURNED[1]], [TURNED[2], TURNED[2]]
    assert_close(answer, expected=[[first, first], [second, second]])


def test_without_positions_every_sentence_starts_at_zero():
    """0, 1, 2 in each of two sentences and three heads."""
    answer = apply_rotary_embedding(sentence(3, batch=2, heads=3), COS, SIN)
    assert_close(answer, expected=[[TURNED] * 3] * 2)


@pytest.mark.parametrize("positions", [[0, 3], [-1, 0], [0, 70], [-4, 1]], ids=str)
def test_position_outside_the_table_is_an_error(positions):
    """Rows are 0, 1 and 2: there is no row −1 and none to stand in for row 3."""
    stray = min(positions) if min(positions) < 0 else max(positions)
    with rejects(IndexError, naming=stray):
        apply_rotary_embedding(sentence(2), COS, SIN, torch.tensor(positions))


def test_sentence_longer_than_the_table_is_an_error():
    """Four tokens want rows 0 to 3, and there are three."""
    with rejects(IndexError, naming=3):
        apply_rotary_embedding(sentence(4), COS, SIN)


def test_position_outside_in_one_sentence_is_an_error():
    """The second sentence's second place is named."""
    with rejects(IndexError, naming=9):
        apply_rotary_embedding(sentence(2, batch=2), COS, SIN, torch.tensor([[0, 1], [2, 9]]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_result_has_the_dtype_of_x(dtype):
    """The table stays float32; the numbers are whole."""
    answer = apply_rotary_embedding(sentence(3).to(dtype), COS.float(), SIN.float())
    assert_close(answer, expected=[[TURNED]], rtol=2e-2 if dtype == torch.bfloat16 else 2e-3)


def test_gradient_is_turned_back():
    """A right angle sends (a, b) to (−b, a): a learns what came to the second, b the other's −."""
    x = torch.zeros(1, 1, 2, 4, requires_grad=True)
    answer = apply_rotary_embedding(x, COS, SIN)
    answer.backward(torch.tensor([[[[0.0] * 4, [0.0, 0.0, 3.0, 7.0]]]]))
    assert_close(x.grad, expected=[[[[0.0] * 4, [0.0, 0.0, 7.0, -3.0]]]])


def test_only_the_distance_counts():
    """A query at 5 and a key at 2 agree as much as at 7 and 4, or at 3 and 0."""
    angles = torch_decoder_only.angles(torch.arange(8), 6)
    cos, sin = angles.cos(), angles.sin()
    pair = draw.floats(1, 1, 2, 6).double()
    places = [torch.tensor(ends) for ends in ([5, 2], [7, 4], [3, 0])]
    turned = [apply_rotary_embedding(pair, cos, sin, ends)[0, 0] for ends in places]
    first, *others = [query @ key for query, key in turned]
    assert_close(torch.stack(others), expected=torch.stack([first, first]))


@pytest.mark.parametrize("size", draw.sizes("batch heads length pairs", count=6), ids=str)
def test_turns_as_complex_numbers_do(size):
    """Each pair as one complex number, times cos + i sin, in float64; places in any order."""
    x = draw.floats(size.batch, size.heads, size.length, 2 * size.pairs)
    angles = 3 * draw.floats(12, size.pairs, seed=1).double()
    positions = draw.token_ids(size.batch, size.length, vocab_size=12)
    dtype = x.dtype
    answer = apply_rotary_embedding(x, angles.cos().to(dtype), angles.sin().to(dtype), positions)
    assert_close(answer, torch_decoder_only.turn(x, angles[positions][:, None]))
