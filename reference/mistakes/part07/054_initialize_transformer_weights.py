"""Wrong versions of step 054, one slip each."""

import math

import torch

from kata.part07_weights import (
    initialize_decoder_layer_weights,
    initialize_encoder_layer_weights,
)
from kata.weights import LinearWeights, TransformerWeights


def xavier_on_the_table(config, generator=None, device=None, dtype=torch.float32):
    """The table is drawn like a matrix of a layer, evenly within √(6 / (V + D))."""
    table = _empty(config, device, dtype)
    bound = math.sqrt(6 / (config.vocab_size + config.d_model))
    return _model(
        config, generator, device, dtype, table.uniform_(-bound, bound, generator=generator)
    )


def table_evenly_spread(config, generator=None, device=None, dtype=torch.float32):
    """The table is spread evenly, with the right deviation, but not normally."""
    bound = math.sqrt(3 / config.d_model)
    table = _empty(config, device, dtype).uniform_(-bound, bound, generator=generator)
    return _model(config, generator, device, dtype, table)


def table_cut_at_two_deviations(config, generator=None, device=None, dtype=torch.float32):
    """The table's far-out numbers are cut off at two standard deviations."""
    table = _table(config, generator, device, dtype)
    edge = 2 / math.sqrt(config.d_model)
    return _model(config, generator, device, dtype, table.clamp_(-edge, edge))


def deviation_one(config, generator=None, device=None, dtype=torch.float32):
    """The table has standard deviation 1, that of torch's own embeddings."""
    table = _empty(config, device, dtype).normal_(generator=generator)
    return _model(config, generator, device, dtype, table)


def variance_for_deviation(config, generator=None, device=None, dtype=torch.float32):
    """The variance 1/D is taken for the standard deviation: the root is missing."""
    table = _empty(config, device, dtype).normal_(std=1 / config.d_model, generator=generator)
    return _model(config, generator, device, dtype, table)


def vocabulary_for_width(config, generator=None, device=None, dtype=torch.float32):
    """The standard deviation is 1/√V: the size of the vocabulary for that of a row."""
    deviation = config.vocab_size**-0.5
    table = _empty(config, device, dtype).normal_(std=deviation, generator=generator)
    return _model(config, generator, device, dtype, table)


def deviation_002(config, generator=None, device=None, dtype=torch.float32):
    """The table's standard deviation is 0.02, as GPT-2 has it: the width does not count."""
    table = _empty(config, device, dtype).normal_(std=0.02, generator=generator)
    return _model(config, generator, device, dtype, table)


def only_positive(config, generator=None, device=None, dtype=torch.float32):
    """All numbers of the table are positive."""
    return _model(config, generator, device, dtype, _table(config, generator, device, dtype).abs_())


def padding_row_zero(config, generator=None, device=None, dtype=torch.float32):
    """The row of padding is set to zeros, as torch's padding_idx does: here it is drawn too."""
    table = _table(config, generator, device, dtype)
    table[config.pad_id] = 0.0
    return _model(config, generator, device, dtype, table)


def output_copied(config, generator=None, device=None, dtype=torch.float32):
    """The output projection is a copy of the table: after one update they differ."""
    weights = _model(config, generator, device, dtype)
    twin = weights.token_embedding.detach().clone().requires_grad_()
    return weights._replace(output_projection=LinearWeights(twin))


def output_drawn(config, generator=None, device=None, dtype=torch.float32):
    """The output projection is a throw of its own: nothing is shared."""
    weights = _model(config, generator, device, dtype)
    other = _table(config, generator, device, dtype).requires_grad_()
    return weights._replace(output_projection=LinearWeights(other))


def output_is_a_view(config, generator=None, device=None, dtype=torch.float32):
    """The output projection is a view of the table: the same memory, but another tensor."""
    weights = _model(config, generator, device, dtype)
    view = weights.token_embedding.detach().requires_grad_()
    return weights._replace(output_projection=LinearWeights(view))


def output_bias(config, generator=None, device=None, dtype=torch.float32):
    """The output projection has a bias."""
    weights = _model(config, generator, device, dtype)
    bias = torch.zeros(config.vocab_size, device=device, dtype=dtype, requires_grad=True)
    return weights._replace(output_projection=LinearWeights(weights.token_embedding, bias))


def one_layer_repeated(config, generator=None, device=None, dtype=torch.float32):
    """A stack is one layer repeated: all its layers are one and the same."""
    weights = _model(config, generator, device, dtype)
    return weights._replace(
        encoder_layers=weights.encoder_layers[:1] * config.num_layers,
        decoder_layers=weights.decoder_layers[:1] * config.num_layers,
    )


def clones_start_equal(config, generator=None, device=None, dtype=torch.float32):
    """A stack is one layer and its copies: they start with the same numbers."""
    weights = _model(config, generator, device, dtype)
    return weights._replace(
        encoder_layers=tuple(_copy(weights.encoder_layers[0]) for _ in weights.encoder_layers),
        decoder_layers=tuple(_copy(weights.decoder_layers[0]) for _ in weights.decoder_layers),
    )


