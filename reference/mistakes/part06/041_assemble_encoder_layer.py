"""041 · assemble_encoder_layer, the ways it goes wrong."""

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
from kata.part06_transformer import encoder_layer_feed_forward_sublayer as _think
from kata.part06_transformer import encoder_layer_self_attention_sublayer as _listen


def second_residual_from_x(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The thought is added to what came into the layer, x, not to what came out of 039."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    thought = position_wise_feed_forward(heard, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def thinks_about_x(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The network thinks about x, not about what was heard."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(heard, thought, layer.feed_forward_norm, dropout_rate, generator)


def thinks_first(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The halves have changed places: it thinks first and listens afterwards."""
    thought = _think(x, layer, dropout_rate, generator)
    return _listen(thought, layer, num_heads, source_mask, dropout_rate, generator)


def listens_only(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The feed-forward half is left out."""
    return _listen(x, layer, num_heads, source_mask, dropout_rate, generator)


def thinks_only(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was heard is thrown away: the second half starts from x again."""
    _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(x, layer, dropout_rate, generator)


def one_norm_for_both(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Both halves use the norm of self-attention: each has one of its own."""
    layer = layer._replace(feed_forward_norm=layer.self_attention_norm)
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)


def one_more_norm(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What comes out is normed once more: each half has normed its own already."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return layer_norm(_think(heard, layer, dropout_rate, generator), layer.feed_forward_norm)


def pre_norm(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The norms come first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    normed = layer_norm(x, layer.self_attention_norm)
    heard, _ = _attend(normed, normed, layer.self_attention, num_heads, source_mask)
    x = x + apply_dropout(heard, dropout_rate, generator)
    normed = layer_norm(x, layer.feed_forward_norm)
    thought = position_wise_feed_forward(normed, layer.feed_forward)
    return x + apply_dropout(thought, dropout_rate, generator)


def mask_turned_round(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is turned round, as torch's modules want it: here True means may be heard."""
    heard = _listen(x, layer, num_heads, ~source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)


def mask_dropped(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The mask is not passed on: padding is heard like a word."""
    heard = _listen(x, layer, num_heads, source_mask | ~source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)


def rate_for_the_first_half(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Only the first half drops anything: the rate is not passed on to the second."""
    return _think(_listen(x, layer, num_heads, source_mask, dropout_rate, generator), layer)


def rate_for_the_second_half(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Only the second half drops anything: the rate is not passed on to the first."""
    return _think(_listen(x, layer, num_heads, source_mask), layer, dropout_rate, generator)


def rate_dropped(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return _think(_listen(x, layer, num_heads, source_mask), layer)


def rate_by_default(x, layer, num_heads, source_mask, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)


def dropout_after_the_layer(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What comes out of the layer is dropped once more."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return apply_dropout(_think(heard, layer, dropout_rate, generator), dropout_rate, generator)


def dropout_on_the_shares(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Dropout falls on the attention weights too, as in many libraries: not in the paper."""
    projected = project_to_query_key_value(x, x, layer.self_attention)
    queries, keys, values = split_qkv_into_heads(*projected, num_heads)
    _, shares = multi_head_scaled_dot_product_attention(queries, keys, values, source_mask)
    heads = apply_dropout(shares, dropout_rate, generator) @ values
    heard = merge_heads_and_project_output(heads, layer.self_attention.output)
    heard = add_and_norm(x, heard, layer.self_attention_norm, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)


def dropout_on_the_hidden_numbers(
    x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None
):
    """Dropout falls on the hidden numbers too, as in many libraries: not in the paper."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    hidden = apply_relu(_project(heard, *layer.feed_forward.expand))
    thought = _project(apply_dropout(hidden, dropout_rate, generator), *layer.feed_forward.contract)
    return add_and_norm(heard, thought, layer.feed_forward_norm, dropout_rate, generator)


def generator_for_one_half(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """The generator does not reach both halves: torch's default one is drawn from."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate)


def generator_started_again(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each half starts from a copy of the generator: both drop the same numbers."""
    again = generator and generator.clone_state()
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, again)


def generator_copied(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    again = generator and generator.clone_state()
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, again)
    return _think(heard, layer, dropout_rate, again)


def heard_detached(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """What was heard is detached: the first half gets no gradient and never learns."""
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard.detach(), layer, dropout_rate, generator)


def torch_does_it(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Torch's own encoder layer does the work that this step is there to build."""
    _nn.TransformerEncoderLayer(
        x.shape[-1], num_heads, 4, dropout_rate, batch_first=True, device=x.device, dtype=x.dtype
    )(x)
    heard = _listen(x, layer, num_heads, source_mask, dropout_rate, generator)
    return _think(heard, layer, dropout_rate, generator)
