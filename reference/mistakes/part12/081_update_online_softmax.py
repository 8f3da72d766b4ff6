"""Wrong versions of step 081, one slip each."""

import torch

from kata.weights import OnlineSoftmax


def divided_not_multiplied(state, scores_block, values_block):
    """The accumulator is divided by exp(old − new), as a printed formula has it, not multiplied."""
    new = _update(state, scores_block, values_block)
    shrink = _shrink(state, new.row_max)[..., None]
    turned_up = state.accumulator / shrink.masked_fill(shrink == 0, 1.0)
    return new._replace(accumulator=new.accumulator - shrink * state.accumulator + turned_up)


def accumulator_not_turned_down(state, scores_block, values_block):
    """What was mixed before stays as loud as it was, though a louder key has come."""
    new = _update(state, scores_block, values_block)
    kept = 1 - _shrink(state, new.row_max)[..., None]
    return new._replace(accumulator=new.accumulator + kept * state.accumulator)


def sum_not_turned_down(state, scores_block, values_block):
    """The old sum is not turned down, so the shares no longer add up to 1."""
    new = _update(state, scores_block, values_block)
    kept = 1 - _shrink(state, new.row_max)
    return new._replace(row_sum=new.row_sum + kept * state.row_sum)


def maximum_of_the_block_alone(state, scores_block, values_block):
    """The maximum is that of the new block, even if a louder key came before."""
    scores = scores_block.to(state.row_max.dtype)
    row_max = scores.amax(dim=-1)
    raised = torch.exp(scores - _finite(row_max)[..., None])
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def one_maximum_for_all(state, scores_block, values_block):
    """One maximum serves all queries, and beside a loud query a quiet one hears nothing."""
    scores, row_max = _scores_and_max(state, scores_block)
    row_max = row_max.amax().expand_as(row_max)
    raised = torch.exp(scores - _finite(row_max)[..., None])
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def nan_where_all_is_hidden(state, scores_block, values_block):
    """A first block that is hidden whole becomes NaN: −∞ − (−∞) has no answer."""
    scores, row_max = _scores_and_max(state, scores_block)
    raised, shrink = torch.exp(scores - row_max[..., None]), torch.exp(state.row_max - row_max)
    return _summed(state, values_block, row_max, shrink, raised)


def nan_swept_away(state, scores_block, values_block):
    """The NaN of −∞ − (−∞) is swept away afterwards, but the gradient is NaN still."""
    scores, row_max = _scores_and_max(state, scores_block)
    raised = torch.nan_to_num(torch.exp(scores - row_max[..., None]), nan=0.0)
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def finite_stand_in(state, scores_block, values_block):
    """−50000 stands in for −∞: scores of −60000 are below it and count for nothing."""
    scores, row_max = _scores_and_max(state, scores_block)
    row_max = row_max.clamp(min=-5e4)
    raised = torch.exp(scores - row_max[..., None])
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def divided_in_every_block(state, scores_block, values_block):
    """The mixture is divided by the sum after each block, where 082 does that once at the end."""
    new = _update(state, scores_block, values_block)
    return new._replace(accumulator=new.accumulator / new.row_sum.clamp(min=1.0)[..., None])


def in_the_blocks_own_precision(state, scores_block, values_block):
    """The new state is of the block's type: in half precision the sum stops growing."""
    new = _update(state, scores_block, values_block)
    return OnlineSoftmax(*(part.to(scores_block.dtype) for part in new))


def state_changed_in_place(state, scores_block, values_block):
    """The old state is changed in place: whoever gave it finds other numbers in it."""
    new = _update(state, scores_block, values_block)
    for old, part in zip(state, new, strict=True):
        old.data.copy_(part)
    return new


def scores_detached(state, scores_block, values_block):
    """The scores are detached: queries and keys never learn."""
    return _update(state, scores_block.detach(), values_block)


def maximum_detached(state, scores_block, values_block):
    """The maximum is detached, alone or with all the rest: no gradient flows back from a result."""
    new = _update(state, scores_block, values_block)
    return new._replace(row_max=new.row_max.detach())


def maximum_never_below_zero(state, scores_block, values_block):
    """The maximum never falls below 0: scores far below it weigh next to nothing."""
    scores, row_max = _scores_and_max(state, scores_block)
    row_max = row_max.clamp(min=0.0)
    raised = torch.exp(scores - row_max[..., None])
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def _update(state, scores_block, values_block):
    scores, row_max = _scores_and_max(state, scores_block)
    raised = torch.exp(scores - _finite(row_max)[..., None])
    return _summed(state, values_block, row_max, _shrink(state, row_max), raised)


def _scores_and_max(state, scores_block):
    scores = scores_block.to(state.row_max.dtype)
    return scores, torch.maximum(state.row_max, scores.amax(dim=-1))


def _finite(row_max):
    return row_max.masked_fill(row_max == -torch.inf, 0.0)


def _shrink(state, row_max):
    return torch.exp(state.row_max - _finite(row_max))


def _summed(state, values_block, row_max, shrink, raised):
    return OnlineSoftmax(
        row_max,
        shrink * state.row_sum + raised.sum(dim=-1),
        shrink[..., None] * state.accumulator + raised @ values_block.to(raised.dtype),
    )
