"""051 · run_transformer_forward, the ways it goes wrong."""

from types import SimpleNamespace

import torch

from kata.part02_embeddings import (
    add_positional_encoding,
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part03_attention import build_causal_mask, build_padding_mask
from kata.part05_sublayers import apply_dropout, normalize_last_dim
from kata.part06_transformer import (
    apply_final_output_projection,
    apply_log_softmax_over_vocab,
    stack_decoder_layers,
    stack_encoder_layers,
)


def _check_batches(source_ids, target_ids):
    if len(source_ids) != len(target_ids):
        raise ValueError(f"{len(target_ids)} targets for {len(source_ids)} sources")


def _check_length(ids, config):
    if ids.shape[1] > config.max_length:
        raise ValueError(f"at most {config.max_length} tokens, got {ids.shape[1]}")


def _positions(ids, weights, config):
    table = weights.token_embedding
    return build_sinusoidal_positional_encoding(
        ids.shape[1], config.d_model, device=table.device, dtype=table.dtype
    )


def _embed(ids, weights, config, generator):
    embeddings = scale_embeddings(lookup_token_embeddings(ids, weights.token_embedding))
    x = add_positional_encoding(embeddings, _positions(ids, weights, config))
    return apply_dropout(x, config.dropout_rate, generator)


def _no_positions(ids, weights, config, generator):
    x = scale_embeddings(lookup_token_embeddings(ids, weights.token_embedding))
    return apply_dropout(x, config.dropout_rate, generator)


def _unscaled(ids, weights, config, generator):
    embeddings = lookup_token_embeddings(ids, weights.token_embedding)
    x = add_positional_encoding(embeddings, _positions(ids, weights, config))
    return apply_dropout(x, config.dropout_rate, generator)


def _wrapped(ids, weights, config, generator):
    embeddings = scale_embeddings(weights.token_embedding[ids])
    x = add_positional_encoding(embeddings, _positions(ids, weights, config))
    return apply_dropout(x, config.dropout_rate, generator)


def _coarse(ids, weights, config, generator):
    embeddings = scale_embeddings(lookup_token_embeddings(ids, weights.token_embedding))
    positions = _positions(ids, weights, config).float()
    x = add_positional_encoding(embeddings, positions)
    return apply_dropout(x, config.dropout_rate, generator)


def _undropped(ids, weights, config, generator):
    return _embed(ids, weights, config._replace(dropout_rate=0.0), generator)


def _dropped_early(ids, weights, config, generator):
    embeddings = scale_embeddings(lookup_token_embeddings(ids, weights.token_embedding))
    dropped = apply_dropout(embeddings, config.dropout_rate, generator)
    return add_positional_encoding(dropped, _positions(ids, weights, config))


def _everyone(mask):
    return mask | ~mask


def _no_check(*_):
    pass


_RIGHT = {
    "check_batches": _check_batches,
    "check_length": _check_length,
    "embed_source": _embed,
    "embed_target": _embed,
    "source_mask": lambda ids, config: build_padding_mask(ids, config.pad_id),
    "encoder_mask": lambda mask: mask,
    "target_mask": lambda ids: build_causal_mask(ids.shape[1], ids.device),
    "memory": lambda memory: memory,
    "memory_mask": lambda mask: mask,
    "x": lambda x: x,
    "output": lambda output: output,
    "log_probs": apply_log_softmax_over_vocab,
    "decoder_chance": lambda generator: generator,
    "encoder_rate": lambda rate: rate,
}


def _model(source_ids, target_ids, weights, config, generator, **slips):
    """The right answer, with one piece of it to spoil."""
    does = SimpleNamespace(**_RIGHT | slips)
    does.check_batches(source_ids, target_ids)
    does.check_length(source_ids, config)
    does.check_length(target_ids, config)
    mask, heads, rate = does.source_mask(source_ids, config), config.num_heads, config.dropout_rate
    x = does.embed_source(source_ids, weights, config, generator)
    memory = does.memory(
        stack_encoder_layers(
            x,
            weights.encoder_layers,
            heads,
            does.encoder_mask(mask),
            does.encoder_rate(rate),
            generator,
        )
    )
    x = does.embed_target(target_ids, weights, config, generator)
    x = stack_decoder_layers(
        x,
        memory,
        weights.decoder_layers,
        heads,
        does.target_mask(target_ids),
        does.memory_mask(mask),
        rate,
        does.decoder_chance(generator),
    )
    logits = apply_final_output_projection(does.x(x), does.output(weights.output_projection))
    return does.log_probs(logits)


def no_positions(source_ids, target_ids, weights, config, generator=None):
    """No positions are added: the model cannot tell "dog bites man" from "man bites dog"."""
    slips = {"embed_source": _no_positions, "embed_target": _no_positions}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def no_positions_in_the_target(source_ids, target_ids, weights, config, generator=None):
    """The target's words carry no positions."""
    return _model(source_ids, target_ids, weights, config, generator, embed_target=_no_positions)


def embeddings_unscaled(source_ids, target_ids, weights, config, generator=None):
    """The embeddings are not multiplied by sqrt(d_model): the positions drown them."""
    slips = {"embed_source": _unscaled, "embed_target": _unscaled}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def scaled_at_the_output(source_ids, target_ids, weights, config, generator=None):
    """The sqrt(d_model) stands at the logits, not at the embeddings."""
    slips = {"embed_source": _unscaled, "embed_target": _unscaled, "x": scale_embeddings}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def positions_in_float32(source_ids, target_ids, weights, config, generator=None):
    """The positions are computed in float32, so that a float64 model loses half its digits."""
    slips = {"embed_source": _coarse, "embed_target": _coarse}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def the_future_is_heard(source_ids, target_ids, weights, config, generator=None):
    """There is no causal mask: every word hears the words that it is to predict."""
    slips = {"target_mask": lambda ids: _everyone(build_causal_mask(ids.shape[1], ids.device))}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def stairs_on_the_cpu(source_ids, target_ids, weights, config, generator=None):
    """The causal mask is made on the CPU, wherever the ids are."""
    slips = {"target_mask": lambda ids: build_causal_mask(ids.shape[1])}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def padding_is_heard(source_ids, target_ids, weights, config, generator=None):
    """The encoder gets no padding mask: padding of the source is heard like a word."""
    return _model(source_ids, target_ids, weights, config, generator, encoder_mask=_everyone)


def padding_is_seen(source_ids, target_ids, weights, config, generator=None):
    """Cross-attention gets no padding mask: padding of the source is seen like a word."""
    return _model(source_ids, target_ids, weights, config, generator, memory_mask=_everyone)


def padding_taken_to_be_0(source_ids, target_ids, weights, config, generator=None):
    """Padding is taken to be id 0, whatever the config says."""
    slips = {"source_mask": lambda ids, _: build_padding_mask(ids, 0)}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def memory_detached(source_ids, target_ids, weights, config, generator=None):
    """The memory is detached: no gradient reaches the encoder, and it never learns."""
    slips = {"memory": lambda memory: memory.detach()}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def answer_normed_again(source_ids, target_ids, weights, config, generator=None):
    """A norm comes after the decoder: its last layer has normed already."""
    return _model(source_ids, target_ids, weights, config, generator, x=normalize_last_dim)


def output_bias_forgotten(source_ids, target_ids, weights, config, generator=None):
    """The bias of the output projection is left out."""
    slips = {"output": lambda output: output._replace(bias=None)}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def logits_returned(source_ids, target_ids, weights, config, generator=None):
    """The logits are returned, not their log-probabilities."""
    slips = {"log_probs": lambda logits: logits}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def probabilities_returned(source_ids, target_ids, weights, config, generator=None):
    """The exponentials are returned, not log-probabilities."""

    def shares(logits):
        return apply_log_softmax_over_vocab(logits).exp()

    return _model(source_ids, target_ids, weights, config, generator, log_probs=shares)


def batches_not_compared(source_ids, target_ids, weights, config, generator=None):
    """The batches are not compared: one source is spread over all targets."""
    return _model(source_ids, target_ids, weights, config, generator, check_batches=_no_check)


def length_not_checked(source_ids, target_ids, weights, config, generator=None):
    """The length is not checked: sentences may be longer than max_length."""
    return _model(source_ids, target_ids, weights, config, generator, check_length=_no_check)


def words_cut_off(source_ids, target_ids, weights, config, generator=None):
    """Sentences over max_length are cut off, without a word."""
    source_ids, target_ids = (ids[:, : config.max_length] for ids in (source_ids, target_ids))
    return _model(source_ids, target_ids, weights, config, generator)


def ids_below_zero_wrapped(source_ids, target_ids, weights, config, generator=None):
    """The ids are not checked: -1 is read as the last word of the table."""
    slips = {"embed_source": _wrapped, "embed_target": _wrapped}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def source_embeddings_not_dropped(source_ids, target_ids, weights, config, generator=None):
    """The embeddings of the source are not dropped, only those of the target."""
    return _model(source_ids, target_ids, weights, config, generator, embed_source=_undropped)


def target_embeddings_not_dropped(source_ids, target_ids, weights, config, generator=None):
    """The embeddings of the target are not dropped, only those of the source."""
    return _model(source_ids, target_ids, weights, config, generator, embed_target=_undropped)


def embeddings_not_dropped(source_ids, target_ids, weights, config, generator=None):
    """The embeddings are dropped on neither side: only the layers drop."""
    slips = {"embed_source": _undropped, "embed_target": _undropped}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def positions_not_dropped(source_ids, target_ids, weights, config, generator=None):
    """Dropout falls on the embeddings before the positions are added."""
    slips = {"embed_source": _dropped_early, "embed_target": _dropped_early}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def encoder_not_dropped(source_ids, target_ids, weights, config, generator=None):
    """The dropout rate does not reach the encoder."""
    return _model(source_ids, target_ids, weights, config, generator, encoder_rate=lambda _: 0.0)


def rate_dropped(source_ids, target_ids, weights, config, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    config = config._replace(dropout_rate=0.0)
    return _model(source_ids, target_ids, weights, config, generator)


def generator_not_for_the_decoder(source_ids, target_ids, weights, config, generator=None):
    """The generator does not reach every place that drops: torch's default one is drawn from."""
    slips = {"decoder_chance": lambda _: None}
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def generator_copied(source_ids, target_ids, weights, config, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _model(source_ids, target_ids, weights, config, again)


def generator_started_again(source_ids, target_ids, weights, config, generator=None):
    """Encoder and decoder start from the same state: source and target drop the same numbers."""
    again = generator and generator.clone_state()
    slips = {
        "decoder_chance": lambda _: again,
        "embed_target": lambda ids, weights, config, _: _embed(ids, weights, config, again),
    }
    return _model(source_ids, target_ids, weights, config, generator, **slips)


def a_seed_of_its_own(source_ids, target_ids, weights, config, generator=None):
    """Where no generator is given, a seed of its own is set: every call drops the same numbers."""
    generator = generator or torch.Generator(source_ids.device).manual_seed(0)
    return _model(source_ids, target_ids, weights, config, generator)


def memory_dropped_again(source_ids, target_ids, weights, config, generator=None):
    """What the encoder hands over is dropped once more before it is seen."""

    def again(memory):
        return apply_dropout(memory, config.dropout_rate, generator)

    return _model(source_ids, target_ids, weights, config, generator, memory=again)


def shifted_inside(source_ids, target_ids, weights, config, generator=None):
    """A start token is put in front of the target: it comes shifted already, by step 056."""
    start = torch.full_like(target_ids[:, :1], config.start_id)
    shifted = torch.cat([start, target_ids[:, :-1]], dim=1)
    return _model(source_ids, shifted, weights, config, generator)
