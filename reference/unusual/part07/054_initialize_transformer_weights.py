"""Right but unusual versions of step 054."""

from math import pi, sqrt

import torch
from torch import nn

from kata.part06_transformer import tie_output_projection_to_token_embeddings
from kata.part07_weights import (
    initialize_decoder_layer_weights,
    initialize_encoder_layer_weights,
)
from kata.weights import LinearWeights, TransformerWeights


def floor_by_floor(config, generator=None, device=None, dtype=torch.float32):
    """Both stacks grow together; the table is an ``nn.Parameter``, which ``nn.init`` draws last."""
    encoder, decoder = [], []
    for _ in range(config.num_layers):
        encoder.append(initialize_encoder_layer_weights(config, generator, device, dtype))
        decoder.append(initialize_decoder_layer_weights(config, generator, device, dtype))
    empty = torch.empty(config.vocab_size, config.d_model, device=device, dtype=dtype)
    deviation = config.d_model**-0.5
    table = nn.Parameter(nn.init.normal_(empty, std=deviation, generator=generator))
    return TransformerWeights(table, tuple(encoder), tuple(decoder), LinearWeights(table))


def _stacks(config, generator, device, dtype):
    rest = (config, generator, device, dtype)
    return tuple(
        tuple(initialize(*rest) for _ in range(config.num_layers))
        for initialize in (initialize_encoder_layer_weights, initialize_decoder_layer_weights)
    )


def angles_and_lengths(config, generator=None, device=None, dtype=torch.float32):
    """Box and Muller make normal numbers out of even ones: one draw is an angle, one a length."""
    shape = (2, config.vocab_size, config.d_model)
    even = torch.rand(shape, generator=generator, device=device, dtype=torch.float64)
    length = torch.sqrt(-2 * torch.log1p(-even[0]) / config.d_model)
    table = (length * torch.cos(2 * pi * even[1])).to(dtype).requires_grad_()
    return TransformerWeights(
        table, *_stacks(config, generator, device, dtype), LinearWeights(table, None)
    )


def shares_read_backwards(config, generator=None, device=None, dtype=torch.float32):
    """``ndtri`` tells below which normal number a share drawn evenly from 0 to 1 would lie."""
    shape = (config.vocab_size, config.d_model)
    share = torch.rand(shape, generator=generator, device=device, dtype=torch.float64)
    normal = torch.special.ndtri(share.clamp(min=1e-12))
    table = nn.Parameter((normal / sqrt(config.d_model)).to(dtype))
    encoder, decoder = _stacks(config, generator, device, dtype)
    return TransformerWeights(
        output_projection=LinearWeights(table),
        token_embedding=table,
        encoder_layers=encoder,
        decoder_layers=decoder,
    )


def tied_at_the_end(config, generator=None, device=None, dtype=torch.float32):
    """The output begins with nothing in it, and step 049 ties it."""
    shape = (config.vocab_size, config.d_model)
    table = torch.randn(shape, generator=generator, device=device, dtype=dtype)
    table = table.div_(sqrt(config.d_model)).requires_grad_()
    nothing = LinearWeights(torch.empty(0, device=device, dtype=dtype))
    stacks = _stacks(config, generator, device, dtype)
    return tie_output_projection_to_token_embeddings(TransformerWeights(table, *stacks, nothing))


def one_floor_more(config, generator=None, device=None, dtype=torch.float32):
    """A model with one floor less is made first, down to a model of no floors."""
    if config.num_layers == 0:
        shape = (config.vocab_size, config.d_model)
        spread = torch.full(shape, config.d_model**-0.5, device=device, dtype=torch.float32)
        table = torch.normal(0.0, spread, generator=generator).to(dtype).requires_grad_()
        return TransformerWeights(table, (), (), LinearWeights(table))
    smaller = config._replace(num_layers=config.num_layers - 1)
    weights = one_floor_more(smaller, generator, device, dtype)
    first = initialize_encoder_layer_weights(config, generator, device, dtype)
    last = initialize_decoder_layer_weights(config, generator, device, dtype)
    return weights._replace(
        encoder_layers=(first, *weights.encoder_layers),
        decoder_layers=(*weights.decoder_layers, last),
    )
