"""049 · tie_output_projection_to_token_embeddings.

Lesson: 049_tie_output_projection_to_token_embeddings.md.
"""

import torch

from kata.part06_transformer import tie_output_projection_to_token_embeddings
from specs.harness import draw_weights
from specs.harness.check import assert_close, assert_equal


def untied(**options):
    """Draw a model whose output projection is a table of its own."""
    return draw_weights.transformer(tied=False, **options)


def test_the_output_is_the_embedding_table_itself():
    """Not a copy of it, and no second name for the same numbers: the very same tensor."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    same = tied.output_projection.weight is weights.token_embedding
    assert same, "output_projection.weight is another tensor than token_embedding"


def test_the_embedding_table_is_what_is_kept():
    """The output's old table goes, not the embeddings."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    assert_equal(tied.token_embedding, weights.token_embedding)


def test_the_bias_keeps_its_numbers():
    """The tie is between two tables, and the bias is in neither."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    assert_equal(tied.output_projection.bias, weights.output_projection.bias)


def test_the_bias_stays():
    """The very same tensor. One number for each word, which the embeddings do not have."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    same = tied.output_projection.bias is weights.output_projection.bias
    assert same, "the output's bias is another one than before"


def test_without_a_bias_there_is_none():
    """None stays None."""
    tied = tie_output_projection_to_token_embeddings(untied(bias=False))
    assert_equal(tied.output_projection.bias, None)


def test_the_layers_stay():
    """The very tensors of both stacks, in their order."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    same = tied[1:3] == weights[1:3]
    assert same, "the layers are other ones than before"


def test_tied_weights_stay_tied():
    """Tying twice changes nothing."""
    weights = draw_weights.transformer(tied=True)
    tied = tie_output_projection_to_token_embeddings(weights)
    same = tied.output_projection.weight is weights.token_embedding
    assert same, "output_projection.weight is another tensor than token_embedding"


def test_gradients_of_both_uses_add_up():
    """Row 3 is read once, a 1 in each column; all rows score x = (1, 2, …, 8), an 8th part each.

    Row 3 gets 1 + x and every other row gets x.
    """
    weights = draw_weights.trainable(untied())
    tied = tie_output_projection_to_token_embeddings(weights)
    x = torch.arange(1.0, 9.0)
    (tied.token_embedding[3].sum() + (tied.output_projection.weight @ x).sum()).backward()
    expected = x.expand(11, 8).clone()
    expected[3] += 1
    assert_close(weights.token_embedding.grad, expected)


def test_one_update_reaches_both_uses():
    """The optimiser changes the embeddings in place: the output has changed with them."""
    weights = untied()
    tied = tie_output_projection_to_token_embeddings(weights)
    weights.token_embedding.fill_(7.0)
    assert_close(tied.output_projection.weight, torch.full((11, 8), 7.0))
