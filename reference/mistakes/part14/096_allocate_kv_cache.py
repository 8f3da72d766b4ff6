"""Wrong versions of step 096, one slip each."""

import torch

from kata.weights import DecoderCache, KVCache


def one_room_for_all_layers(config, batch_size, max_length, device=None, dtype=torch.float32):
    """One layer's cache is made and listed for all layers: they write over each other."""
    return DecoderCache(
        _layers(config._replace(num_layers=1), batch_size, max_length, device, dtype)
        * config.num_layers,
        [],
    )


def keys_are_the_values(config, batch_size, max_length, device=None, dtype=torch.float32):
    """Keys and values of a layer are one tensor."""
    layers = _layers(config, batch_size, max_length, device, dtype)
    for layer in layers:
        layer.values = layer.keys
    return DecoderCache(layers, [])


def expanded(config, batch_size, max_length, device=None, dtype=torch.float32):
    """One number is expanded to the whole shape: all places are the same memory."""
    layers = _layers(config, batch_size, max_length, device, dtype)
    for layer in layers:
        layer.keys = layer.keys[:1, :1, :1, :1].expand(layer.keys.shape)
        layer.values = layer.values[:1, :1, :1, :1].expand(layer.values.shape)
    return DecoderCache(layers, [])


def d_model_wide(config, batch_size, max_length, device=None, dtype=torch.float32):
    """Each head gets d_model numbers, not d_model / num_heads."""
    config = config._replace(d_model=config.d_model * config.num_heads)
    return DecoderCache(_layers(config, batch_size, max_length, device, dtype), [])


def positions_before_heads(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The positions stand before the heads: (batch, length, heads, d_k)."""
    swapped = config._replace(num_heads=max_length, d_model=max_length * _d_k(config))
    return DecoderCache(_layers(swapped, batch_size, config.num_heads, device, dtype), [])


def length_of_the_config(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The room is for config.max_length tokens, whatever max_length was asked for."""
    return DecoderCache(_layers(config, batch_size, config.max_length, device, dtype), [])


def full_from_the_start(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The length is that of the room: it counts as full before anything is in it."""
    layers = _layers(config, batch_size, max_length, device, dtype)
    for layer in layers:
        layer.length = max_length
    return DecoderCache(layers, [])


def cross_attention_too(config, batch_size, max_length, device=None, dtype=torch.float32):
    """Rooms of zeros for cross-attention are made as well: the memory seems to be read already."""
    return DecoderCache(
        _layers(config, batch_size, max_length, device, dtype),
        _layers(config, batch_size, max_length, device, dtype),
    )


def dtype_dropped(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The dtype is not passed on."""
    return DecoderCache(_layers(config, batch_size, max_length, device, torch.float32), [])


def device_dropped(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The device is not passed on."""
    return DecoderCache(_layers(config, batch_size, max_length, None, dtype), [])


def device_taken_to_be_the_cpu(config, batch_size, max_length, device=None, dtype=torch.float32):
    """Without a device the CPU is taken, not torch's own default."""
    return DecoderCache(_layers(config, batch_size, max_length, device or "cpu", dtype), [])


def _d_k(config):
    return config.d_model // config.num_heads


def _layers(config, batch_size, max_length, device, dtype):
    shape = batch_size, config.num_heads, max_length, _d_k(config)
    return [
        KVCache(*(torch.zeros(shape, device=device, dtype=dtype) for _ in range(2)), 0)
        for _ in range(config.num_layers)
    ]
