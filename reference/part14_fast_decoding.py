"""Part 14 · Fast Decoding.

A decoder that says its hundredth word asks the first ninety-nine for their keys and values, and
they answer what they answered the last time: nobody looks ahead, so nothing said later can change
them. So write the answers down. A cache is a room of fixed size (096) that fills from the front
(097) and is attended to as far as it is filled (098). One step through the decoder then takes one
new token (099), and greedy decoding gives the old answer in a fraction of the time (100). Beam
search must sort the room anew whenever its hypotheses change places (101).

The rest is about choosing words. Sampling draws from the model's distribution with the tail cut off
(102). Speculative decoding lets a small model guess ahead and a large one check all guesses at
once, in such a way that not a single probability is changed (103).

Decoding runs without dropout and without a gradient graph. The caches are changed in place, and are
``KVCache`` and ``DecoderCache`` of ``kata.weights``.
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
from kata.part03_attention import softmax_attention_weights
from kata.part04_multi_head import (
    apply_linear_projection,
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_last_dim_into_heads,
    split_qkv_into_heads,
    transpose_heads_before_sequence,
)
from kata.part05_sublayers import add_and_norm
from kata.part06_transformer import (
    apply_final_output_projection,
    apply_log_softmax_over_vocab,
    decoder_layer_feed_forward_sublayer,
    encode_source,
)
from kata.part11_decoding import select_greedy_next_tokens
from kata.weights import (
    DecoderCache,
    DecoderLayerWeights,
    KVCache,
    LinearWeights,
    TransformerConfig,
    TransformerWeights,
)


def allocate_kv_cache(
    config: TransformerConfig,
    batch_size: int,
    max_length: int,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> DecoderCache:
    """Clear a room for every layer before the first word is said, with a seat for every word.

    One ``KVCache`` for each of ``config.num_layers`` layers: keys and values of shape
    ``(batch_size, num_heads, max_length, d_k)``, zeros, with length 0. No two tensors share memory.
    ``cross_attention`` is an empty list: the memory's keys and values come with the first token.
    ``device=None`` is torch's own default.

    Section 3.2.2 of the paper, where ``d_k = d_model / h``.
    """
    shape = batch_size, config.num_heads, max_length, config.d_model // config.num_heads

    def room() -> Float[Tensor, "batch heads capacity d_k"]:
        return torch.zeros(shape, device=device, dtype=dtype)

    layers = [KVCache(keys=room(), values=room(), length=0) for _ in range(config.num_layers)]
    return DecoderCache(self_attention=layers, cross_attention=[])


def append_to_kv_cache(
    cache: KVCache,
    keys: Float[Tensor, "batch heads new d_k"],
    values: Float[Tensor, "batch heads new d_k"],
) -> None:
    """Seat the newcomers behind those who came before.

    Writes ``keys`` and ``values``, of one position or of several, at ``cache.length`` and behind
    it, and moves ``cache.length`` on. In place, without a gradient graph; nothing is returned.

    Keys or values that are not ``(batch, heads, new, d_k)`` as the cache and the keys have them,
    and more positions than are free, raise ``ValueError``; the cache is then as it was.

    The paper does not write this down: it is what every fast decoder does with its section 3.2.3.
    """
    new, start, capacity = keys.shape[-2], cache.length, cache.keys.shape[2]
    wanted = (*cache.keys.shape[:2], new, cache.keys.shape[3])
    for name, given in (("keys", keys), ("values", values)):
        if given.shape != wanted:
            raise ValueError(f"{name} must have shape {wanted}, got {tuple(given.shape)}")
    if start + new > capacity:
        raise ValueError(
            f"{new} more positions do not fit: {start} of the cache's {capacity} are taken"
        )
    cache.keys[:, :, start : start + new] = keys.detach()
    cache.values[:, :, start : start + new] = values.detach()
    cache.length = start + new


def attend_with_kv_cache(
    queries: Float[Tensor, "batch heads queries d_k"], cache: KVCache
) -> Float[Tensor, "batch heads queries d_k"]:
    """Let the newest tokens listen to all that the cache has kept, themselves included.

    The queries belong to the last positions that are taken: query i of n sees the keys
    0 … ``cache.length`` − n + i, its own the last of them. ``softmax(Q Kᵀ / √d_k) V`` for each
    head. What lies behind ``cache.length`` is not looked at.

    More queries than positions taken raise ``ValueError``.

    Section 3.2.3 of the paper: the decoder's masked self-attention, its last rows alone.
    """
    newest, length = queries.shape[2], cache.length
    if newest > length:
        raise ValueError(f"{newest} queries need their own keys cached, there are {length}")
    mask = torch.ones(newest, length, dtype=torch.bool, device=queries.device)
    mask = mask.tril(length - newest)
    keys, values = cache.keys[:, :, :length], cache.values[:, :, :length]
    heads, _ = multi_head_scaled_dot_product_attention(queries, keys, values, mask)
    return heads


def decode_step_with_kv_cache(
    token_ids: Int[Tensor, "batch new"],
    memory: Float[Tensor, "batch source_length d_model"],
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    cache: DecoderCache,
) -> Float[Tensor, "batch new vocab"]:
    """Send only the new tokens up the decoder; what the old ones had to say is in the cache.

    The new tokens, one a sentence or several, stand at positions ``length``, ``length + 1`` … of
    the cache, whose layers keep their keys and values as well. Returns log-probabilities at each of
    them: those that ``decode_target`` gives for all the tokens so far, its last positions alone.
    On the first call the memory's keys and values are projected, once a layer, and put into
    ``cache.cross_attention``, each a ``KVCache`` that is full; later calls take them from there. No
    dropout, no gradient graph. The cache is changed in place, and has a layer for each of the
    decoder's, which has one at least.

    More tokens than ``config.max_length``, or than the cache has room for, raise ``ValueError``,
    and no layer's keys, values or length have changed.

    Section 3 of the paper, "auto-regressive", without its waste.
    """
    with torch.no_grad():
        x = _embed_from(cache.self_attention[0].length, token_ids, weights, config)
        if not cache.cross_attention:
            cache.cross_attention = [
                _read_memory(memory, layer, config.num_heads) for layer in weights.decoder_layers
            ]
        for index, layer in enumerate(weights.decoder_layers):
            said, read = cache.self_attention[index], cache.cross_attention[index]
            x = _self_attention(x, layer, config.num_heads, said)
            x = _cross_attention(x, layer, config.num_heads, read, source_mask)
            x = decoder_layer_feed_forward_sublayer(x, layer)
        logits = apply_final_output_projection(x, weights.output_projection)
        return apply_log_softmax_over_vocab(logits)


def _embed_from(
    start: int,
    token_ids: Int[Tensor, "batch new"],
    weights: TransformerWeights,
    config: TransformerConfig,
) -> Float[Tensor, "batch new d_model"]:
    """Embeddings plus positions, the first of them at ``start``."""
    end, table = start + token_ids.shape[1], weights.token_embedding
    if end > config.max_length:
        raise ValueError(f"at most max_length = {config.max_length} tokens, got {end}")
    positions = build_sinusoidal_positional_encoding(
        end, config.d_model, device=table.device, dtype=table.dtype
    )
    embeddings = scale_embeddings(lookup_token_embeddings(token_ids, table))
    return add_positional_encoding(embeddings, positions[start:])


def _into_heads(
    x: Float[Tensor, "batch length d_model"], projection: LinearWeights, num_heads: int
) -> Float[Tensor, "batch heads length d_k"]:
    projected = apply_linear_projection(x, *projection)
    return transpose_heads_before_sequence(split_last_dim_into_heads(projected, num_heads))


def _read_memory(
    memory: Float[Tensor, "batch source_length d_model"], layer: DecoderLayerWeights, num_heads: int
) -> KVCache:
    """One layer's keys and values of the memory."""
    keys = _into_heads(memory, layer.cross_attention.key, num_heads)
    values = _into_heads(memory, layer.cross_attention.value, num_heads)
    return KVCache(keys, values, length=memory.shape[1])


