"""048 · apply_final_output_projection, the ways it goes wrong."""

import math

import torch

from kata.part04_multi_head import apply_linear_projection as _project


def transposed(x, output_projection):
    """The table is turned on its side: features are taken for words."""
    weight, bias = output_projection
    logits = x @ weight
    return logits if bias is None else logits + bias


def bias_forgotten(x, output_projection):
    """The bias is left out."""
    return _project(x, output_projection.weight)


def bias_expected(x, output_projection):
    """A bias is added whether there is one or not: None cannot be added."""
    return _project(x, output_projection.weight) + output_projection.bias


def bias_spread(x, output_projection):
    """The bias's shape is not looked at: one of another shape makes more sentences of one."""
    weight, bias = output_projection
    logits = _project(x, weight)
    return logits if bias is None else logits + bias


def scaled_again(x, output_projection):
    """The logits are multiplied by sqrt(d_model), which belongs to the embeddings."""
    weight, bias = output_projection
    return _project(x, weight * math.sqrt(x.shape[-1]), bias)


def divided_by_the_root(x, output_projection):
    """The logits are divided by sqrt(d_model), as attention scores are: not here."""
    weight, bias = output_projection
    return _project(x, weight / math.sqrt(x.shape[-1]), bias)


def last_position_only(x, output_projection):
    """Only the last position is scored: while learning, every position is asked."""
    return _project(x[:, -1:], *output_projection)


def best_word_only(x, output_projection):
    """The best word's id is returned, not the score of every word."""
    return _project(x, *output_projection).argmax(dim=-1)


def log_probabilities_already(x, output_projection):
    """The logits are turned into log-probabilities already: that is step 050."""
    logits = _project(x, *output_projection)
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()


def detached(x, output_projection):
    """The table is detached: it never learns from being the output."""
    weight, bias = output_projection
    return _project(x, weight.detach(), bias)


def bias_made_on_the_cpu(x, output_projection):
    """Where there is no bias, one of zeros is made on the CPU."""
    weight, bias = output_projection
    return _project(x, weight, torch.zeros(len(weight), dtype=x.dtype) if bias is None else bias)
