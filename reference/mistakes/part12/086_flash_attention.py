"""Wrong versions of step 086, one slip each."""

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from kata.part03_attention import scaled_dot_product_attention
from kata.part12_flash_attention import flash_attention_backward, flash_attention_forward


def plain_forward(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Step 084 is called as it is: autograd keeps every tile of it for the way back."""
    output, _ = flash_attention_forward(queries, keys, values, causal, query_block, key_block)
    return output


def step_022(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Step 022 does the work: right in every number, and the table of scores is back."""
    mask = _staircase(queries, keys, causal)
    return scaled_dot_product_attention(queries, keys, values, mask)[0]


def built_in(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Torch's own attention does the work that this part is there to build."""
    return functional.scaled_dot_product_attention(
        queries, keys, values, _staircase(queries, keys, causal)
    )


def built_in_on_the_way_back(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Torch's own attention is asked for the gradients, behind the scenes of the way back."""
    return _BuiltInBehind.apply(queries, keys, values, causal, query_block, key_block)


def output_cut_off(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The output is cut off from its inputs: no gradient flows back at all."""
    with torch.no_grad():
        return plain_forward(queries, keys, values, causal, query_block, key_block)


def queries_alone_learn(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Only the queries get a gradient: None is returned for keys and values."""
    return _QueriesAlone.apply(queries, keys, values, causal, query_block, key_block)


def nothing_unless_queries_learn(
    queries, keys, values, causal=False, query_block=128, key_block=128
):
    """If the queries need no gradient, keys and values get none either."""
    return _IfQueries.apply(queries, keys, values, causal, query_block, key_block)


def settings_without_a_gradient(
    queries, keys, values, causal=False, query_block=128, key_block=128
):
    """The way back returns three gradients for six arguments: the settings need a None each."""
    return _ThreeOnly.apply(queries, keys, values, causal, query_block, key_block)


def causal_lost_on_the_way_back(
    queries, keys, values, causal=False, query_block=128, key_block=128
):
    """``causal`` is lost on the way back: the future is blamed for what it never said."""
    return _CausalLost.apply(queries, keys, values, causal, query_block, key_block)


def blocks_lost_on_the_way_back(
    queries, keys, values, causal=False, query_block=128, key_block=128
):
    """The way back takes blocks of 128, whatever was asked for: small tables are made whole."""
    return _BlocksLost.apply(queries, keys, values, causal, query_block, key_block)


def weights_kept(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The scores are kept for the way back: they are the table that was to be avoided."""
    return _ScoresKept.apply(queries, keys, values, causal, query_block, key_block)


def second_derivative_let_pass(queries, keys, values, causal=False, query_block=128, key_block=128):
    """``once_differentiable`` is missing: a second derivative is silently taken for zero."""
    return _Again.apply(queries, keys, values, causal, query_block, key_block)


def settings_of_the_last_call(queries, keys, values, causal=False, query_block=128, key_block=128):
    """The settings are kept on the class, not on ctx: the way back has those of the last call."""
    return _LastSettings.apply(queries, keys, values, causal, query_block, key_block)


def tensors_of_the_last_call(queries, keys, values, causal=False, query_block=128, key_block=128):
    """Inputs and output are kept outside ctx: the way back has those of the last call."""
    return _LastTensors.apply(queries, keys, values, causal, query_block, key_block)


def _staircase(queries, keys, causal):
    shape = (queries.shape[-2], keys.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool, device=queries.device)
    return mask.tril(keys.shape[-2] - queries.shape[-2]) if causal else mask


class _Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, *settings):
        output, log_sum_exp = flash_attention_forward(queries, keys, values, *settings)
        ctx.save_for_backward(queries, keys, values, output, log_sum_exp)
        ctx.settings = settings
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return *_grads(ctx, grad_output), None, None, None


def _grads(ctx, grad_output):
    return flash_attention_backward(grad_output, *ctx.saved_tensors[:5], *ctx.settings)


class _BuiltInBehind(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors[:3]]
        with torch.enable_grad():
            mask = _staircase(*inputs[:2], ctx.settings[0])
            output = functional.scaled_dot_product_attention(*inputs, mask)
        return *torch.autograd.grad(output, inputs, grad_output), None, None, None


class _QueriesAlone(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return _grads(ctx, grad_output)[0], None, None, None, None, None


class _IfQueries(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grads = _grads(ctx, grad_output) if ctx.needs_input_grad[0] else (None, None, None)
        return *grads, None, None, None


class _ThreeOnly(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return _grads(ctx, grad_output)


class _CausalLost(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        settings = (False, *ctx.settings[1:])
        grads = flash_attention_backward(grad_output, *ctx.saved_tensors, *settings)
        return *grads, None, None, None


class _BlocksLost(_Right):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grads = flash_attention_backward(grad_output, *ctx.saved_tensors, ctx.settings[0])
        return *grads, None, None, None


class _ScoresKept(_Right):
    @staticmethod
    def forward(ctx, queries, keys, values, *settings):
        output, log_sum_exp = flash_attention_forward(queries, keys, values, *settings)
        scores = queries @ keys.mT
        ctx.save_for_backward(queries, keys, values, output, log_sum_exp, scores)
        ctx.settings = settings
        return output


class _Again(_Right):
    @staticmethod
    def backward(ctx, grad_output):
        return *_grads(ctx, grad_output), None, None, None


_last = {}


class _LastSettings(_Right):
    @staticmethod
    def forward(ctx, queries, keys, values, *settings):
        _last["settings"] = settings
        return _Right.forward(ctx, queries, keys, values, *settings)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grads = flash_attention_backward(grad_output, *ctx.saved_tensors, *_last["settings"])
        return *grads, None, None, None


class _LastTensors(_Right):
    @staticmethod
    def forward(ctx, queries, keys, values, *settings):
        output = _Right.forward(ctx, queries, keys, values, *settings)
        found, log_sum_exp = flash_attention_forward(queries, keys, values, *settings)
        inputs = [each.detach() for each in (queries, keys, values)]
        _last["tensors"] = (*inputs, found, log_sum_exp)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        grads = flash_attention_backward(grad_output, *_last["tensors"], *ctx.settings)
        return *grads, None, None, None
