"""Wrong versions of merge_heads_and_project_output, one slip each."""

from kata.part04_multi_head import apply_linear_projection as _project
from kata.part04_multi_head import merge_heads_back_to_model_dim as _merge


def projection_skipped(heads, output_weights):
    """The merged heads are returned, not what the output projection makes of them."""
    return _merge(heads)


def heads_not_moved_back(heads, output_weights):
    """The heads are reshaped without moving back behind the tokens: the tokens are torn up."""
    batch, _, length, _ = heads.shape
    return _project(heads.reshape(batch, length, -1), *output_weights)


def dealt_like_cards(heads, output_weights):
    """The heads' features take turns, like shuffled cards: each head's slice should stay whole."""
    return _project(heads.permute(0, 2, 3, 1).flatten(-2), *output_weights)


def bias_forgotten(heads, output_weights):
    """The output bias is forgotten."""
    return _project(_merge(heads), output_weights.weight)


def bias_once_a_head(heads, output_weights):
    """Each head is projected with the bias, so that the sum holds it once per head."""
    weight, bias = output_weights
    projected = _project(_merge(heads), weight)
    return projected if bias is None else projected + heads.shape[1] * bias


def weight_not_transposed(heads, output_weights):
    """The output weight is used as it lies, not transposed."""
    return _project(_merge(heads), output_weights.weight.T, output_weights.bias)


def projected_twice(heads, output_weights):
    """The output projection is applied twice."""
    return _project(_project(_merge(heads), *output_weights), *output_weights)


def first_block_for_every_head(heads, output_weights):
    """One small matrix, the weight's first columns, serves every head."""
    weight, bias = output_weights
    return _project(heads.sum(dim=1), weight[:, : heads.shape[-1]], bias)


def heads_detached(heads, output_weights):
    """The heads are detached, so that only the output projection learns."""
    return _project(_merge(heads).detach(), *output_weights)
