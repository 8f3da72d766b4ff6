"""Right but unusual versions of step 081."""

import torch

from kata.weights import OnlineSoftmax


def key_by_key(state, scores_block, values_block):
    """The block is a block of one key, many times over."""
    row_max, row_sum, mixed = state
    for key in range(scores_block.shape[-1]):
        score = scores_block[..., key].to(row_max.dtype)
        louder = torch.maximum(row_max, score)
        level = torch.where(torch.isneginf(louder), torch.zeros_like(louder), louder)
        old, new = (row_max - level).exp(), (score - level).exp()
        value = values_block[..., key, :].to(mixed.dtype)
        mixed = mixed * old.unsqueeze(-1) + new.unsqueeze(-1) * value.unsqueeze(-2)
        row_max, row_sum = louder, row_sum * old + new
    return OnlineSoftmax(row_max, row_sum, mixed)


def old_state_as_one_more_key(state, scores_block, values_block):
    """What was heard before stands beside the new keys: its score is the old maximum."""
    scores = torch.cat([state.row_max[..., None], scores_block.to(state.row_max.dtype)], dim=-1)
    row_max = scores.amax(dim=-1)
    level = torch.nan_to_num(row_max, neginf=0.0)
    raised = (scores - level[..., None]).exp()
    old, new = raised[..., :1], raised[..., 1:]
    return OnlineSoftmax(
        row_max,
        (old * state.row_sum[..., None]).sum(-1) + new.sum(-1),
        old * state.accumulator + torch.matmul(new, values_block.to(new.dtype)),
    )


def with_einsum(state, scores_block, values_block):
    """The mixture by einsum, and a maximum over the last axis that keeps its place."""
    scores = scores_block.to(state.row_sum.dtype)
    loudest = scores.max(dim=-1, keepdim=True).values
    row_max = torch.max(state.row_max.unsqueeze(-1), loudest)
    level = row_max.masked_fill(row_max == float("-inf"), 0.0)
    raised, shrink = torch.exp(scores - level), torch.exp(state.row_max.unsqueeze(-1) - level)
    mixed = torch.einsum("...qk,...kd->...qd", raised, values_block.to(raised.dtype))
    row_sum = state.row_sum * shrink.squeeze(-1) + torch.einsum("...k->...", raised)
    return OnlineSoftmax(row_max.squeeze(-1), row_sum, state.accumulator * shrink + mixed)


def sum_as_one_more_column(state, scores_block, values_block):
    """The sum is mixed like the values: a column of ones stands beside them."""
    scores = scores_block.to(state.row_max.dtype)
    row_max = torch.stack([state.row_max, scores.amax(dim=-1)]).amax(dim=0)
    level = torch.where(torch.isneginf(row_max), 0.0, row_max)[..., None]
    ones = torch.nn.functional.pad(values_block.to(scores.dtype), (0, 1), value=1.0)
    before = torch.cat([state.accumulator, state.row_sum[..., None]], dim=-1)
    now = before * (state.row_max[..., None] - level).exp() + (scores - level).exp() @ ones
    return OnlineSoftmax(row_max, now[..., -1], now[..., :-1])
