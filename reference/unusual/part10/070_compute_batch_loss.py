"""Right but unusual versions of step 070."""

import torch

from kata.part06_transformer import decode_target, encode_source, run_transformer_forward
from kata.part08_objective import (
    build_uniform_smoothing_distribution,
    compute_label_smoothed_kl_loss,
    set_confidence_on_gold_tokens,
)


def written_out(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """Written out in one piece; what is wanted is kept in float32."""
    heard = torch.full_like(target_ids, config.start_id)
    heard[:, 1:] = target_ids[:, :-1]
    memory, source_mask = encode_source(source_ids, weights, config, generator)
    log_probs = decode_target(heard, memory, source_mask, weights, config, generator)
    rows, gold = log_probs.reshape(-1, config.vocab_size), target_ids.reshape(-1)
    real = gold != config.pad_id
    wanted = torch.full(rows.shape, smoothing / (config.vocab_size - 2), device=gold.device)
    wanted[torch.arange(len(gold), device=gold.device), gold] = 1 - smoothing
    wanted[:, config.pad_id] = 0
    wanted = wanted * real[:, None]
    loss = (torch.xlogy(wanted, wanted) - wanted * rows).sum() / real.sum().clamp(min=1)
    right = ((rows.argmax(-1) == gold) & real).sum().item()
    return loss, right / max(real.sum().item(), 1)


def real_rows_only(source_ids, target_ids, weights, config, smoothing=0.1, generator=None):
    """The rows of padding are left out before anything is compared."""
    start = target_ids.new_full((len(target_ids), 1), config.start_id)
    heard = torch.hstack([start, target_ids])[:, :-1]
    log_probs = run_transformer_forward(source_ids, heard, weights, config, generator)
    real = target_ids.ne(config.pad_id)
    rows, gold = log_probs[real], target_ids[real]
    wanted = build_uniform_smoothing_distribution(
        gold[None], config.vocab_size, smoothing, rows.dtype
    )
    wanted = set_confidence_on_gold_tokens(wanted, gold[None], 1.0 - smoothing)
    wanted = wanted.index_fill(1, torch.tensor([config.pad_id], device=gold.device), 0.0)
    loss = compute_label_smoothed_kl_loss(rows, wanted) / max(1, len(gold))
    return loss, float((rows.argmax(-1) == gold).sum()) / max(1, len(gold))


def log_of_what_is_wanted_is_known(
    source_ids, target_ids, weights, config, smoothing=0.1, generator=None
):
    """No distribution is built: a real token's row holds V − 2 equal shares and one large one."""
    start = torch.tensor(config.start_id, device=target_ids.device).expand(len(target_ids), 1)
    heard = torch.cat([start, target_ids[:, :-1]], 1).to(target_ids.dtype)
    log_probs = run_transformer_forward(source_ids, heard, weights, config, generator)
    real = (target_ids != config.pad_id).nonzero(as_tuple=True)
    rows, gold = log_probs[real], target_ids[real]
    share, most = torch.tensor([smoothing / (config.vocab_size - 2), 1 - smoothing]).double()
    entropy = torch.xlogy(share, share) * (config.vocab_size - 2) + torch.xlogy(most, most)
    on_gold = rows.gather(-1, gold[:, None]).sum()
    elsewhere = rows.sum() - on_gold - rows[:, config.pad_id].sum()
    total = len(gold) * entropy.item() - most.item() * on_gold - share.item() * elsewhere
    hits = rows.argmax(-1).eq(gold).sum().item()
    return total / max(len(gold), 1), hits / max(len(gold), 1)
