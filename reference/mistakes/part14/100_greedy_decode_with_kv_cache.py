"""Wrong versions of step 100, one slip each."""

import torch

from kata.part06_transformer import encode_source
from kata.part11_decoding import greedy_decode, select_greedy_next_tokens
from kata.part14_fast_decoding import allocate_kv_cache, decode_step_with_kv_cache


def no_cache(source_ids, weights, config, max_length=None):
    """All that was said goes through the decoder at every turn: the right answer, but not fast."""
    return greedy_decode(source_ids, weights, config, max_length)


def forgets_every_turn(source_ids, weights, config, max_length=None):
    """A new cache is made at every turn: the newest word is all that the decoder knows."""
    return _decode(source_ids, weights, config, max_length, fresh=True)


def start_token_again(source_ids, weights, config, max_length=None):
    """The start token is fed at every turn, not the newest word."""
    return _decode(source_ids, weights, config, max_length, feed=lambda ids: ids[:, :1])


def first_end_ends_all(source_ids, weights, config, max_length=None):
    """The first row that says the end ends the whole batch."""
    return _decode(source_ids, weights, config, max_length, stop=torch.any)


def finished_rows_go_on(source_ids, weights, config, max_length=None):
    """A row that has said the end goes on talking while others are not done."""
    return _decode(source_ids, weights, config, max_length, fill=lambda ids, *_: ids)


def start_token_returned(source_ids, weights, config, max_length=None):
    """The start token comes back in front of the answer."""
    answer = _decode(source_ids, weights, config, max_length)
    return torch.cat([answer.new_full((len(answer), 1), config.start_id), answer], dim=1)


def no_stop(source_ids, weights, config, max_length=None):
    """Decoding does not stop when all have ended: the answer is padded up to max_length."""
    return _decode(source_ids, weights, config, max_length, stop=lambda _: False)


def length_of_the_config(source_ids, weights, config, max_length=None):
    """The config's max_length counts, whatever max_length was asked for."""
    return _decode(source_ids, weights, config, None)


def cut_to_the_config(source_ids, weights, config, max_length=None):
    """More words than config.max_length are asked for, and without a word fewer are said."""
    longest = config.max_length if max_length is None else min(max_length, config.max_length)
    return _decode(source_ids, weights, config, longest)


def cache_in_float32(source_ids, weights, config, max_length=None):
    """The cache is float32, whatever the weights are."""
    return _decode(source_ids, weights, config, max_length, dtype=torch.float32)


def cache_on_the_cpu(source_ids, weights, config, max_length=None):
    """The cache is made on the CPU, wherever the sentences are."""
    return _decode(source_ids, weights, config, max_length, device="cpu")


def encoder_drops(source_ids, weights, config, max_length=None):
    """The encoder runs with the dropout rate of the config."""
    return _decode(source_ids, weights, config, max_length, rate=config.dropout_rate)


def graph_built(source_ids, weights, config, max_length=None):
    """A gradient graph is built while the source is read: torch.no_grad() is missing."""
    return _decode(source_ids, weights, config, max_length, grad=torch.is_grad_enabled())


def _decode(
    source_ids,
    weights,
    config,
    max_length,
    feed=lambda ids: ids[:, -1:],
    fresh=False,
    fill=lambda ids, finished, pad_id: ids.masked_fill(finished, pad_id),
    stop=torch.all,
    dtype=None,
    device=None,
    rate=0.0,
    grad=False,
):
    max_length = config.max_length if max_length is None else max_length
    target_ids = source_ids.new_full((len(source_ids), 1), config.start_id)
    finished = torch.zeros_like(target_ids[:, 0], dtype=torch.bool)
    with torch.set_grad_enabled(grad):
        memory, mask = encode_source(source_ids, weights, config._replace(dropout_rate=rate))
        form = {"device": device or memory.device, "dtype": dtype or memory.dtype}
        cache = allocate_kv_cache(config, len(source_ids), max_length, **form)
        for _ in range(max_length):
            if fresh:
                cache = allocate_kv_cache(config, len(source_ids), max_length, **form)
            log_probs = decode_step_with_kv_cache(
                feed(target_ids), memory, mask, weights, config, cache
            )
            next_ids = fill(select_greedy_next_tokens(log_probs), finished, config.pad_id)
            target_ids = torch.cat([target_ids, next_ids[:, None]], dim=1)
            finished = finished | (next_ids == config.end_id)
            if stop(finished):
                break
    return target_ids[:, 1:]
