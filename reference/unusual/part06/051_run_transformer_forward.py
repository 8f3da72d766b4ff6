"""051 · run_transformer_forward, right all the same."""

import math

import torch

from kata.part02_embeddings import build_sinusoidal_positional_encoding
from kata.part03_attention import (
    build_causal_mask,
    build_padding_mask,
    combine_padding_and_causal_masks,
)
from kata.part05_sublayers import apply_dropout
from kata.part06_transformer import (
    apply_final_output_projection,
    apply_log_softmax_over_vocab,
    assemble_decoder_layer,
    decode_target,
    encode_source,
    stack_encoder_layers,
)


def padding_of_the_target_masked_too(source_ids, target_ids, weights, config, generator=None):
    """The target's mask as 016 makes it; embeddings by an index, positions from a long table."""
    if source_ids.shape[0] != target_ids.shape[0]:
        raise ValueError(f"batches of {source_ids.shape[0]} and {target_ids.shape[0]}")
    longest = max(source_ids.shape[1], target_ids.shape[1])
    if longest > config.max_length:
        raise ValueError(f"{longest} tokens, {config.max_length} are allowed")
    if min(source_ids.min(), target_ids.min()) < 0:
        raise IndexError("an id below zero")
    table, rate = weights.token_embedding, config.dropout_rate
    waves = build_sinusoidal_positional_encoding(
        config.max_length, config.d_model, device=table.device, dtype=torch.float64
    )
    source, target = (
        apply_dropout(
            table[ids] * math.sqrt(config.d_model) + waves[: ids.shape[1]].to(table.dtype),
            rate,
            generator,
        )
        for ids in (source_ids, target_ids)
    )
    source_mask = build_padding_mask(source_ids, config.pad_id)
    target_mask = combine_padding_and_causal_masks(
        build_padding_mask(target_ids, config.pad_id),
        build_causal_mask(target_ids.shape[1], target_ids.device),
    )
    heads = config.num_heads
    memory = stack_encoder_layers(
        source, weights.encoder_layers, heads, source_mask, rate, generator
    )
    for layer in weights.decoder_layers:
        target = assemble_decoder_layer(
            target, memory, layer, heads, target_mask, source_mask, rate, generator
        )
    logits = apply_final_output_projection(target, weights.output_projection)
    return apply_log_softmax_over_vocab(logits)


def one_table_whatever_the_output_says(source_ids, target_ids, weights, config, generator=None):
    """The output projection takes the embedding table, as section 3.4 has it, and its own bias."""
    if len(source_ids) != len(target_ids):
        raise ValueError(f"{len(source_ids)} sources and {len(target_ids)} targets")
    shared = weights.output_projection._replace(weight=weights.token_embedding)
    weights = weights._replace(output_projection=shared)
    memory, mask = encode_source(source_ids, weights, config, generator)
    return decode_target(target_ids, memory, mask, weights, config, generator)
