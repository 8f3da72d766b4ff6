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
    raise NotImplementedError("step 096: write allocate_kv_cache")


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
    raise NotImplementedError("step 097: write append_to_kv_cache")


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
    raise NotImplementedError("step 098: write attend_with_kv_cache")


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
    raise NotImplementedError("step 099: write decode_step_with_kv_cache")


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
    raise NotImplementedError("step 100: write greedy_decode_with_kv_cache")


def reorder_kv_cache(cache: DecoderCache, beam_indices: Int[Tensor, "beams"]) -> DecoderCache:
    """Give every hypothesis the notes of the one it grew out of.

    Row i of the new cache is row ``beam_indices[i]`` of the old one, in self-attention and in
    cross-attention. A row may be taken several times, or not at all, so there may be more rows than
    before, or fewer. Length and room stay as they are; the old cache keeps its rows, and shares no
    memory with the new one.

    For the beam search of the paper's section 6.1.
    """
    raise NotImplementedError("step 101: write reorder_kv_cache")


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
    raise NotImplementedError("step 102: write compute_sampling_distribution")


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
    raise NotImplementedError("step 103: write verify_speculative_tokens")