def _self_attention(
    x: Float[Tensor, "batch new d_model"],
    layer: DecoderLayerWeights,
    num_heads: int,
    said: KVCache,
) -> Float[Tensor, "batch new d_model"]:
    projected = project_to_query_key_value(x, x, layer.self_attention)
    queries, keys, values = split_qkv_into_heads(*projected, num_heads)
    append_to_kv_cache(said, keys, values)  # first: a token hears itself, too
    heads = attend_with_kv_cache(queries, said)
    heard = merge_heads_and_project_output(heads, layer.self_attention.output)
    return add_and_norm(x, sublayer_output=heard, norm_weights=layer.self_attention_norm)


def _cross_attention(
    x: Float[Tensor, "batch new d_model"],
    layer: DecoderLayerWeights,
    num_heads: int,
    read: KVCache,
    source_mask: Bool[Tensor, "batch 1 1 source_length"],
) -> Float[Tensor, "batch new d_model"]:
    queries = _into_heads(x, layer.cross_attention.query, num_heads)
    heads, _ = multi_head_scaled_dot_product_attention(queries, read.keys, read.values, source_mask)
    seen = merge_heads_and_project_output(heads, layer.cross_attention.output)
    return add_and_norm(x, sublayer_output=seen, norm_weights=layer.cross_attention_norm)


