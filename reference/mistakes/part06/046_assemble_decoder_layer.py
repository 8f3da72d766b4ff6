"""046 · assemble_decoder_layer, the ways it goes wrong."""

from torch import nn as _nn

from kata.part04_multi_head import apply_linear_projection as _project
from kata.part04_multi_head import assemble_multi_head_attention_forward as _attend
from kata.part04_multi_head import (
    merge_heads_and_project_output,
    multi_head_scaled_dot_product_attention,
    project_to_query_key_value,
    split_qkv_into_heads,
)
from kata.part05_sublayers import (
    add_and_norm,
    apply_dropout,
    apply_relu,
    layer_norm,
    position_wise_feed_forward,
)
from kata.part06_transformer import decoder_layer_cross_attention_sublayer as _look
from kata.part06_transformer import decoder_layer_feed_forward_sublayer as _think
from kata.part06_transformer import decoder_layer_masked_self_attention_sublayer as _listen


def _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator):
    """The right answer, to spoil."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def looks_first(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Cross-attention comes before self-attention."""
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def thinks_before_looking(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The feed-forward network comes before cross-attention."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _think(x, layer, dropout_rate, generator)
    return _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def never_looks(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Cross-attention is left out: the translation never looks at the source."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def never_listens(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Cross-attention starts from x again: what self-attention found is thrown away."""
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def never_thinks(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The feed-forward network is left out."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    return _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)


def looks_at_itself(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Cross-attention gets x where the memory belongs: the source is never looked at."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, x, layer, num_heads, target_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def looks_at_itself_under_the_mask(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Cross-attention gets x where the memory belongs, and a mask that is as long as the source."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def x_and_memory_swapped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """x and memory have changed places: the source is spoken, and the translation is looked at."""
    return _layer(memory, x, layer, num_heads, target_mask, source_mask, dropout_rate, generator)


def masks_swapped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The two masks have changed places."""
    return _layer(x, memory, layer, num_heads, source_mask, target_mask, dropout_rate, generator)


def source_mask_for_both(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Self-attention gets the source's mask: what the target's said of words to come is lost."""
    return _layer(x, memory, layer, num_heads, source_mask, source_mask, dropout_rate, generator)


def target_mask_dropped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The target's mask is not passed on: the words to come are heard."""
    everyone = target_mask | ~target_mask
    return _layer(x, memory, layer, num_heads, everyone, source_mask, dropout_rate, generator)


def source_mask_dropped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The source's mask is not passed on: padding of the source is seen like a word."""
    everyone = source_mask | ~source_mask
    return _layer(x, memory, layer, num_heads, target_mask, everyone, dropout_rate, generator)


def last_residual_from_x(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The thought is added to what came into the layer, x, not to what came out of 044."""
    y = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    y = _look(y, memory, layer, num_heads, source_mask, dropout_rate, generator)
    thought = position_wise_feed_forward(y, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def one_attention_for_both(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Self-attention and cross-attention share one set of weights: each has its own."""
    layer = layer._replace(cross_attention=layer.self_attention)
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)


def one_more_norm(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """What comes out is normed once more: each sub-layer has normed its own already."""
    x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
    return layer_norm(x, layer.feed_forward_norm)


def pre_norm(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The norms come first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    y = layer_norm(x, layer.self_attention_norm)
    heard, _ = _attend(y, y, layer.self_attention, num_heads, target_mask)
    x = x + apply_dropout(heard, dropout_rate, generator)
    y = layer_norm(x, layer.cross_attention_norm)
    seen, _ = _attend(y, memory, layer.cross_attention, num_heads, source_mask)
    x = x + apply_dropout(seen, dropout_rate, generator)
    y = layer_norm(x, layer.feed_forward_norm)
    thought = position_wise_feed_forward(y, layer.feed_forward)
    return x + apply_dropout(thought, dropout_rate, generator)


def rate_not_for_looking(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The rate is not passed on to cross-attention, which drops nothing."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask)
    return _think(x, layer, dropout_rate, generator)


def rate_not_for_listening(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The rate is not passed on to self-attention, which drops nothing."""
    x = _listen(x, layer, num_heads, target_mask)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def rate_not_for_thinking(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The rate is not passed on to the feed-forward network, which drops nothing."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer)


def rate_dropped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, 0.0, generator)


def rate_by_default(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.1, generator=None
):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)


def dropout_after_the_layer(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """What comes out of the layer is dropped once more."""
    x = _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
    return apply_dropout(x, dropout_rate, generator)


def dropout_on_the_shares(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Dropout falls on the attention weights too, as in many libraries: not in the paper."""

    def attend(x, memory, weights, norm, mask):
        projected = project_to_query_key_value(x, memory, weights)
        queries, keys, values = split_qkv_into_heads(*projected, num_heads)
        _, shares = multi_head_scaled_dot_product_attention(queries, keys, values, mask)
        heads = apply_dropout(shares, dropout_rate, generator) @ values
        found = merge_heads_and_project_output(heads, weights.output)
        return add_and_norm(x, found, norm, dropout_rate, generator)

    x = attend(x, x, layer.self_attention, layer.self_attention_norm, target_mask)
    x = attend(x, memory, layer.cross_attention, layer.cross_attention_norm, source_mask)
    return _think(x, layer, dropout_rate, generator)


def dropout_on_the_hidden_numbers(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Dropout falls on the hidden numbers too, as in many libraries: not in the paper."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    hidden = apply_relu(_project(x, *layer.feed_forward.expand))
    thought = _project(apply_dropout(hidden, dropout_rate, generator), *layer.feed_forward.contract)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def memory_dropped(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is dropped before it is looked at: only what was seen is to be dropped."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    memory = apply_dropout(memory, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def generator_not_for_all(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The generator does not reach all three sub-layers: torch's default one is drawn from."""
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, generator)
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate)


def generator_started_again(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Each sub-layer starts from a copy of the generator: all of them drop the same numbers."""
    copies = [generator and generator.clone_state() for _ in range(3)]
    x = _listen(x, layer, num_heads, target_mask, dropout_rate, copies[0])
    x = _look(x, memory, layer, num_heads, source_mask, dropout_rate, copies[1])
    return _think(x, layer, dropout_rate, copies[2])


def generator_copied(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, again)


def memory_detached(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The memory is detached: no gradient reaches the encoder, and it never learns."""
    memory = memory.detach()
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)


def torch_does_it(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Torch's own decoder layer does the work that this step is there to build."""
    _nn.TransformerDecoderLayer(
        x.shape[-1], num_heads, 4, dropout_rate, batch_first=True, device=x.device, dtype=x.dtype
    )(x, memory)
    return _layer(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate, generator)
