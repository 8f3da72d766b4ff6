"""045 · decoder_layer_feed_forward_sublayer, the ways it goes wrong."""

from kata.part04_multi_head import apply_linear_projection as _project
from kata.part05_sublayers import (
    add_and_norm,
    apply_dropout,
    apply_relu,
    layer_norm,
    position_wise_feed_forward,
)


def no_residual(x, layer, dropout_rate=0.0, generator=None):
    """The thought is not added to x: it takes the place of x."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return layer_norm(apply_dropout(thought, dropout_rate, generator), layer.feed_forward_norm)


def norm_on_the_branch(x, layer, dropout_rate=0.0, generator=None):
    """Only the thought is normed, and x is added afterwards: x + LN(f(x))."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return x + layer_norm(apply_dropout(thought, dropout_rate, generator), layer.feed_forward_norm)


def pre_norm(x, layer, dropout_rate=0.0, generator=None):
    """The norm comes first, x + f(LN(x)): that is pre-norm, the paper's layer is post-norm."""
    normed = layer_norm(x, layer.feed_forward_norm)
    thought = position_wise_feed_forward(normed, layer.feed_forward)
    return x + apply_dropout(thought, dropout_rate, generator)


def no_norm(x, layer, dropout_rate=0.0, generator=None):
    """The sum is not normed: x + f(x) is only half of the sub-layer."""
    return x + apply_dropout(
        position_wise_feed_forward(x, layer.feed_forward), dropout_rate, generator
    )


def norm_of_cross_attention(x, layer, dropout_rate=0.0, generator=None):
    """The norm of cross-attention is used, the layer's second; the feed-forward's is its third."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.cross_attention_norm, dropout_rate, generator)


def norm_of_self_attention(x, layer, dropout_rate=0.0, generator=None):
    """The norm of self-attention is used, the layer's first; the feed-forward's is its third."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.self_attention_norm, dropout_rate, generator)


def no_relu(x, layer, dropout_rate=0.0, generator=None):
    """There is no relu between the two projections: together they are no more than one."""
    thought = _project(_project(x, *layer.feed_forward.expand), *layer.feed_forward.contract)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def relu_last(x, layer, dropout_rate=0.0, generator=None):
    """The relu comes after the second projection: no thought can be negative."""
    thought = _project(_project(x, *layer.feed_forward.expand), *layer.feed_forward.contract)
    return add_and_norm(x, apply_relu(thought), layer.feed_forward_norm, dropout_rate, generator)


def rate_dropped(x, layer, dropout_rate=0.0, generator=None):
    """The dropout rate is not passed on: nothing is ever dropped."""
    return add_and_norm(
        x, position_wise_feed_forward(x, layer.feed_forward), layer.feed_forward_norm
    )


def rate_by_default(x, layer, dropout_rate=0.1, generator=None):
    """The rate is 0.1 where nothing is said: evaluation drops numbers."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def generator_dropped(x, layer, dropout_rate=0.0, generator=None):
    """The generator is not passed on: chance comes from torch's default one."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate)


def generator_copied(x, layer, dropout_rate=0.0, generator=None):
    """Each call starts from a copy of the generator: every call drops the same numbers."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    again = generator and generator.clone_state()
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, again)


def dropout_on_the_sum(x, layer, dropout_rate=0.0, generator=None):
    """Dropout falls on the sum, x and all, not on the thought."""
    total = x + position_wise_feed_forward(x, layer.feed_forward)
    return layer_norm(apply_dropout(total, dropout_rate, generator), layer.feed_forward_norm)


def dropout_after_the_norm(x, layer, dropout_rate=0.0, generator=None):
    """Dropout comes last, after the norm."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    return apply_dropout(add_and_norm(x, thought, layer.feed_forward_norm), dropout_rate, generator)


def dropout_inside_the_network(x, layer, dropout_rate=0.0, generator=None):
    """Dropout falls on the hidden numbers too, as in many libraries: not in the paper."""
    hidden = apply_relu(_project(x, *layer.feed_forward.expand))
    thought = _project(apply_dropout(hidden, dropout_rate, generator), *layer.feed_forward.contract)
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def dropout_on_the_hidden_only(x, layer, dropout_rate=0.0, generator=None):
    """Dropout falls on the hidden numbers, not on the thought."""
    hidden = apply_relu(_project(x, *layer.feed_forward.expand))
    thought = _project(apply_dropout(hidden, dropout_rate, generator), *layer.feed_forward.contract)
    return add_and_norm(x, thought, layer.feed_forward_norm)


def thought_detached(x, layer, dropout_rate=0.0, generator=None):
    """The thought is detached: the network's weights get no gradient and never learn."""
    thought = position_wise_feed_forward(x, layer.feed_forward).detach()
    return add_and_norm(x, thought, layer.feed_forward_norm, dropout_rate, generator)


def added_in_place(x, layer, dropout_rate=0.0, generator=None):
    """The thought is added to x in place: the caller's tensor changes."""
    thought = position_wise_feed_forward(x, layer.feed_forward)
    x += apply_dropout(thought, dropout_rate, generator)
    return layer_norm(x, layer.feed_forward_norm)