def greedy_decode_with_kv_cache(
    source_ids: Int[Tensor, "batch source_length"],
    weights: TransformerWeights,
    config: TransformerConfig,
    max_length: int | None = None,
) -> Int[Tensor, "batch length"]:
    """Answer word by word as step 074 does, but think only about the newest word.

    The very tokens that ``greedy_decode`` gives: ``config.end_id`` included, ``config.pad_id``
    behind it, no more than ``max_length``, which is ``config.max_length`` if it is ``None``. The
    source is encoded once, and in each turn one token a sentence goes through the decoder. No
    dropout, no gradient graph.

    Section 3 of the paper: "consuming the previously generated symbols as additional input when
    generating the next", one at a time.
    """
    max_length = config.max_length if max_length is None else max_length
    target_ids = source_ids.new_full((len(source_ids), 1), config.start_id)
    finished = torch.zeros_like(target_ids[:, 0], dtype=torch.bool)
    with torch.no_grad():
        memory, source_mask = encode_source(source_ids, weights, config._replace(dropout_rate=0.0))
        cache = allocate_kv_cache(
            config, len(source_ids), max_length, device=memory.device, dtype=memory.dtype
        )
        for _ in range(max_length):
            log_probs = decode_step_with_kv_cache(
                target_ids[:, -1:], memory, source_mask, weights, config, cache
            )
            next_ids = select_greedy_next_tokens(log_probs).masked_fill(finished, config.pad_id)
            target_ids = torch.cat([target_ids, next_ids[:, None]], dim=1)
            finished |= next_ids == config.end_id
            if finished.all():
                break
    return target_ids[:, 1:]


def reorder_kv_cache(cache: DecoderCache, beam_indices: Int[Tensor, "beams"]) -> DecoderCache:
    """Give every hypothesis the notes of the one it grew out of.

    Row i of the new cache is row ``beam_indices[i]`` of the old one, in self-attention and in
    cross-attention. A row may be taken several times, or not at all, so there may be more rows than
    before, or fewer. Length and room stay as they are; the old cache keeps its rows, and shares no
    memory with the new one.

    For the beam search of the paper's section 6.1.
    """

    def reordered(layers: list[KVCache]) -> list[KVCache]:
        return [
            KVCache(
                keys=layer.keys.index_select(0, beam_indices),
                values=layer.values.index_select(0, beam_indices),
                length=layer.length,
            )
            for layer in layers
        ]

    return DecoderCache(reordered(cache.self_attention), reordered(cache.cross_attention))


