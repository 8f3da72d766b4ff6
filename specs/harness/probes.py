"""A recorded call asked once more: in float64, with gradients, odd layouts, on another device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from specs.harness import check, globalstate, tampering
from specs.harness.boundary import boundary
from specs.harness.failure import Red, in_one_line
from specs.harness.forbidden import NotWithAten
from specs.harness.forms import assert_form
from specs.harness.guard import Guard, Kept, changed_state
from specs.harness.judgement import Judgement
from specs.harness.places import assert_places
from specs.harness.values import copy, is_tensor, leaves, rebuild, tensors

# float64, but a √d_k held in a float32 tensor is fair: it is 6e-8 off.
RTOL, ATOL = 1e-6, 1e-8

Function = Callable[..., Any]


def probe(guard: Guard, call: Judgement) -> None:
    """Ask everything of one call that the spec made and that the reference accepts."""
    if any(tensor.is_meta for tensor in tensors((call.arguments, call.answer))):
        return  # tensors without values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the call is not the spec's: nobody asked for what it says
        _ask(guard, call)


def _ask(guard: Guard, call: Judgement) -> None:
    before, names = globalstate.take(), tampering.Names()
    try:
        if not (call.tosses_coins or guard.changes):
            _probe_values(guard, call)
        assert_places(guard, call)
    finally:
        changed = {*names.put_back(), *before.put_back()} - globalstate.BY_IMPORTS
        changed -= call.may_change
    if changed:  # in float64 alone, say
        raise changed_state(" and ".join(sorted(changed)))


def _probe_values(guard: Guard, call: Judgement) -> None:
    arguments = copy(call.arguments)
    if "dtype" in guard.signature.parameters:
        arguments["dtype"] = torch.float64
    wide = rebuild(arguments, _widened)
    odd = rebuild(wide, _spread_out)
    if not any(leaf.is_floating_point() for leaf in tensors(arguments)):
        wanted = call.once("in float64", lambda: guard.put(guard.judge, copy(wide)))
        for layout in (wide, odd):
            agree(guard, _in_float64(guard, layout), wanted)
        return
    asking = [path for path, leaf in leaves(wide) if is_tensor(leaf) and leaf.requires_grad]
    needed = not all(_is_free(guard, path) for path in asking)
    with torch.enable_grad():
        wanted = call.once("in float64", lambda: guard.put(guard.judge, _fresh(wide)))
        with NotWithAten(guard.tokens) if guard.tokens else torch.enable_grad():
            agree(guard, _in_float64(guard, _fresh(wide)), wanted, needed)
        for layout, transposed in ((wide, False), (odd, True)):
            mine = _fresh(layout)
            answer = _in_float64(guard, mine)
            agree(guard, answer, wanted, needed)
            expected = call.once(
                f"gradients, transposed: {transposed}",
                partial(_judged_gradients, guard, layout, transposed),
            )
            _compare_gradients(guard, answer, mine, expected, transposed)


def _judged_gradients(
    guard: Guard, arguments: dict[str, Any], transposed: bool
) -> dict[str, Tensor]:
    arguments = _fresh(arguments)
    return _gradients(guard.put(guard.judge, arguments), arguments, transposed)


def _in_float64(guard: Guard, arguments: dict[str, Any]) -> Any:
    kept = Kept(arguments, guard.changes)
    try:
        answer = guard.put(guard.function, arguments)
    except Red:
        raise
    except Exception as error:
        message = in_one_line(error)
        sentence = "It fails on inputs in float64 that need a gradient, or are not contiguous."
        raise Red("raised", sentence, rows=[("raised", message)], yours=message) from error
    kept.assert_unchanged()
    guard.refuse_graph(answer, arguments)
    return answer


def _widened(leaf: Any) -> Any:
    """Turn floating-point tensors, and a dtype asked for, to float64."""
    if is_tensor(leaf) and leaf.is_floating_point():
        return leaf.detach().double().requires_grad_()
    return torch.float64 if isinstance(leaf, torch.dtype) and leaf.is_floating_point else leaf


def _spread_out(leaf: Any) -> Any:
    """Lay a tensor out back to front and with gaps: no two axes are one stretch of memory."""
    if not is_tensor(leaf) or not leaf.dim():
        return leaf
    axes = tuple(reversed(range(leaf.dim())))
    turned = leaf.detach().permute(axes)
    gaps = torch.stack([turned, torch.zeros_like(turned)], dim=-1).contiguous()
    return gaps[..., 0].permute(axes).requires_grad_(leaf.requires_grad)


def _fresh(arguments: dict[str, Any]) -> dict[str, Any]:
    """Copy arguments with their layout, each floating tensor a leaf of a new graph."""

    def renew(leaf: Any) -> Any:
        if not is_tensor(leaf):
            return copy(leaf)
        gaps = leaf.detach()
        if not gaps.is_contiguous() and gaps.dim():
            return _spread_out(leaf)
        return gaps.clone().requires_grad_(leaf.requires_grad)

    return dict(rebuild(arguments, renew))


def agree(guard: Guard, answer: Any, wanted: Any, gradients: bool = True) -> None:
    """Assert that an answer has the reference's form and values, exact ones where not floats."""
    assert_form(answer, wanted, guard.names, gradients)
    check.assert_close(answer, wanted, rtol=RTOL, atol=ATOL)


