"""Right but unusual versions of step 041."""

from functools import partial, reduce

import torch
import torch._dynamo  # loaded here: its first use takes longer than a call of the laws may
from torch.utils.checkpoint import checkpoint

from kata.part04_multi_head import (
    apply_linear_projection,
    assemble_multi_head_attention_forward,
    multi_head_scaled_dot_product_attention,
)
from kata.part05_sublayers import (
    add_and_norm,
    apply_dropout,
    apply_relu,
    position_wise_feed_forward,
)
from kata.part06_transformer import (
    encoder_layer_feed_forward_sublayer,
    encoder_layer_self_attention_sublayer,
)


def two_pairs(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The layer is two pairs of weights and a norm, and a loop goes over the pairs."""
    attention, first_norm, network, second_norm = layer

    def listen(words):
        heard, _ = assemble_multi_head_attention_forward(
            words, words, attention, num_heads, source_mask
        )
        return heard

    def think(words):
        return position_wise_feed_forward(words, network)

    for sublayer, norm in ((listen, first_norm), (think, second_norm)):
        x = add_and_norm(x, sublayer(x), norm, dropout_rate, generator)
    return x


def folded(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Both sub-layers become functions of x alone, and a fold calls one after the other."""
    chance = {"dropout_rate": dropout_rate, "generator": generator}
    sublayers = (
        partial(
            encoder_layer_self_attention_sublayer,
            layer=layer,
            num_heads=num_heads,
            source_mask=source_mask,
            **chance,
        ),
        partial(encoder_layer_feed_forward_sublayer, layer=layer, **chance),
    )
    return reduce(lambda words, sublayer: sublayer(words), sublayers, x)


def sentence_by_sentence(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Every sentence goes through the layer by itself, with its own part of the mask."""
    chance = {"dropout_rate": dropout_rate, "generator": generator}
    sentences = []
    for row, sentence in enumerate(x.split(1)):
        one_each = source_mask.dim() == 4 and len(source_mask) == len(x)
        mask = source_mask[row : row + 1] if one_each else source_mask
        words = encoder_layer_self_attention_sublayer(sentence, layer, num_heads, mask, **chance)
        sentences.append(encoder_layer_feed_forward_sublayer(words, layer, **chance))
    return torch.cat(sentences)


def _norm(x, weights):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(variance + 1e-5) * weights.gain + weights.bias


def written_out(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Nothing of part 6 is called; all of it is float32 at least, and cast once at the end."""
    words = x.to(torch.promote_types(x.dtype, torch.float32))
    attention, first_norm, network, second_norm = layer

    def project(tokens, projection):
        weight, bias = projection
        projected = torch.einsum("btd,ed->bte", tokens, weight.to(tokens.dtype))
        return projected if bias is None else projected + bias

    queries, keys, values = (
        project(words, projection).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for projection in attention[:3]
    )
    heads, _ = multi_head_scaled_dot_product_attention(queries, keys, values, source_mask)
    heard = project(heads.transpose(1, 2).flatten(-2), attention.output)
    words = _norm(words + apply_dropout(heard, dropout_rate, generator), first_norm)
    hidden = project(words, network.expand)
    thought = project(torch.where(hidden > 0, hidden, 0), network.contract)
    return _norm(words + apply_dropout(thought, dropout_rate, generator), second_norm).to(x.dtype)


def computed_twice_to_save_memory(
    x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """``checkpoint`` keeps nothing between the sub-layers; dropout is drawn once, outside of it."""

    def listen(words):
        heard, _ = assemble_multi_head_attention_forward(
            words, words, layer.self_attention, num_heads, source_mask
        )
        return heard

    def think(words):
        hidden = apply_linear_projection(words, *layer.feed_forward.expand)
        return apply_linear_projection(apply_relu(hidden), *layer.feed_forward.contract)

    heard = checkpoint(listen, x, use_reentrant=False)
    words = add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)
    thought = checkpoint(think, words, use_reentrant=False)
    return add_and_norm(words, thought, layer.feed_forward_norm, dropout_rate, generator)
