"""049 · tie_output_projection_to_token_embeddings, right all the same."""

from kata.weights import LinearWeights, TransformerWeights


def built_anew(weights):
    """New containers around the tensors that were there."""
    return TransformerWeights(
        token_embedding=weights.token_embedding,
        encoder_layers=tuple(weights.encoder_layers),
        decoder_layers=tuple(weights.decoder_layers),
        output_projection=LinearWeights(weights.token_embedding, weights.output_projection.bias),
    )