def _is_free(guard: Guard, path: str) -> bool:
    """Whether the contract leaves the gradient of an input open."""
    return path.partition(".")[0].partition("[")[0] in guard.free_gradients


def _cotangents(answer: Any, transposed: bool) -> list[tuple[Tensor, Tensor]]:
    """Pair every result that has a graph with a gradient to send back through it.

    Where a result is not finite, which way a gradient takes is anybody's choice: 0 is sent there.
    """
    pairs = []
    for result in tensors(answer):
        if result.requires_grad and result.is_floating_point():
            steps = torch.arange(result.numel(), dtype=result.dtype)
            gradient = torch.cos(steps * 1.7 + 0.3).reshape(result.shape)
            gradient = gradient.masked_fill(~torch.isfinite(result.detach()), 0.0)
            if transposed and gradient.dim() > 1:
                gradient = gradient.mT.contiguous().mT
            pairs.append((result, gradient))
    return pairs


def _gradients(answer: Any, arguments: dict[str, Any], transposed: bool) -> dict[str, Tensor]:
    named = {
        path: leaf for path, leaf in leaves(arguments) if is_tensor(leaf) and leaf.requires_grad
    }
    pairs = _cotangents(answer, transposed)
    if not pairs or not named:
        return {path: torch.zeros_like(leaf) for path, leaf in named.items()}
    # Not `grad_outputs`, for which torch loads SymPy, a second's work. A product sends its other
    # factor back, in that factor's layout.
    total = torch.stack([(result * gradient).sum() for result, gradient in pairs]).sum()
    found = torch.autograd.grad(total, list(named.values()), allow_unused=True)
    return {
        path: torch.zeros_like(leaf) if gradient is None else gradient.to_dense()
        for (path, leaf), gradient in zip(named.items(), found, strict=True)
    }


def _compare_gradients(
    guard: Guard,
    answer: Any,
    arguments: dict[str, Any],
    expected: dict[str, Tensor],
    transposed: bool,
) -> None:
    try:
        with boundary(guard.tag), guard.not_with():  # a backward pass may be the learner's own
            found = _gradients(answer, arguments, transposed)
    except Red:
        raise
    except Exception as error:
        message = in_one_line(error)
        raise Red(
            "gradient", "No gradient can be sent back.", rows=[("raised", message)], yours=message
        ) from error
    for path, gradient in found.items():
        if _is_free(guard, path):
            continue
        try:
            check.assert_close(gradient, expected[path], rtol=RTOL, atol=ATOL)
        except Red as red:
            layout = ", sent back through a transposed layout" if transposed else ""
            sentence = f"The gradient of {path} is wrong{layout}."
            raise Red("gradient", sentence, rows=red.rows, yours=gradient) from None
