"""Right but unusual versions of step 046."""

import torch
import torch._dynamo  # loaded here: its first use takes longer than a call of the laws may
from torch.utils.checkpoint import checkpoint

from kata.part04_multi_head import (
    assemble_multi_head_attention_forward,
    multi_head_scaled_dot_product_attention,
)
from kata.part05_sublayers import add_and_norm, apply_dropout, position_wise_feed_forward
from kata.part06_transformer import (
    decoder_layer_cross_attention_sublayer,
    decoder_layer_feed_forward_sublayer,
    decoder_layer_masked_self_attention_sublayer,
    encoder_layer_feed_forward_sublayer,
    encoder_layer_self_attention_sublayer,
)


def nested(x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None):
    """One call inside the other."""
    chance = {"dropout_rate": dropout_rate, "generator": generator}
    return decoder_layer_feed_forward_sublayer(
        decoder_layer_cross_attention_sublayer(
            decoder_layer_masked_self_attention_sublayer(
                x, layer, num_heads, target_mask, **chance
            ),
            memory,
            layer,
            num_heads,
            source_mask,
            **chance,
        ),
        layer,
        **chance,
    )


def encoder_layer_with_a_look_between(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The encoder's two sub-layers, and attention to the memory put between them."""
    x = encoder_layer_self_attention_sublayer(
        x, layer, num_heads, target_mask, dropout_rate, generator
    )
    seen, _ = assemble_multi_head_attention_forward(
        x, memory, layer.cross_attention, num_heads, source_mask
    )
    x = add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)
    return encoder_layer_feed_forward_sublayer(x, layer, dropout_rate, generator)


def three_pairs(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """The layer is three pairs of weights and a norm, taken in turn."""
    sources = iter([(None, target_mask), (memory, source_mask)])
    for weights, norm in zip(layer[::2], layer[1::2], strict=True):
        match weights:
            case (_, _, _, _):
                words, mask = next(sources)
                words = x if words is None else words
                found, _ = assemble_multi_head_attention_forward(x, words, weights, num_heads, mask)
            case (_, _):
                found = position_wise_feed_forward(x, weights)
        x = add_and_norm(x, found, norm, dropout_rate, generator)
    return x


def _norm(x, weights):
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.square().mean(dim=-1, keepdim=True) - mean.square()
    scale = (variance.clamp(min=0) + 1e-5).rsqrt()
    return (x - mean) * scale * weights.gain + weights.bias


def _project(x, projection):
    weight, bias = projection
    projected = torch.einsum("btd,ed->bte", x, weight.to(x.dtype))
    return projected if bias is None else projected + bias


def _attend(x, memory, weights, num_heads, mask):
    heads = (
        _project(words, projection).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for words, projection in zip((x, memory, memory), weights[:3], strict=True)
    )
    found, _ = multi_head_scaled_dot_product_attention(*heads, mask)
    return _project(found.transpose(1, 2).flatten(-2), weights.output)


def written_out(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """Nothing of part 6 is called; all of it is float32 at least, and cast once at the end."""
    wide = torch.promote_types(x.dtype, torch.float32)
    words, memory = x.to(wide), memory.to(wide)
    listening, first_norm, looking, second_norm, network, third_norm = layer
    heard = _attend(words, words, listening, num_heads, target_mask)
    words = _norm(words + apply_dropout(heard, dropout_rate, generator), first_norm)
    seen = _attend(words, memory, looking, num_heads, source_mask)
    words = _norm(words + apply_dropout(seen, dropout_rate, generator), second_norm)
    hidden = _project(words, network.expand)
    thought = _project(torch.where(hidden > 0, hidden, 0), network.contract)
    words = _norm(words + apply_dropout(thought, dropout_rate, generator), third_norm)
    return words.to(x.dtype)


def computed_twice_to_save_memory(
    x, memory, layer, num_heads, target_mask, source_mask, dropout_rate=0.0, generator=None
):
    """``checkpoint`` keeps nothing of the attentions; dropout is drawn once, outside of it."""

    def attend(words, others, weights, mask):
        found, _ = assemble_multi_head_attention_forward(words, others, weights, num_heads, mask)
        return found

    heard = checkpoint(attend, x, x, layer.self_attention, target_mask, use_reentrant=False)
    x = add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)
    seen = checkpoint(attend, x, memory, layer.cross_attention, source_mask, use_reentrant=False)
    x = add_and_norm(x, seen, layer.cross_attention_norm, dropout_rate, generator)
    return decoder_layer_feed_forward_sublayer(x, layer, dropout_rate, generator)
