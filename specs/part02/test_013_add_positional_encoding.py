"""013 · add_positional_encoding. Lesson: 013_add_positional_encoding.md."""

import pytest
import torch

from kata.part02_embeddings import add_positional_encoding
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects

ENCODING = torch.tensor([[0.0, 1.0], [0.5, 0.25], [0.75, -0.5], [8.0, 9.0]])  # four positions


def test_each_token_gets_the_row_of_its_position():
    """Three tokens take rows 0, 1 and 2 of four, in both sentences; row 3 stays unused."""
    embeddings = torch.tensor([[[10.0, 20.0]] * 3, [[0.0, 0.0]] * 3])
    output = add_positional_encoding(embeddings, ENCODING)
    first = [[10.0, 21.0], [10.5, 20.25], [10.75, 19.5]]
    second = [[0.0, 1.0], [0.5, 0.25], [0.75, -0.5]]
    assert_close(output, expected=[first, second])


def test_as_many_sentences_as_tokens():
    """A square batch: rows go to tokens, not to sentences."""
    output = add_positional_encoding(torch.zeros(2, 2, 2), ENCODING)
    assert_close(output, expected=[[[0.0, 1.0], [0.5, 0.25]]] * 2)


def test_a_sentence_may_fill_the_encoding():
    """Four tokens, four rows: the last one fits."""
    output = add_positional_encoding(torch.ones(1, 4, 2), ENCODING)
    assert_close(output, expected=[[[1.0, 2.0], [1.5, 1.25], [1.75, 0.5], [9.0, 10.0]]])


@pytest.mark.parametrize("rows", [1, 3, 4])
def test_sentence_longer_than_the_encoding_is_an_error(rows):
    """Five tokens: the last has no row, and a lone row must not serve all five."""
    with rejects(ValueError, naming=(5, rows)):
        add_positional_encoding(torch.zeros(2, 5, 3), torch.ones(rows, 3))


@pytest.mark.parametrize(("d_model", "width"), [(4, 1), (1, 4), (4, 6)])
def test_widths_that_differ_are_an_error(d_model, width):
    """A lone column must not be spread over all the others, on either side."""
    with rejects(ValueError, naming=(d_model, width)):
        add_positional_encoding(torch.zeros(2, 3, d_model), torch.ones(5, width))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("table_dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_the_embeddings_set_the_type(dtype, table_dtype):
    """One table serves models of every type; 1.5 + 0.25 is exact in all of them."""
    embeddings = torch.full((1, 2, 2), 1.5, dtype=dtype)
    output = add_positional_encoding(embeddings, ENCODING.to(table_dtype))
    assert_close(output, expected=[[[1.5, 2.5], [2.0, 1.75]]])


@pytest.mark.parametrize(
    ("dtype", "number", "table_dtype"),
    [(torch.float32, 1.0001, torch.float16), (torch.float64, 1e300, torch.float32)],
    ids=["float32 and float16", "float64 and float32"],
)
def test_a_narrow_encoding_takes_no_digits(dtype, number, table_dtype):
    """A row of zeros changes nothing: 1.0001 is not 1, and 10³⁰⁰ not infinite."""
    embeddings = torch.full((1, 2, 2), number, dtype=dtype)
    output = add_positional_encoding(embeddings, torch.zeros(3, 2, dtype=table_dtype))
    assert_equal(output, expected=embeddings)


def test_a_float64_encoding_keeps_its_digits():
    """0 + 0.1 is 0.1 to the last digit; by way of float32 it is 0.10000000149."""
    encoding = torch.full((3, 2), 0.1, dtype=torch.float64)
    output = add_positional_encoding(torch.zeros(1, 2, 2, dtype=torch.float64), encoding)
    assert_close(output, expected=[[[0.1, 0.1], [0.1, 0.1]]])


def test_embeddings_learn_and_the_encoding_does_not():
    """Each embedding number passes on its slope, here 3; the fixed table has none to take."""
    embeddings = torch.zeros(1, 3, 2, requires_grad=True)
    encoding = ENCODING.clone().requires_grad_()
    (3.0 * add_positional_encoding(embeddings, encoding)).sum().backward()
    assert encoding.grad is None, "the encoding is fixed: it should get no gradient"
    assert_close(embeddings.grad, expected=[[[3.0, 3.0]] * 3])


@pytest.mark.parametrize("size", draw.sizes("batch length spare d_model"), ids=str)
def test_position_by_position(size):
    """Row t of the table goes to token t of every sentence, one position after the other."""
    embeddings = draw.floats(size.batch, size.length, size.d_model, seed=1)
    encoding = draw.floats(size.length + size.spare, size.d_model, seed=2)
    output = add_positional_encoding(embeddings, encoding)
    places = [embeddings[:, place] + encoding[place] for place in range(size.length)]
    assert_close(output, expected=torch.stack(places, dim=1))
