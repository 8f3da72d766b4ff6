"""Wrong versions of step 074, one slip each."""

import torch

from kata.part02_embeddings import (
    add_positional_encoding,
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part03_attention import (
    build_causal_mask,
    build_padding_mask,
    combine_padding_and_causal_masks,
)
from kata.part06_transformer import (
    apply_final_output_projection,
    decode_target,
    encode_source,
    run_transformer_forward,
    stack_decoder_layers,
)
from kata.part11_decoding import select_greedy_next_tokens


def all_must_end_at_once(source_ids, weights, config, max_length=None):
    """Nobody is remembered as finished: all rows have to say the end in one and the same turn."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        finish=lambda _, next_ids, config: next_ids == config.end_id,
        fill=lambda next_ids, *_: next_ids,
    )


def first_end_ends_all(source_ids, weights, config, max_length=None):
    """The first row that says the end ends the whole batch."""
    return _decode(source_ids, weights, config, max_length, stop=torch.any)


def finished_rows_go_on(source_ids, weights, config, max_length=None):
    """A row that has said the end goes on talking while others are not done."""
    return _decode(source_ids, weights, config, max_length, fill=lambda next_ids, *_: next_ids)


def filled_with_the_end(source_ids, weights, config, max_length=None):
    """A finished row is filled with the end token, not with padding."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        fill=lambda next_ids, finished, config: next_ids.masked_fill(finished, config.end_id),
    )


def filled_with_zero(source_ids, weights, config, max_length=None):
    """A finished row is filled with 0, whatever the padding id is."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        fill=lambda next_ids, finished, _: next_ids.masked_fill(finished, 0),
    )


def end_left_out(source_ids, weights, config, max_length=None):
    """The end token is left out of the answer: padding stands in its place."""
    answer = _decode(source_ids, weights, config, max_length)
    return answer.masked_fill(answer == config.end_id, config.pad_id)


def padding_ends_too(source_ids, weights, config, max_length=None):
    """A padding id that the model says ends the sentence, as the end token does."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        finish=lambda finished, next_ids, config: (
            finished | (next_ids == config.end_id) | (next_ids == config.pad_id)
        ),
    )


def start_token_returned(source_ids, weights, config, max_length=None):
    """The start token comes back in front of the answer."""
    answer = _decode(source_ids, weights, config, max_length)
    return torch.cat([answer.new_full((len(answer), 1), config.start_id), answer], dim=1)


def start_token_takes_room(source_ids, weights, config, max_length=None):
    """The start token counts towards max_length: one word too few is said."""
    max_length = config.max_length if max_length is None else max_length
    return _decode(source_ids, weights, config, max_length - 1)


def start_looked_at_for_the_end(source_ids, weights, config, max_length=None):
    """The start token is taken for the end where both have one id: nothing is said."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        begin=lambda target_ids, config: target_ids[:, 0] == config.end_id,
    )


def length_of_the_config(source_ids, weights, config, max_length=None):
    """The config's max_length counts, whatever max_length was asked for."""
    return _decode(source_ids, weights, config, None)


def one_start_token(source_ids, weights, config, max_length=None):
    """One start token is made, for a single sentence, however many there are."""
    return _decode(source_ids, weights, config, max_length, rows=1)


def filled_up_to_the_last_place(source_ids, weights, config, max_length=None):
    """Decoding does not stop when all have ended: the answer is padded up to max_length."""
    return _decode(source_ids, weights, config, max_length, stop=_never)


def runs_on_and_trims(source_ids, weights, config, max_length=None):
    """Decoding runs on to max_length when all have ended, and what was too much is cut off."""
    answer = _decode(source_ids, weights, config, max_length, stop=_never)
    return answer[:, : _decode(source_ids, weights, config, max_length).shape[1]]


def encodes_for_every_word(source_ids, weights, config, max_length=None):
    """The whole model runs for every word: the source is encoded again and again."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        score=lambda target_ids, _memory, _mask, weights, config: run_transformer_forward(
            source_ids, target_ids, weights, config
        ),
    )


def newest_word_alone(source_ids, weights, config, max_length=None):
    """Only the newest word is fed back in: what was said before it is forgotten."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        score=lambda target_ids, *rest: decode_target(target_ids[:, -1:], *rest),
    )


