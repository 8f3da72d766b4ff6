"""094 · run_decoder_only_forward, right all the same."""

import torch

from kata.part13_decoder_only import build_rotary_table, decoder_only_layer, rms_norm


def places_of_real_words_counted(token_ids, weights, config):
    """The first real word stands at place 0, wherever it is; the table is as long as the text."""
    table, length = weights.token_embedding, token_ids.shape[1]
    real = token_ids != config.pad_id
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)
    cos, sin = build_rotary_table(
        length, config.d_model // config.num_heads, config.rope_base, table.device, table.dtype
    )
    stairs = torch.arange(length, device=real.device)
    mask = real[:, None, None, :] & (stairs[:, None] >= stairs)
    x = table[token_ids]
    for layer in weights.layers:
        x = decoder_only_layer(
            x,
            layer,
            config.num_heads,
            config.num_kv_heads,
            cos,
            sin,
            mask,
            positions,
            config.norm_eps,
        )
    return torch.einsum("btd,vd->btv", rms_norm(x, weights.final_norm, config.norm_eps), table)


def padding_hears_itself(token_ids, weights, config):
    """Every place hears itself, padding too, so that no row is empty; the table is float64."""
    table, length = weights.token_embedding, token_ids.shape[1]
    cos, sin = build_rotary_table(
        config.max_length,
        config.d_model // config.num_heads,
        config.rope_base,
        table.device,
        torch.float64,
    )
    square = torch.ones(length, length, dtype=torch.bool, device=token_ids.device)
    mask = (token_ids != config.pad_id)[:, None, None, :] & square.tril()
    mask = mask | torch.eye(length, dtype=torch.bool, device=token_ids.device)
    x = table.index_select(0, token_ids.reshape(-1)).view(*token_ids.shape, -1)
    heads = config.num_heads, config.num_kv_heads
    for index in range(config.num_layers):
        x = decoder_only_layer(
            x, weights.layers[index], *heads, cos, sin, mask, eps=config.norm_eps
        )
    return rms_norm(x, weights.final_norm, config.norm_eps) @ table.mT
