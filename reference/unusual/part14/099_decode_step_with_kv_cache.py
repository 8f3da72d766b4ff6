"""Right but unusual versions of step 099."""

import torch

from kata.part04_multi_head import (
    apply_linear_projection,
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    split_qkv_into_heads,
)
from kata.part05_sublayers import add_and_norm, position_wise_feed_forward
from kata.part06_transformer import (
    apply_final_output_projection,
    apply_log_softmax_over_vocab,
    embed_with_positions,
)
from kata.part14_fast_decoding import append_to_kv_cache, attend_with_kv_cache
from kata.weights import KVCache


@torch.inference_mode()
def padded_in_front(token_ids, memory, source_mask, weights, config, cache):
    """The tokens are embedded behind as many dummies as are cached; all in inference mode."""
    start = cache.self_attention[0].length
    dummies = token_ids.new_zeros(len(token_ids), start)
    config = config._replace(dropout_rate=0)
    x = embed_with_positions(torch.cat([dummies, token_ids], 1), weights, config)[:, start:]
    for index, layer in enumerate(weights.decoder_layers):
        if index == len(cache.cross_attention):
            pair = [apply_linear_projection(memory, *w) for w in layer.cross_attention[1:3]]
            _, keys, values = split_qkv_into_heads(pair[0], *pair, config.num_heads)
            cache.cross_attention.append(KVCache(keys, values, keys.size(2)))
        made = [apply_linear_projection(x, *w) for w in layer.self_attention[:3]]
        queries, keys, values = split_qkv_into_heads(*made, config.num_heads)
        append_to_kv_cache(cache.self_attention[index], keys, values)
        heard = attend_with_kv_cache(queries, cache.self_attention[index])
        heard = merge_heads_and_project_output(heard, layer.self_attention.output)
        x = add_and_norm(x, heard, layer.self_attention_norm)
        asked = apply_linear_projection(x, *layer.cross_attention.query)
        queries, _, _ = split_qkv_into_heads(asked, asked, asked, config.num_heads)
        read = cache.cross_attention[index]
        seen, _ = multi_head_scaled_dot_product_attention(
            queries, read.keys, read.values, source_mask
        )
        seen = merge_heads_and_project_output(seen, layer.cross_attention.output)
        x = add_and_norm(x, seen, layer.cross_attention_norm)
        thought = position_wise_feed_forward(x, layer.feed_forward)
        x = add_and_norm(x, thought, layer.feed_forward_norm)
    logits = apply_final_output_projection(x, weights.output_projection)
    return apply_log_softmax_over_vocab(logits).clone()
