"""Right but unusual versions of step 096."""

import torch

from kata.weights import DecoderCache, KVCache


def cut_from_one_block(config, batch_size, max_length, device=None, dtype=torch.float32):
    """One tensor is made for everything and cut up: the parts lie side by side."""
    d_k = config.d_model // config.num_heads
    block = torch.zeros(
        config.num_layers,
        2,
        batch_size,
        config.num_heads,
        max_length,
        d_k,
        device=device,
        dtype=dtype,
    )
    return DecoderCache([KVCache(*pair.unbind(), 0) for pair in block.unbind()], [])


def positions_first_in_memory(config, batch_size, max_length, device=None, dtype=torch.float32):
    """The positions lie next to each other in another order: a transposed view, not contiguous."""
    shape = batch_size, max_length, config.num_heads, config.d_model // config.num_heads
    layers = []
    while len(layers) < config.num_layers:
        keys = torch.zeros(*shape, device=device).to(dtype).transpose(1, 2)
        layers.append(KVCache(keys, torch.zeros_like(keys), length=0))
    return DecoderCache(layers, [])
