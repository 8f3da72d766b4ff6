"""Wrong versions of step 099, one slip each."""

import torch

from kata.part02_embeddings import (
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part04_multi_head import (
    apply_linear_projection,
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_qkv_into_heads,
)
from kata.part05_sublayers import add_and_norm
from kata.part06_transformer import (
    apply_final_output_projection,
    apply_log_softmax_over_vocab,
    decoder_layer_feed_forward_sublayer,
)
from kata.part14_fast_decoding import append_to_kv_cache, attend_with_kv_cache
from kata.weights import DecoderCache, KVCache


def positions_from_zero(token_ids, memory, source_mask, weights, config, cache):
    """Every new token stands at position 0."""
    return _step(token_ids, memory, source_mask, weights, config, cache, start=lambda _: 0)


def positions_one_late(token_ids, memory, source_mask, weights, config, cache):
    """Positions are counted from 1: each token stands one place too far."""
    return _step(
        token_ids, memory, source_mask, weights, config, cache, start=lambda length: length + 1
    )


def all_at_one_position(token_ids, memory, source_mask, weights, config, cache):
    """Several new tokens all get the position of the first."""
    return _step(token_ids, memory, source_mask, weights, config, cache, stride=0)


def not_scaled(token_ids, memory, source_mask, weights, config, cache):
    """The embeddings are not scaled by the square root of d_model."""
    return _step(
        token_ids, memory, source_mask, weights, config, cache, scale=lambda embedded: embedded
    )


def attended_before_appended(token_ids, memory, source_mask, weights, config, cache):
    """The token attends first and is appended afterwards: it does not hear itself."""
    return _step(token_ids, memory, source_mask, weights, config, cache, hear=_hear_then_append)


def new_tokens_alone(token_ids, memory, source_mask, weights, config, cache):
    """The new tokens attend to themselves alone, not to the cache."""
    return _step(token_ids, memory, source_mask, weights, config, cache, hear=_hear_the_new)


def source_padding_heard(token_ids, memory, source_mask, weights, config, cache):
    """The source's padding is not masked."""
    return _step(token_ids, memory, torch.ones_like(source_mask), weights, config, cache)


def memory_read_every_time(token_ids, memory, source_mask, weights, config, cache):
    """The memory is projected anew at every step."""
    cache.cross_attention = []
    return _step(token_ids, memory, source_mask, weights, config, cache)


def memory_appended_every_time(token_ids, memory, source_mask, weights, config, cache):
    """The memory is projected anew at every step, and put behind what the cache has of it."""
    read = DecoderCache(cache.self_attention, [])
    answer = _step(token_ids, memory, source_mask, weights, config, read)
    cache.cross_attention += read.cross_attention
    return answer


def kept_in_a_copy(token_ids, memory, source_mask, weights, config, cache):
    """The memory's keys and values are put into a copy of the cache, and lost with it."""
    copied = DecoderCache(cache.self_attention, [*cache.cross_attention])
    return _step(token_ids, memory, source_mask, weights, config, copied)


def one_read_for_all_layers(token_ids, memory, source_mask, weights, config, cache):
    """The first layer's keys and values of the memory are used in all layers."""
    return _step(token_ids, memory, source_mask, weights, config, cache, reader=lambda _: 0)


def first_layer_alone(token_ids, memory, source_mask, weights, config, cache):
    """All layers write into the first layer's cache."""
    shared = DecoderCache(cache.self_attention[:1] * config.num_layers, cache.cross_attention)
    answer = _step(token_ids, memory, source_mask, weights, config, shared)
    cache.cross_attention = shared.cross_attention
    return answer


def layers_write_over_each_other(token_ids, memory, source_mask, weights, config, cache):
    """All layers share one cache: each writes its keys over those of the layer below."""
    begin = cache.self_attention[0].length

    def hear(queries, keys, values, said):
        said.length = begin
        return _append_then_hear(queries, keys, values, said)

    shared = DecoderCache(cache.self_attention[:1] * config.num_layers, cache.cross_attention)
    answer = _step(token_ids, memory, source_mask, weights, config, shared, hear=hear)
    cache.cross_attention = shared.cross_attention
    return answer


def first_self_attention_for_all(token_ids, memory, source_mask, weights, config, cache):
    """The first layer's self-attention serves all layers."""
    first = weights.decoder_layers[0].self_attention
    layers = tuple(layer._replace(self_attention=first) for layer in weights.decoder_layers)
    weights = weights._replace(decoder_layers=layers)
    return _step(token_ids, memory, source_mask, weights, config, cache)


def last_position_only(token_ids, memory, source_mask, weights, config, cache):
    """Of several new tokens only the last one's scores come back."""
    return _step(token_ids, memory, source_mask, weights, config, cache)[:, -1:]


def logits(token_ids, memory, source_mask, weights, config, cache):
    """Logits come back, not log-probabilities."""
    return _step(token_ids, memory, source_mask, weights, config, cache, finish=lambda x: x)


def dropout_left_on(token_ids, memory, source_mask, weights, config, cache):
    """Dropout stays at the rate of the config."""
    return _step(token_ids, memory, source_mask, weights, config, cache, rate=config.dropout_rate)


def graph_built(token_ids, memory, source_mask, weights, config, cache):
    """A gradient graph is built while decoding: torch.no_grad() is missing."""
    return _step(
        token_ids, memory, source_mask, weights, config, cache, grad=torch.is_grad_enabled()
    )


def longer_than_the_config(token_ids, memory, source_mask, weights, config, cache):
    """Nobody looks whether the tokens are more than config.max_length."""
    longer = config._replace(max_length=10**6)
    return _step(token_ids, memory, source_mask, weights, longer, cache)


def _append_then_hear(queries, keys, values, said):
    append_to_kv_cache(said, keys, values)
    return attend_with_kv_cache(queries, said)


def _hear_then_append(queries, keys, values, said):
    old = said.keys[:, :, : said.length], said.values[:, :, : said.length]
    heads, _ = multi_head_scaled_dot_product_attention(queries, *old)
    append_to_kv_cache(said, keys, values)
    return heads


def _hear_the_new(queries, keys, values, said):
    append_to_kv_cache(said, keys, values)
    return attend_with_kv_cache(queries, KVCache(keys, values, keys.shape[2]))


def _step(
    token_ids,
    memory,
    source_mask,
    weights,
    config,
    cache,
    start=lambda length: length,
    stride=1,
    scale=scale_embeddings,
    hear=_append_then_hear,
    reader=lambda index: index,
    finish=apply_log_softmax_over_vocab,
    rate=0.0,
    grad=False,
):
    with torch.set_grad_enabled(grad):
        begin, new = cache.self_attention[0].length, token_ids.shape[1]
        if begin + new > config.max_length:
            raise ValueError(f"at most {config.max_length} tokens, got {begin + new}")
        table, heads = weights.token_embedding, config.num_heads
        rows = start(begin) + stride * torch.arange(new, device=table.device)
        positions = build_sinusoidal_positional_encoding(
            begin + new + 1, config.d_model, device=table.device, dtype=table.dtype
        )
        x = scale(lookup_token_embeddings(token_ids, table)) + positions[rows]
        if not cache.cross_attention:
            for layer in weights.decoder_layers:
                _, keys, values = split_qkv_into_heads(
                    *project_to_query_key_value(memory, memory, layer.cross_attention), heads
                )
                cache.cross_attention.append(KVCache(keys, values, memory.shape[1]))
        for index, layer in enumerate(weights.decoder_layers):
            said, read = cache.self_attention[index], cache.cross_attention[reader(index)]
            made = split_qkv_into_heads(
                *project_to_query_key_value(x, x, layer.self_attention), heads
            )
            heard = merge_heads_and_project_output(hear(*made, said), layer.self_attention.output)
            x = add_and_norm(x, heard, layer.self_attention_norm, rate)
            asked = apply_linear_projection(x, *layer.cross_attention.query)
            queries, _, _ = split_qkv_into_heads(asked, asked, asked, heads)
            seen, _ = multi_head_scaled_dot_product_attention(
                queries, read.keys, read.values, source_mask
            )
            seen = merge_heads_and_project_output(seen, layer.cross_attention.output)
            x = add_and_norm(x, seen, layer.cross_attention_norm, rate)
            x = decoder_layer_feed_forward_sublayer(x, layer, rate)
        return finish(apply_final_output_projection(x, weights.output_projection))
