"""007 · lookup_token_embeddings. Lesson: 007_lookup_token_embeddings.md."""

import pytest
import torch

from kata.part02_embeddings import lookup_token_embeddings
from specs.harness import draw
from specs.harness.check import assert_close, rejects

NOT_WITH = ("embedding",)  # F.embedding and nn.Embedding are what this step builds

TABLE = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])  # three tokens, two numbers each


def test_two_sentences_by_hand():
    """Ids 2 and 0, then 1 and 2: row by row, (3, 30) and (1, 10), then (2, 20) and (3, 30)."""
    output = lookup_token_embeddings(torch.tensor([[2, 0], [1, 2]]), TABLE)
    assert_close(output, expected=[[[3.0, 30.0], [1.0, 10.0]], [[2.0, 20.0], [3.0, 30.0]]])


@pytest.mark.parametrize("shape", [(), (4,), (2, 0), (2, 1), (2, 4, 5)], ids=str)
def test_ids_of_any_shape(shape):
    """Row i of this table is (i, −i): the answer is each id with its negative beside it."""
    table = torch.tensor([[float(row), -float(row)] for row in range(7)])
    ids = draw.token_ids(*shape, vocab_size=7)
    output = lookup_token_embeddings(ids, table)
    assert_close(output, expected=torch.stack((ids, -ids), dim=-1))


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8], ids=str
)
def test_every_integer_type_is_an_id(dtype):
    """Ids 1, 0, 1 are rows 1, 0, 1; a uint8 must not be taken for a mask of yes, no, yes."""
    output = lookup_token_embeddings(torch.tensor([1, 0, 1], dtype=dtype), TABLE)
    assert_close(output, expected=[[2.0, 20.0], [1.0, 10.0], [2.0, 20.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_rows_come_back_in_the_type_of_the_table(dtype):
    """2.5 and 0.375 have few bits, so they are the same number in every type."""
    table = torch.tensor([[2.5, 0.375, -1.0]], dtype=dtype)
    output = lookup_token_embeddings(torch.tensor([[0, 0]]), table)
    assert_close(output, expected=[[[2.5, 0.375, -1.0], [2.5, 0.375, -1.0]]])


def test_gradients_of_a_repeated_id_add_up():
    """Token 1 comes twice, with slopes 1 and 2: its row gets 3. Token 2 gets 4, token 0 nothing."""
    table = TABLE.clone().requires_grad_()
    output = lookup_token_embeddings(torch.tensor([1, 1, 2]), table)
    (output * torch.tensor([[1.0], [2.0], [4.0]])).sum().backward()
    assert table.grad is not None, "the table gets no gradient"
    assert_close(table.grad, expected=[[0.0, 0.0], [3.0, 3.0], [4.0, 4.0]])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
@pytest.mark.parametrize("stray", [-1, 3, 70])
def test_id_outside_the_table_is_an_error(stray, dtype):
    """Three rows, as wide as you like, are 0, 1 and 2: no row −1, none to stand in for 3 or 70."""
    with rejects(IndexError, naming=stray):
        lookup_token_embeddings(torch.tensor([[0, 2], [1, stray]], dtype=dtype), torch.ones(3, 5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64], ids=str)
def test_ids_that_are_no_integers_are_an_error(dtype):
    """A fraction has no row, and True and False are a mask, not ids."""
    with rejects(TypeError, naming=str(dtype).removeprefix("torch.")):
        lookup_token_embeddings(torch.tensor([1, 0, 1], dtype=dtype), TABLE)


@pytest.mark.parametrize("size", draw.sizes("batch length vocab d_model"), ids=str)
def test_agrees_with_torch(size):
    """torch.nn.functional.embedding reads the same rows."""
    ids = draw.token_ids(size.batch, size.length, vocab_size=size.vocab)
    table = draw.floats(size.vocab, size.d_model)
    output = lookup_token_embeddings(ids, table)
    assert_close(output, expected=torch.nn.functional.embedding(ids, table))