def compute_sampling_distribution(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "batch vocab"]:
    """Say with which probability each word shall be drawn, with the long tail cut off.

    ``softmax(z / temperature)``: below 1 the likely words get likelier still, above 1 they lose;
    0 puts all on the likeliest. Then only the ``top_k`` likeliest words stay; then, of what is left
    and adds up to 1 again, the fewest likeliest words whose probabilities reach ``top_p``, so that
    the word that crosses it stays. What stays adds up to 1. Words that tie stand in the order of
    their ids. ``None`` cuts nothing off.

    A negative ``temperature``, a ``top_k`` outside 1 … vocab and a ``top_p`` outside (0, 1] raise
    ``ValueError``.

    Not in the paper. Top-k: Fan et al., "Hierarchical Neural Story Generation" (2018); top-p:
    Holtzman et al., "The Curious Case of Neural Text Degeneration" (2020).
    """
    vocab_size = logits.shape[1]
    top_k = vocab_size if top_k is None else top_k
    top_p = 1.0 if top_p is None else top_p
    if temperature < 0:
        raise ValueError(f"temperature must be 0 or more, got {temperature}")
    if not 1 <= top_k <= vocab_size:
        raise ValueError(f"top_k must be from 1 to {vocab_size}, got {top_k}")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if temperature == 0:
        best = logits.argmax(dim=1, keepdim=True)
        return torch.zeros_like(logits).scatter(1, best, 1.0)
    precise = logits.to(torch.promote_types(logits.dtype, torch.float32))
    ranked, word_ids = precise.sort(descending=True, stable=True)
    shares = softmax_attention_weights(ranked[:, :top_k] / temperature)
    if top_p < 1:  # at 1 rounding must not cut the tail off
        better = shares.cumsum(dim=1) - shares
        shares = shares.masked_fill(better >= top_p, 0.0)
        shares = shares / shares.sum(dim=1, keepdim=True)
    return torch.zeros_like(logits).scatter(1, word_ids[:, :top_k], shares.to(logits.dtype))


def verify_speculative_tokens(
    draft_probs: Float[Tensor, "guesses vocab"],
    target_probs: Float[Tensor, "guesses_and_one vocab"],
    draft_tokens: Int[Tensor, "guesses"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, "tokens"]:
    """Check a small model's guesses, and keep them as far as the large model could have said them.

    Guess i was drawn from row i of ``draft_probs``, q; the large model gives it row i of
    ``target_probs``, p. It is accepted with probability ``min(1, p / q)`` (``torch.rand``). The
    first that is not is replaced by a token drawn from ``max(p − q, 0)``, normalised
    (``torch.multinomial``), and the guesses behind it are thrown away. When all are accepted, one
    more token is drawn from the last row of ``target_probs``. Returns what may be said: 1 token to
    K + 1. They are distributed as if the large model had drawn each of them by itself.

    Not in the paper. Leviathan et al., "Fast Inference from Transformers via Speculative Decoding"
    (2023), algorithm 1 and appendix A.
    """
    guesses = len(draft_tokens)
    chosen = draft_tokens[:, None]
    p = target_probs[:guesses].gather(1, chosen)[:, 0]
    q = draft_probs.gather(1, chosen)[:, 0]
    draws = torch.rand(guesses, generator=generator, device=p.device)
    accepted = int((draws * q < p).cumprod(dim=0).sum())
    left = target_probs[accepted]
    if accepted < guesses:
        left = (left - draft_probs[accepted]).clamp(min=0)
    token = torch.multinomial(left, 1, generator=generator)
    return torch.cat([draft_tokens[:accepted], token])
