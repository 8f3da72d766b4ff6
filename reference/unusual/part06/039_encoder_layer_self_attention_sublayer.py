"""039 · encoder_layer_self_attention_sublayer, right all the same."""

import torch

from kata.part04_multi_head import assemble_multi_head_attention_forward
from kata.part05_sublayers import apply_dropout, layer_norm


def heads_in_a_loop(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """One packed matrix for queries, keys and values, one head after the other, own norm."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    weights = layer.self_attention
    packed = torch.cat([part.weight for part in weights[:3]]).to(wide.dtype)
    projected = torch.einsum("btd,ed->bte", wide, packed)
    if weights.query.bias is not None:
        projected = projected + torch.cat([part.bias for part in weights[:3]])
    queries, keys, values = projected.chunk(3, dim=-1)
    if source_mask.dtype != torch.bool:
        raise TypeError(f"a bool mask is wanted, got {source_mask.dtype}")
    heard, d_k = [], x.shape[-1] // num_heads
    for head in range(num_heads):
        part = slice(head * d_k, (head + 1) * d_k)
        scores = torch.einsum("bqd,bkd->bqk", queries[..., part], keys[..., part]) * d_k**-0.5
        scores = scores.masked_fill(~source_mask[:, 0], float("-inf"))
        raised = (scores - scores.detach().amax(dim=-1, keepdim=True).clamp(min=-1e30)).exp()
        shares = raised / raised.sum(dim=-1, keepdim=True).clamp(min=1e-30)
        heard.append(torch.einsum("bqk,bkd->bqd", shares, values[..., part]))
    output = torch.cat(heard, dim=-1) @ weights.output.weight.to(wide.dtype).T
    if weights.output.bias is not None:
        output = output + weights.output.bias
    total = wide + apply_dropout(output, dropout_rate, generator)
    mean = total.mean(dim=-1, keepdim=True)
    variance = total.square().mean(dim=-1, keepdim=True) - mean.square()
    gain, bias = layer.self_attention_norm
    return ((total - mean) * (variance + 1e-5).rsqrt() * gain + bias).to(x.dtype)


def coins_at_every_rate(x, layer, num_heads, source_mask, dropout_rate=0.0, generator=None):
    """Coins are tossed at rate 1 too, where all of them fall on one side."""
    heard, _ = assemble_multi_head_attention_forward(
        x, x, layer.self_attention, num_heads, source_mask
    )
    if dropout_rate > 0:
        coins = torch.rand(heard.shape, generator=generator, dtype=heard.dtype, device=heard.device)
        kept = heard / (1 - dropout_rate) if dropout_rate < 1 else heard
        heard = torch.where(coins < dropout_rate, 0.0, kept)
    return layer_norm(x + heard, layer.self_attention_norm)
