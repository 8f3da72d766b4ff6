"""049 · tie_output_projection_to_token_embeddings, the ways it goes wrong."""

from torch import nn as _nn

from kata.weights import LinearWeights, TransformerWeights


def _with_output(weights, weight):
    return weights._replace(output_projection=weights.output_projection._replace(weight=weight))


def nothing_tied(weights):
    """The weights are handed back as they came: the change was made in a copy that nobody kept."""
    weights.output_projection._replace(weight=weights.token_embedding)
    return weights


def copied(weights):
    """The table is copied: after one update there are two different tables."""
    return _with_output(weights, weights.token_embedding.clone())


def a_second_parameter(weights):
    """The table is wrapped in a second parameter: same numbers, but gradients of its own."""
    return _with_output(weights, _nn.Parameter(weights.token_embedding))


def detached(weights):
    """The table is detached for the output: nothing is learned from being scored."""
    return _with_output(weights, weights.token_embedding.detach())


def a_view(weights):
    """A view of the table is handed over, table[:]: not the very same tensor, but a second one."""
    return _with_output(weights, weights.token_embedding[:])


def the_other_way_round(weights):
    """The embeddings become the output's table: it is the output that gives way."""
    return weights._replace(token_embedding=weights.output_projection.weight)


def bias_dropped(weights):
    """The output's bias is gone."""
    return weights._replace(output_projection=LinearWeights(weights.token_embedding))


def bias_of_zeros(weights):
    """The output's bias is set to zeros."""
    tied = _with_output(weights, weights.token_embedding)
    bias = tied.output_projection.bias
    zeros = bias if bias is None else bias * 0
    return tied._replace(output_projection=tied.output_projection._replace(bias=zeros))


def bias_copied(weights):
    """The output's bias is copied: the optimiser knows the other one."""
    tied = _with_output(weights, weights.token_embedding)
    bias = tied.output_projection.bias
    twin = bias if bias is None else bias.clone()
    return tied._replace(output_projection=tied.output_projection._replace(bias=twin))


def copied_in_place(weights):
    """The embeddings are copied into the output's tensor: the caller's weights change."""
    weights.output_projection.weight.data.copy_(weights.token_embedding)
    return weights


def layers_lost(weights):
    """The decoder gets the encoder's layers: all other weights stay as they are."""
    tied = _with_output(weights, weights.token_embedding)
    return TransformerWeights(
        tied.token_embedding, tied.encoder_layers, tied.encoder_layers, tied.output_projection
    )


def output_only(weights):
    """Only the output projection is returned, not the whole model's weights."""
    return _with_output(weights, weights.token_embedding).output_projection