def sides_start_equal(config, generator=None, device=None, dtype=torch.float32):
    """Each decoder layer starts with the self-attention of its neighbour in the encoder."""
    weights = _model(config, generator, device, dtype)
    pairs = zip(weights.encoder_layers, weights.decoder_layers, strict=True)
    return weights._replace(
        decoder_layers=tuple(
            ours._replace(self_attention=_copy(theirs.self_attention)) for theirs, ours in pairs
        )
    )


def one_layer_short(config, generator=None, device=None, dtype=torch.float32):
    """The decoder is one layer short."""
    weights = _model(config, generator, device, dtype)
    return weights._replace(decoder_layers=weights.decoder_layers[1:])


def always_six_layers(config, generator=None, device=None, dtype=torch.float32):
    """Each stack has six layers, as in the paper, whatever num_layers says."""
    return _model(config._replace(num_layers=6), generator, device, dtype)


def smaller_with_depth(config, generator=None, device=None, dtype=torch.float32):
    """What attention hands on is drawn √(2N) times smaller, as GPT-2 does it: not here."""
    weights = _model(config, generator, device, dtype)
    layers = (*weights.encoder_layers, *weights.decoder_layers)
    with torch.no_grad():
        for layer in layers:
            layer.self_attention.output.weight.div_(math.sqrt(2 * config.num_layers))
    return weights


def stacks_are_lists(config, generator=None, device=None, dtype=torch.float32):
    """The stacks are lists, where tuples are asked for."""
    weights = _model(config, generator, device, dtype)
    return weights._replace(
        encoder_layers=list(weights.encoder_layers), decoder_layers=list(weights.decoder_layers)
    )


def table_computed(config, generator=None, device=None, dtype=torch.float32):
    """The gradient is asked for first, and the table scaled after: it is no leaf."""
    table = _empty(config, device, dtype).normal_(generator=generator).requires_grad_()
    return _model(config, generator, device, dtype, table / math.sqrt(config.d_model))


def cast_late(config, generator=None, device=None, dtype=torch.float32):
    """The model is made in float32 and cast afterwards: in another dtype nothing is a leaf."""
    weights = _model(config, generator, device, torch.float32)
    table, *stacks, _ = (_cast(part, dtype) for part in weights)
    return TransformerWeights(table, *stacks, LinearWeights(table))


def table_cast_late(config, generator=None, device=None, dtype=torch.float32):
    """The table is made in float32 and cast afterwards: in another dtype it is no leaf."""
    table = _table(config, generator, device, torch.float32).requires_grad_()
    return _model(config, generator, device, dtype, table.to(dtype))


def table_without_gradient(config, generator=None, device=None, dtype=torch.float32):
    """The table does not ask for a gradient: no word is learned."""
    weights = _model(config, generator, device, dtype)
    table = weights.token_embedding.detach()
    return weights._replace(token_embedding=table, output_projection=LinearWeights(table))


def generator_left_out(config, generator=None, device=None, dtype=torch.float32):
    """The generator does not reach the table and every layer: torch's default one is drawn from."""
    table = _table(config, generator, device, dtype)
    return _model(config, None, device, dtype, table)


def its_own_seed(config, generator=None, device=None, dtype=torch.float32):
    """A seed of its own is set: every model is the same, whatever the generator."""
    return _model(config, torch.Generator().manual_seed(0), device, dtype)


def generator_copied(config, generator=None, device=None, dtype=torch.float32):
    """Each call starts from a copy of the generator: the next model is the same again."""
    return _model(config, generator and generator.clone_state(), device, dtype)


def seed_without_a_generator(config, generator=None, device=None, dtype=torch.float32):
    """Where no generator is given, a seed of its own is set: every model is the same."""
    return _model(config, generator or torch.Generator().manual_seed(0), device, dtype)


def table_on_the_cpu(config, generator=None, device=None, dtype=torch.float32):
    """The table is made on the CPU, whatever device was asked for."""
    return _model(config, generator, device, dtype, _table(config, generator, None, dtype))


def layers_in_float32(config, generator=None, device=None, dtype=torch.float32):
    """The layers are float32, whatever dtype was asked for."""
    table = _table(config, generator, device, dtype)
    return _model(config, generator, device, torch.float32, table)


def _model(config, generator, device, dtype, table=None):
    if table is None:
        table = _table(config, generator, device, dtype)
    if table.is_leaf:
        table.requires_grad_()
    layers = range(config.num_layers)
    rest = (config, generator, device, dtype)
    return TransformerWeights(
        table,
        tuple(initialize_encoder_layer_weights(*rest) for _ in layers),
        tuple(initialize_decoder_layer_weights(*rest) for _ in layers),
        LinearWeights(table),
    )


def _empty(config, device, dtype):
    return torch.empty(config.vocab_size, config.d_model, device=device, dtype=dtype)


def _table(config, generator, device, dtype):
    return _empty(config, device, dtype).normal_(std=config.d_model**-0.5, generator=generator)


def _copy(weights):
    if isinstance(weights, torch.Tensor):
        return weights.detach().clone().requires_grad_()
    return type(weights)(*map(_copy, weights))


def _cast(weights, dtype):
    if isinstance(weights, torch.Tensor):
        return weights.to(dtype)
    if weights is None or not hasattr(weights, "_fields"):
        return weights and tuple(_cast(part, dtype) for part in weights)
    return type(weights)(*(_cast(part, dtype) for part in weights))
