"""094 · run_decoder_only_forward, the ways it goes wrong."""

import math as _math

import torch

from kata.part02_embeddings import (
    add_positional_encoding,
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part03_attention import (
    build_causal_mask,
    build_padding_mask,
    combine_padding_and_causal_masks,
)
from kata.part06_transformer import apply_log_softmax_over_vocab
from kata.part13_decoder_only import build_rotary_table, decoder_only_layer, rms_norm


def _mask(ids, config):
    padding = build_padding_mask(ids, config.pad_id)
    return combine_padding_and_causal_masks(padding, build_causal_mask(ids.shape[1], ids.device))


def _embed(ids, weights):
    return lookup_token_embeddings(ids, weights.token_embedding)


def _table(ids, weights, config):
    table = weights.token_embedding
    return build_rotary_table(
        ids.shape[1],
        config.d_model // config.num_heads,
        config.rope_base,
        table.device,
        table.dtype,
    )


def _final(x, weights, config):
    return rms_norm(x, weights.final_norm, config.norm_eps)


def _layers(x, weights, config, cos, sin, mask):
    for layer in weights.layers:
        x = _one(x, layer, config, cos, sin, mask)
    return x


def _one(x, layer, config, cos, sin, mask):
    heads = config.num_heads, config.num_kv_heads
    return decoder_only_layer(x, layer, *heads, cos, sin, mask, eps=config.norm_eps)


def _score(x, weights):
    return x @ weights.token_embedding.T


def _model(
    ids,
    weights,
    config,
    *,
    embed=_embed,
    table=_table,
    mask=_mask,
    layers=_layers,
    final=_final,
    score=_score,
):
    """The model, of which some pieces are replaced."""
    x = embed(ids, weights)
    cos, sin = table(ids, weights, config)
    x = layers(x, weights, config, cos, sin, mask(ids, config))
    return score(final(x, weights, config), weights)


def embeddings_scaled(token_ids, weights, config):
    """The embeddings are multiplied by √D, as in the paper of 2017: here they are not."""
    return _model(token_ids, weights, config, embed=lambda *a: scale_embeddings(_embed(*a)))


def positions_added(token_ids, weights, config):
    """Sines and cosines are added to the embeddings: here positions turn queries and keys."""

    def embed(ids, weights):
        x = _embed(ids, weights)
        waves = build_sinusoidal_positional_encoding(
            ids.shape[1], x.shape[-1], device=x.device, dtype=x.dtype
        )
        return add_positional_encoding(x, waves)

    return _model(token_ids, weights, config, embed=embed)


def not_turned(token_ids, weights, config):
    """Nothing says where a word stands: every position gets the table's first row."""

    def table(*given):
        return tuple(part[:1].expand_as(part) for part in _table(*given))

    return _model(token_ids, weights, config, table=table)


def another_base(token_ids, weights, config):
    """The base of the table is 10000, whatever the config says."""
    config = config._replace(rope_base=10000.0)
    return _model(token_ids, weights, config)


def another_epsilon(token_ids, weights, config):
    """ε is 1e-6 in every norm, whatever the config says."""
    return _model(token_ids, weights, config._replace(norm_eps=1e-6))


def another_epsilon_at_the_end(token_ids, weights, config):
    """The config's ε does not reach the final norm."""
    return _model(
        token_ids, weights, config, final=lambda x, weights, _: rms_norm(x, weights.final_norm)
    )


def another_epsilon_in_the_layers(token_ids, weights, config):
    """The config's ε does not reach the layers."""

    def layers(x, weights, config, *rest):
        return _layers(x, weights, config._replace(norm_eps=1e-6), *rest)

    return _model(token_ids, weights, config, layers=layers)


def no_final_norm(token_ids, weights, config):
    """The final norm is forgotten: pre-norm layers hand over sums that nobody has normed."""
    return _model(token_ids, weights, config, final=lambda x, *_: x)


def final_norm_without_gain(token_ids, weights, config):
    """The final norm's gain is not used."""

    def final(x, weights, config):
        return rms_norm(x, torch.ones_like(weights.final_norm), config.norm_eps)

    return _model(token_ids, weights, config, final=final)


def normed_at_the_start(token_ids, weights, config):
    """The final norm is applied to the embeddings too."""

    def embed(ids, weights):
        return rms_norm(_embed(ids, weights), weights.final_norm, config.norm_eps)

    return _model(token_ids, weights, config, embed=embed)


def every_layer_reads_the_embeddings(token_ids, weights, config):
    """Every layer reads the embeddings: only the last one's answer is used."""

    def layers(x, weights, config, *rest):
        answers = [_one(x, layer, config, *rest) for layer in weights.layers]
        return answers[-1] if answers else x

    return _model(token_ids, weights, config, layers=layers)


def first_layer_only(token_ids, weights, config):
    """Only the first layer is run."""
    return _model(token_ids, weights._replace(layers=weights.layers[:1]), config)


def one_layers_weights_for_all(token_ids, weights, config):
    """Every layer runs with the first layer's weights."""
    layers = weights.layers[:1] * len(weights.layers)
    return _model(token_ids, weights._replace(layers=layers), config)


def layers_from_the_top(token_ids, weights, config):
    """The layers are run from the last to the first."""
    return _model(token_ids, weights._replace(layers=weights.layers[::-1]), config)


def everybody_is_heard(token_ids, weights, config):
    """The causal mask is missing: a word hears the very word that it is to predict."""

    def mask(ids, config):
        return build_padding_mask(ids, config.pad_id)

    return _model(token_ids, weights, config, mask=mask)


def padding_is_heard(token_ids, weights, config):
    """Padding is not masked: behind a text it does no harm, in front of it it is heard."""

    def mask(ids, _):
        return build_causal_mask(ids.shape[1], ids.device)

    return _model(token_ids, weights, config, mask=mask)


def padding_taken_to_be_0(token_ids, weights, config):
    """Padding is taken to be id 0, whatever the config says."""
    return _model(token_ids, weights, config._replace(pad_id=0))


def one_step_into_the_future(token_ids, weights, config):
    """The causal mask lies one place too high: every word hears the next one."""

    def mask(ids, config):
        length = ids.shape[1]
        stairs = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril(1)
        return combine_padding_and_causal_masks(build_padding_mask(ids, config.pad_id), stairs)

    return _model(token_ids, weights, config, mask=mask)


def itself_not_heard(token_ids, weights, config):
    """The causal mask leaves out the diagonal: no word hears itself."""

    def mask(ids, config):
        length = ids.shape[1]
        stairs = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril(-1)
        return combine_padding_and_causal_masks(build_padding_mask(ids, config.pad_id), stairs)

    return _model(token_ids, weights, config, mask=mask)


def stairs_on_the_cpu(token_ids, weights, config):
    """The causal mask is made on the CPU, wherever the ids are."""

    def mask(ids, config):
        stairs = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        return combine_padding_and_causal_masks(build_padding_mask(ids, config.pad_id), stairs)

    return _model(token_ids, weights, config, mask=mask)


def table_in_float32(token_ids, weights, config):
    """The table of angles is float32 always: a float64 model is right to seven digits only."""

    def table(ids, weights, config):
        device, d_k = weights.token_embedding.device, config.d_model // config.num_heads
        return build_rotary_table(ids.shape[1], d_k, config.rope_base, device)

    return _model(token_ids, weights, config, table=table)


def table_as_wide_as_the_model(token_ids, weights, config):
    """The angles are spread over d_model: a head gets the first of them, all of them fast."""

    def table(ids, weights, config):
        cos, sin = _table(ids, weights, config._replace(num_heads=1))
        pairs = config.d_model // config.num_heads // 2
        return cos[:, :pairs], sin[:, :pairs]

    return _model(token_ids, weights, config, table=table)


def logits_divided_by_the_root(token_ids, weights, config):
    """The logits are divided by √D: nothing is scaled here."""
    logits = _model(token_ids, weights, config)
    return logits / _math.sqrt(config.d_model)


def log_probs_returned(token_ids, weights, config):
    """Log-probabilities are returned, not logits: step 095 takes the softmax."""
    return apply_log_softmax_over_vocab(_model(token_ids, weights, config))


def output_table_detached(token_ids, weights, config):
    """The table is detached where it scores: it learns from being read only."""

    def score(x, weights):
        return x @ weights.token_embedding.detach().T

    return _model(token_ids, weights, config, score=score)


def input_table_detached(token_ids, weights, config):
    """The table is detached where it is read: it learns from scoring only."""
    return _model(token_ids, weights, config, embed=lambda *given: _embed(*given).detach())


def only_the_last_position(token_ids, weights, config):
    """Only the last position's logits are returned: training wants all of them."""
    return _model(token_ids, weights, config)[:, -1:]


def cut_in_silence(token_ids, weights, config):
    """A text of more than ``max_length`` tokens is cut off in silence."""
    return _model(token_ids[:, : config.max_length], weights, config)