def first_position(source_ids, weights, config, max_length=None):
    """The scores at the first position are read at every turn, not those at the last."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        score=lambda *arguments: decode_target(*arguments)[:, :1],
    )


def padding_hidden_in_the_target(source_ids, weights, config, max_length=None):
    """A padding id that the model has said is masked: later words do not hear it."""
    return _decode(source_ids, weights, config, max_length, score=_with_padding_mask)


def source_padding_heard(source_ids, weights, config, max_length=None):
    """The source's padding is not masked in cross-attention."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        score=lambda target_ids, memory, mask, *rest: decode_target(
            target_ids, memory, torch.ones_like(mask), *rest
        ),
    )


def dropout_left_on(source_ids, weights, config, max_length=None):
    """Dropout stays at the rate of the config."""
    return _decode(source_ids, weights, config, max_length, rate=config.dropout_rate)


def graph_built(source_ids, weights, config, max_length=None):
    """A gradient graph is built while decoding: torch.no_grad() is missing."""
    return _decode(source_ids, weights, config, max_length, grad=torch.is_grad_enabled())


def flags_on_the_cpu(source_ids, weights, config, max_length=None):
    """The flags of the finished rows are made on the CPU, wherever the sentences are."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        begin=lambda target_ids, _: torch.zeros(len(target_ids), dtype=torch.bool),
    )


def zero_taken_for_none(source_ids, weights, config, max_length=None):
    """A max_length of 0 counts as not given: ``or`` cannot tell 0 from None."""
    return _decode(source_ids, weights, config, max_length or config.max_length)


def starts_with_the_end(source_ids, weights, config, max_length=None):
    """The first word that the model hears is config.end_id, not config.start_id."""
    return _decode(source_ids, weights, config._replace(start_id=config.end_id), max_length)


def ended_only_just_now(source_ids, weights, config, max_length=None):
    """A row that ended earlier counts as unfinished again: only the newest word is looked at."""
    return _decode(
        source_ids,
        weights,
        config,
        max_length,
        finish=lambda _, next_ids, config: next_ids == config.end_id,
    )


def _never(finished):
    return False


def _none_finished(target_ids, config):
    return torch.zeros_like(target_ids[:, 0], dtype=torch.bool)


def _or_now(finished, next_ids, config):
    return finished | (next_ids == config.end_id)


def _pad_finished(next_ids, finished, config):
    return next_ids.masked_fill(finished, config.pad_id)


def _decode(
    source_ids,
    weights,
    config,
    max_length,
    begin=_none_finished,
    score=decode_target,
    fill=_pad_finished,
    finish=_or_now,
    stop=torch.all,
    rate=0.0,
    grad=False,
    rows=None,
):
    max_length = config.max_length if max_length is None else max_length
    config = config._replace(dropout_rate=rate)
    target_ids = source_ids.new_full((rows or len(source_ids), 1), config.start_id)
    finished = begin(target_ids, config)
    with torch.set_grad_enabled(grad):
        memory, mask = encode_source(source_ids, weights, config)
        for _ in range(max_length):
            log_probs = score(target_ids, memory, mask, weights, config)
            next_ids = fill(select_greedy_next_tokens(log_probs), finished, config)
            target_ids = torch.cat([target_ids, next_ids[:, None]], dim=1)
            finished = finish(finished, next_ids, config)
            if stop(finished):
                break
    return target_ids[:, 1:]


def _with_padding_mask(target_ids, memory, mask, weights, config):
    x = scale_embeddings(lookup_token_embeddings(target_ids, weights.token_embedding))
    positions = build_sinusoidal_positional_encoding(
        x.shape[1], config.d_model, device=x.device, dtype=x.dtype
    )
    target_mask = combine_padding_and_causal_masks(
        build_padding_mask(target_ids, config.pad_id),
        build_causal_mask(x.shape[1], target_ids.device),
    )
    x = stack_decoder_layers(
        add_positional_encoding(x, positions),
        memory,
        weights.decoder_layers,
        config.num_heads,
        target_mask,
        mask,
    )
    return apply_final_output_projection(x, weights.output_projection)
