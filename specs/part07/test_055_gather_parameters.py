"""055 · gather_parameters. Lesson: 055_gather_parameters.md."""

import pytest
import torch

from kata.part07_weights import gather_parameters
from kata.weights import (
    AttentionWeights,
    DecoderLayerWeights,
    EncoderLayerWeights,
    FeedForwardWeights,
    LayerNormWeights,
    LinearWeights,
    TransformerWeights,
)
from specs.harness.check import assert_equal
from specs.harness.values import leaves


def zeros():
    """One parameter. All are alike, as fresh biases are, so that only their identity counts."""
    return torch.zeros(2, requires_grad=True)


def linear():
    return LinearWeights(zeros(), zeros())


def norm():
    return LayerNormWeights(zeros(), zeros())


def attention():
    return AttentionWeights(linear(), linear(), linear(), linear())


def network():
    return FeedForwardWeights(linear(), linear())


def encoder_layer():
    return EncoderLayerWeights(attention(), norm(), network(), norm())


def decoder_layer():
    return DecoderLayerWeights(attention(), norm(), attention(), norm(), network(), norm())


def model():
    """Two layers on each side; the output is the table, and has no bias."""
    table = zeros()
    encoder, decoder = (encoder_layer(), encoder_layer()), (decoder_layer(), decoder_layer())
    return TransformerWeights(table, encoder, decoder, LinearWeights(table))


def paths(weights, parameters):
    """Where in the weights each parameter stands, and "nowhere" for one that is not among them."""
    names = {}
    for path, leaf in leaves(weights):
        names.setdefault(id(leaf), path)
    return [names.get(id(parameter), "nowhere") for parameter in parameters]


def test_matrix_and_bias_by_hand():
    """Two tensors, and the very same ones, in either order."""
    weights = linear()
    assert_equal(sorted(paths(weights, gather_parameters(weights))), expected=["bias", "weight"])


def test_missing_bias_is_not_listed():
    """``None`` does not learn."""
    weights = LinearWeights(zeros())
    assert_equal(paths(weights, gather_parameters(weights)), expected=["weight"])


def test_table_that_is_also_the_output_is_listed_once():
    """Twice on the list would be two updates a step."""
    table = zeros()
    weights = TransformerWeights(table, (), (), LinearWeights(table))
    assert_equal(paths(weights, gather_parameters(weights)), expected=["token_embedding"])


def test_output_with_its_own_matrix_is_listed_beside_the_table():
    """Equal numbers are not one tensor: table, matrix and bias are three."""
    weights = TransformerWeights(zeros(), (), (), linear())
    expected = ["output_projection.bias", "output_projection.weight", "token_embedding"]
    assert_equal(sorted(paths(weights, gather_parameters(weights))), expected)


def test_what_takes_no_gradient_is_not_listed():
    """A frozen matrix, or a table that is not learned, is none of the optimiser's business."""
    weights = LinearWeights(torch.zeros(2), zeros())
    assert_equal(paths(weights, gather_parameters(weights)), expected=["bias"])


def test_nothing_that_learns_makes_an_empty_list():
    """Frozen altogether: a list without entries."""
    assert_equal(gather_parameters(LayerNormWeights(torch.zeros(2), torch.zeros(2))), expected=[])


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (linear, 2),
        (norm, 2),
        (attention, 8),
        (network, 4),
        (encoder_layer, 16),
        (decoder_layer, 26),
    ],
)
def test_every_container_is_walked_through(make, count):
    """Four projections of two tensors are 8; 8 + 2 + 4 + 2 = 16; 8 + 2 + 8 + 2 + 4 + 2 = 26."""
    weights = make()
    found = set(paths(weights, gather_parameters(weights))) - {"nowhere"}
    assert len(found) == count, f"{len(found)} of {count} parameters are listed"


def test_whole_model_is_listed_once():
    """One table, 2 · 16 and 2 · 26 tensors: 85, each once, and nothing else."""
    weights = model()
    every = {path for path, leaf in leaves(weights) if leaf is not None}
    expected = sorted(every - {"output_projection.weight"})
    assert_equal(sorted(paths(weights, gather_parameters(weights))), expected)


def test_models_of_one_kind_are_listed_in_one_order():
    """Adam keeps its memory by place in the list: whatever the order is, it must not change."""
    first, second = model(), model()
    swapped = second._replace(encoder_layers=second.encoder_layers[::-1])
    orders = [paths(weights, gather_parameters(weights)) for weights in (first, swapped)]
    assert orders[0] == orders[1], "two models of one kind are listed in different orders"
