"""Part 6 · Encoder, Decoder, and Full Model.

Every part of the machine lies ready; here it is put together. One pattern holds it all: a sub-layer
does its work, and what it found is added to what came in, and normed. An encoder layer is two of
these (039–041), a decoder layer three (043–046), and a stack hands each layer's answer on to the
next (042, 047). At the far end every position gets one score for each word of the vocabulary (048),
read from the very table that the words came in by (049), and the scores become log-probabilities
(050). Step 051 runs the whole of figure 1, from token ids to predictions.

Dropout sits where section 5.4 of the paper puts it: on what a sub-layer hands over, and on
embeddings plus positions. A layer is post-norm, ``LayerNorm(x + Sublayer(x))``, and a stack ends
with its last layer.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from kata.part02_embeddings import (
    add_positional_encoding,
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part03_attention import build_causal_mask, build_padding_mask
from kata.part04_multi_head import apply_linear_projection, assemble_multi_head_attention_forward
from kata.part05_sublayers import add_and_norm, apply_dropout, position_wise_feed_forward
from kata.weights import (
    DecoderLayerWeights,
    EncoderLayerWeights,
    LinearWeights,
    TransformerConfig,
    TransformerWeights,
)


def encoder_layer_self_attention_sublayer(
    x: Float[Tensor, "batch length d_model"],
    layer: EncoderLayerWeights,
    num_heads: int,
    source_mask: Bool[Tensor, "batch 1 1 length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Let the words of a sentence hear each other out, and add what each has heard to itself.

    ``LayerNorm(x + Dropout(MultiHead(x, x, x)))``, with the layer's self-attention and the norm
    that belongs to it. ``source_mask`` is True at real tokens, as step 014 makes it.

    Sections 3.1 and 3.2.3 of the paper: the lower half of the encoder layer in figure 1.
    """
    heard, _ = assemble_multi_head_attention_forward(
        x, x, layer.self_attention, num_heads, source_mask
    )
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def encoder_layer_feed_forward_sublayer(
    x: Float[Tensor, "batch length d_model"],
    layer: EncoderLayerWeights,
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Let every word think over by itself what it has heard, and add what came of it.

    ``LayerNorm(x + Dropout(FFN(x)))``, with the layer's feed-forward network and the norm that
    belongs to it. No word sees another here.

    Sections 3.1 and 3.3 of the paper: the upper half of the encoder layer in figure 1.
    """
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def assemble_encoder_layer(
    x: Float[Tensor, "batch length d_model"],
    layer: EncoderLayerWeights,
    num_heads: int,
    source_mask: Bool[Tensor, "batch 1 1 length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Run one floor of the encoder: first listen to the others, then think alone.

    Step 039, and step 040 on what came of it. Not with torch's own layers.

    Section 3.1 of the paper: "each layer has two sub-layers".
    """
    x = encoder_layer_self_attention_sublayer(
        x, layer, num_heads, source_mask, dropout_rate, generator
    )
    return encoder_layer_feed_forward_sublayer(x, layer, dropout_rate, generator)


def stack_encoder_layers(
    x: Float[Tensor, "batch length d_model"],
    layers: tuple[EncoderLayerWeights, ...],
    num_heads: int,
    source_mask: Bool[Tensor, "batch 1 1 length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Send the sentence up the encoder, floor by floor; what the last one hands out is the memory.

    ``x ← layer(x)`` for every layer in order, each with its own weights and the same mask. The
    last layer has normed its answer already: no norm comes after the stack.

    Section 3.1 of the paper: "a stack of N = 6 identical layers", the left half of figure 1.
    """
    for layer in layers:
        x = assemble_encoder_layer(x, layer, num_heads, source_mask, dropout_rate, generator)
    return x


def decoder_layer_masked_self_attention_sublayer(
    x: Float[Tensor, "batch length d_model"],
    layer: DecoderLayerWeights,
    num_heads: int,
    target_mask: Bool[Tensor, "... length length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Let each word of the translation listen to the words before it, and to itself.

    ``LayerNorm(x + Dropout(MultiHead(x, x, x)))``, with the layer's self-attention and its norm.
    ``target_mask`` has the rule built in already: step 016 makes it, ``(batch, 1, length,
    length)``, or step 015, ``(length, length)``.

    Section 3.2.3 of the paper: the masked attention at the foot of the decoder in figure 1.
    """
    heard, _ = assemble_multi_head_attention_forward(
        x, x, layer.self_attention, num_heads, target_mask
    )
    return add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)


def decoder_layer_cross_attention_sublayer(
    x: Float[Tensor, "batch target_length d_model"],
    memory: Float[Tensor, "batch source_length d_model"],
    layer: DecoderLayerWeights,
    num_heads: int,
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch target_length d_model"]:
    """Let each word of the translation look the source sentence over, and add what it saw there.

    ``LayerNorm(x + Dropout(MultiHead(x, memory, memory)))``: queries from the decoder's ``x``, keys
    and values from ``memory``, the encoder's output. What must not be seen is padding of the
    *source*: ``source_mask`` is True at its real tokens.

    Section 3.2.3 of the paper: "encoder-decoder attention", the middle of the decoder in figure 1.
    """
    seen, _ = assemble_multi_head_attention_forward(
        x, memory, layer.cross_attention, num_heads, source_mask
    )
    return add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)


def decoder_layer_feed_forward_sublayer(
    x: Float[Tensor, "batch length d_model"],
    layer: DecoderLayerWeights,
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Let every word of the translation think over by itself what it has heard and seen.

    ``LayerNorm(x + Dropout(FFN(x)))``, with the decoder layer's feed-forward network and its norm,
    the layer's third.

    Sections 3.1 and 3.3 of the paper: the top of the decoder layer in figure 1.
    """
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def assemble_decoder_layer(
    x: Float[Tensor, "batch target_length d_model"],
    memory: Float[Tensor, "batch source_length d_model"],
    layer: DecoderLayerWeights,
    num_heads: int,
    target_mask: Bool[Tensor, "... target_length target_length"],
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch target_length d_model"]:
    """Run one floor of the decoder: listen to what is said so far, look at the source, think alone.

    Steps 043, 044 and 045, each on what the one before made. Not with torch's own layers.

    Section 3.1 of the paper: the decoder's layer "inserts a third sub-layer".
    """
    x = decoder_layer_masked_self_attention_sublayer(
        x, layer, num_heads, target_mask, dropout_rate, generator
    )
    x = decoder_layer_cross_attention_sublayer(
        x, memory, layer, num_heads, source_mask, dropout_rate, generator
    )
    return decoder_layer_feed_forward_sublayer(x, layer, dropout_rate, generator)


def stack_decoder_layers(
    x: Float[Tensor, "batch target_length d_model"],
    memory: Float[Tensor, "batch source_length d_model"],
    layers: tuple[DecoderLayerWeights, ...],
    num_heads: int,
    target_mask: Bool[Tensor, "... target_length target_length"],
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
    dropout_rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch target_length d_model"]:
    """Send the translation up the decoder, floor by floor, with one memory lying open on each.

    ``x ← layer(x, memory)`` for every layer in order, each with its own weights. The memory is the
    same for all of them: what the encoder's *last* layer handed out. No norm comes after the stack.

    Section 3.1 of the paper: the right half of figure 1.
    """
    for layer in layers:
        x = assemble_decoder_layer(
            x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator
        )
    return x


def apply_final_output_projection(
    x: Float[Tensor, "batch length d_model"], output_projection: LinearWeights
) -> Float[Tensor, "batch length vocab"]:
    """Ask each position how well every word of the vocabulary would fit there: its logits.

    ``x Wᵀ + b``, where ``W`` has one row for each word; the bias may be ``None``. Logits are plain
    scores, of any size and sign.

    Section 3.4 of the paper: "the usual learned linear transformation", "Linear" in figure 1.
    """
    return apply_linear_projection(x, *output_projection)


def tie_output_projection_to_token_embeddings(weights: TransformerWeights) -> TransformerWeights:
    """Let the words leave through the table that they came in by.

    Returns the weights with the token embeddings as the weight of the output projection: the very
    same tensor, not a copy, so that the gradients of both uses add up in it. The output's bias and
    all other weights stay as they are.

    Section 3.4 of the paper: "we share the same weight matrix between the two embedding layers and
    the pre-softmax linear transformation".
    """
    tied = weights.output_projection._replace(weight=weights.token_embedding)
    return weights._replace(output_projection=tied)


def apply_log_softmax_over_vocab(
    logits: Float[Tensor, "batch length vocab"],
) -> Float[Tensor, "batch length vocab"]:
    """Turn each position's scores into log-probabilities, whose exponentials add up to 1.

    ``zᵢ − log Σⱼ exp(zⱼ)`` over the vocabulary. The largest score is taken off first, which changes
    nothing on paper and keeps the exponentials from overflowing. Not with torch's softmaxes or its
    ``logsumexp``.

    Section 3.4 of the paper, "softmax function to convert the decoder output to predicted
    next-token probabilities"; in logarithms, because the loss and beam search add them up.
    """
    with torch.no_grad():  # it cancels, so no gradient has to go through it
        highest = logits.amax(dim=-1, keepdim=True)
    shifted = logits - highest
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()


def embed_with_positions(
    token_ids: Int[Tensor, "batch length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Given: turn ids into what a stack reads, embeddings plus positions, dropped out together.

    A sentence longer than ``config.max_length`` raises ``ValueError``.
    """
    length, table = token_ids.shape[1], weights.token_embedding
    if length > config.max_length:
        raise ValueError(f"at most max_length = {config.max_length} tokens, got {length}")
    embeddings = scale_embeddings(lookup_token_embeddings(token_ids, table))
    positions = build_sinusoidal_positional_encoding(
        length, config.d_model, device=table.device, dtype=table.dtype
    )
    x = add_positional_encoding(embeddings, positions)
    return apply_dropout(x, config.dropout_rate, generator)


def encode_source(
    source_ids: Int[Tensor, "batch source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    generator: torch.Generator | None = None,
) -> tuple[Float[Tensor, "batch source_length d_model"], Bool[Tensor, "batch 1 1 source_length"]]:
    """Given: read the source once. Returns the memory, and the mask that says where it is real."""
    source_mask = build_padding_mask(source_ids, config.pad_id)
    x = embed_with_positions(source_ids, weights, config, generator)
    memory = stack_encoder_layers(
        x, weights.encoder_layers, config.num_heads, source_mask, config.dropout_rate, generator
    )
    return memory, source_mask


def decode_target(
    target_ids: Int[Tensor, "batch target_length"],
    memory: Float[Tensor, "batch source_length d_model"],
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch target_length vocab"]:
    """Given: score every next word. Returns log-probabilities at each position of the target.

    Only the causal mask applies to the target. Padding stands behind a sentence's last word, where
    no word of the sentence looks anyway; and while decoding, no token is padding.
    """
    x = embed_with_positions(target_ids, weights, config, generator)
    target_mask = build_causal_mask(target_ids.shape[1], target_ids.device)
    x = stack_decoder_layers(
        x,
        memory,
        weights.decoder_layers,
        config.num_heads,
        target_mask,
        source_mask,
        config.dropout_rate,
        generator,
    )
    logits = apply_final_output_projection(x, weights.output_projection)
    return apply_log_softmax_over_vocab(logits)


def run_transformer_forward(
    source_ids: Int[Tensor, "batch source_length"],
    target_ids: Int[Tensor, "batch target_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch target_length vocab"]:
    """Read a sentence, hear the translation so far, and score at each position what comes next.

    Token ids become embeddings, scaled and stamped with their positions; the encoder makes the
    memory, the decoder reads it, and the output projection and log-softmax make log-probabilities
    of it: position t's are about the token after ``target_ids[:, t]``, and know of none behind it.
    One table serves source, target and output. Dropout at ``config.dropout_rate``. What comes out
    at padding of the target means nothing.

    Batches of different sizes raise ``ValueError``, and so do sentences longer than
    ``config.max_length``. An id that the table has no row for raises ``IndexError``.

    Section 3 of the paper: all of figure 1.
    """
    sources, targets = len(source_ids), len(target_ids)
    if sources != targets:
        raise ValueError(f"as many targets as sources are wanted, got {targets} for {sources}")
    memory, source_mask = encode_source(source_ids, weights, config, generator)
    return decode_target(target_ids, memory, source_mask, weights, config, generator)
