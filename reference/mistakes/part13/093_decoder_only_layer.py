"""093 · decoder_only_layer, the ways it goes wrong."""

import torch

from kata.part04_multi_head import (
    merge_heads_and_project_output,
    project_to_query_key_value,
    split_last_dim_into_heads,
    transpose_heads_before_sequence,
)
from kata.part13_decoder_only import (
    apply_rotary_embedding as _turned,
)
from kata.part13_decoder_only import (
    grouped_query_attention as _attend,
)
from kata.part13_decoder_only import (
    rms_norm as _norm,
)
from kata.part13_decoder_only import (
    swiglu_feed_forward as _think,
)


def _split(x, heads):
    return transpose_heads_before_sequence(split_last_dim_into_heads(x, heads))


class _Slips:
    """The layer, told in small pieces that a slip can replace."""

    def __init__(self, layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps):
        self.layer, self.heads, self.kv_heads = layer, num_heads, num_kv_heads
        self.cos, self.sin, self.mask, self.positions, self.eps = cos, sin, mask, positions, eps

    def turn(self, x):
        return _turned(x, self.cos, self.sin, self.positions)

    turn_queries = turn_keys = turn

    def turn_values(self, x):
        return x

    def listen(self, normed):
        projected = project_to_query_key_value(normed, normed, self.layer.attention)
        queries = self.turn_queries(_split(projected[0], self.heads))
        keys = self.turn_keys(_split(projected[1], self.kv_heads))
        values = self.turn_values(_split(projected[2], self.kv_heads))
        heads, _ = _attend(queries, keys, values, self.mask)
        return merge_heads_and_project_output(heads, self.layer.attention.output)

    def first_norm(self, x):
        return _norm(x, self.layer.attention_norm, self.eps)

    def second_norm(self, x):
        return _norm(x, self.layer.feed_forward_norm, self.eps)

    def think(self, normed):
        return _think(normed, self.layer.feed_forward)

    def __call__(self, x):
        x = x + self.listen(self.first_norm(x))
        return x + self.think(self.second_norm(x))


def _with(**slips):
    """A layer of which some pieces are replaced; each is given the layer and what it works on."""
    return type("_Slip", (_Slips,), slips)


def post_norm(x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6):
    """The norms come after the sums, as in the paper of 2017: here they stand in front."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = this.first_norm(x + this.listen(x))
    return this.second_norm(x + this.think(x))


def norm_on_the_branch(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What the sub-layers find is normed, not what they are given."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = x + this.first_norm(this.listen(x))
    return x + this.second_norm(this.think(x))


def normed_word_goes_on(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What was found is added to the normed word: the word itself is lost."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = this.first_norm(x)
    x = x + this.listen(x)
    x = this.second_norm(x)
    return x + this.think(x)


def side_by_side(x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6):
    """Both sub-layers start from x, side by side: the second is to start from the first's sum."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    return x + this.listen(this.first_norm(x)) + this.think(this.second_norm(x))


def second_sum_from_x(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What was thought is added to what came into the layer: what was heard is lost."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    heard = x + this.listen(this.first_norm(x))
    return x + this.think(this.second_norm(heard))


def thinks_first(x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6):
    """The halves have changed places: it thinks first and listens afterwards."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = x + this.think(this.second_norm(x))
    return x + this.listen(this.first_norm(x))


def first_sum_forgotten(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What was heard is not added to the word, but takes its place."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = this.listen(this.first_norm(x))
    return x + this.think(this.second_norm(x))


def second_sum_forgotten(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What was thought is not added to the word, but takes its place."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    x = x + this.listen(this.first_norm(x))
    return this.think(this.second_norm(x))


def second_norm_forgotten(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The network gets its words without a norm."""
    slip = _with(second_norm=lambda _, x: x)
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def one_norm_for_both(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Both sub-layers use the gain of attention: each has one of its own."""
    slip = _with(second_norm=_Slips.first_norm)
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def norms_changed_places(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The two norms have changed places: each sub-layer gets its words with the other's gain."""
    layer = layer._replace(
        attention_norm=layer.feed_forward_norm, feed_forward_norm=layer.attention_norm
    )
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def normed_in_place(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The first norm works in place: the word that goes past it is the normed one too."""
    this = _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    with torch.no_grad():
        x.copy_(this.first_norm(x))
    x = x + this.listen(x)
    return x + this.think(this.second_norm(x))


def epsilon_not_passed_on(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """ε is not passed on: both norms use their own."""
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, 1e-6)(x)


def epsilon_for_the_first_norm(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """ε is not passed on to the second norm."""
    slip = _with(second_norm=lambda _, x: _norm(x, layer.feed_forward_norm))
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def epsilon_of_layer_norm(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-5
):
    """ε is 1e-5 by default: here it is 1e-6, as in step 087."""
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def nothing_turned(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Queries and keys are not turned: where a word stands plays no part."""
    slip = _with(turn_queries=_Slips.turn_values, turn_keys=_Slips.turn_values)
    this = slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)
    this.turn(_split(x, num_heads))
    return this(x)


def only_queries_turned(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The keys are not turned: a query's own place counts, and not the distance."""
    slip = _with(turn_keys=_Slips.turn_values)
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def only_keys_turned(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The queries are not turned: a key's own place counts, and not the distance."""
    slip = _with(turn_queries=_Slips.turn_values)
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def values_turned(x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6):
    """The values are turned too: what a word tells depends on where it stands."""
    slip = _with(turn_values=_Slips.turn)
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def positions_not_passed_on(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The positions are checked but not passed on: every sentence starts at row 0."""
    _turned(_split(x, num_heads), cos, sin, positions)
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, None, eps)(x)


def positions_for_the_queries_alone(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Positions are given to the queries alone: the keys start at row 0."""
    slip = _with(turn_keys=lambda this, x: _turned(x, this.cos, this.sin))
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def mask_not_passed_on(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """The mask is not passed on: every word hears all the others."""
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, None, positions, eps)(x)


def heads_of_keys_for_queries(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """Queries are cut into as many heads as keys: they do not fit together any more."""
    return _Slips(layer, num_kv_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def output_projection_forgotten(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What the heads found is not projected before it is added."""
    plain = layer.attention.output._replace(
        weight=torch.eye(x.shape[-1], dtype=x.dtype, device=x.device), bias=None
    )
    layer = layer._replace(attention=layer.attention._replace(output=plain))
    return _Slips(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)


def heard_detached(
    x, layer, num_heads, num_kv_heads, cos, sin, mask=None, positions=None, eps=1e-6
):
    """What was heard is detached: attention never learns."""
    slip = _with(listen=lambda this, normed: _Slips.listen(this, normed).detach())
    return slip(layer, num_heads, num_kv_heads, cos, sin, mask, positions, eps)(x)
