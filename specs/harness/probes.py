"""What is asked of a recorded call once more: in float64, with gradients, with odd layouts, on another device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from specs.harness import check, globalstate
from specs.harness.boundary import boundary
from specs.harness.devices import DeviceMix, PretendedDevice
from specs.harness.failure import Red
from specs.harness.forbidden import NotWithAten
from specs.harness.forms import ELSEWHERE, assert_form
from specs.harness.guard import Call, Guard
from specs.harness.values import copy, is_tensor, leaves, rebuild, show, tensors

# float64, but a √d_k held in a float32 tensor is fair: it is 6e-8 off.
RTOL, ATOL = 1e-6, 1e-8

Function = Callable[..., Any]


def probe(guard: Guard, call: Call) -> None:
    """Ask everything of one call that the spec made and that the reference accepts."""
    if any(tensor.is_meta for tensor in tensors((call.arguments, call.judged))):
        return  # tensors without values
    before = globalstate.take()
    try:
        if _draws_at_random(call.arguments):
            _probe_device(guard, call)
            return
        if not guard.changes:
            _probe_values(guard, call)
        _probe_device(guard, call)
    finally:
        before.put_back()


def _draws_at_random(arguments: dict[str, Any]) -> bool:
    named = {path.rpartition(".")[2]: leaf for path, leaf in leaves(arguments)}
    return bool(named.get("dropout_rate")) or named.get("generator") is not None


def _run(guard: Guard, function: Function, arguments: dict[str, Any]) -> Any:
    """Call a function with arguments by name; the learner's may have other names for them."""
    bound = guard.signature.bind(**arguments)
    if function is guard.judge:
        return function(*bound.args, **bound.kwargs)
    with boundary(guard.tag), guard.not_with():
        return function(*bound.args, **bound.kwargs)


def _probe_values(guard: Guard, call: Call) -> None:
    arguments = copy(call.arguments)
    if "dtype" in guard.signature.parameters:
        arguments["dtype"] = torch.float64
    wide = rebuild(arguments, _widened)
    if not any(leaf.is_floating_point() for leaf in tensors(arguments)):
        agree(guard, _in_float64(guard, wide), _run(guard, guard.judge, wide))
        return
    odd = rebuild(wide, _spread_out)
    with torch.enable_grad():
        wanted = _run(guard, guard.judge, _fresh(wide))
        with NotWithAten(guard.tokens) if guard.tokens else torch.enable_grad():
            agree(guard, _in_float64(guard, _fresh(wide)), wanted)
        for arguments, transposed in ((wide, False), (odd, True)):
            mine, theirs = _fresh(arguments), _fresh(arguments)
            answer = _in_float64(guard, mine)
            agree(guard, answer, wanted)
            _compare_gradients(answer, _run(guard, guard.judge, theirs), mine, theirs, transposed)


def _in_float64(guard: Guard, arguments: dict[str, Any]) -> Any:
    try:
        return _run(guard, guard.function, arguments)
    except Red:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        sentence = "It fails on float64 inputs, or on inputs that are not contiguous."
        raise Red("raised", sentence, rows=[("raised", message)], yours=message) from error


def _widened(leaf: Any) -> Any:
    """Turn floating-point tensors, and a dtype asked for, to float64."""
    if is_tensor(leaf) and leaf.is_floating_point():
        return leaf.detach().double().requires_grad_()
    return torch.float64 if isinstance(leaf, torch.dtype) and leaf.is_floating_point else leaf


def _spread_out(leaf: Any) -> Any:
    """Lay a tensor out with gaps, so that it is not contiguous."""
    if not is_tensor(leaf) or not leaf.dim():
        return leaf
    gaps = torch.stack([leaf.detach(), torch.zeros_like(leaf)], dim=-1)
    return gaps[..., 0].requires_grad_(leaf.requires_grad)


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


def agree(guard: Guard, answer: Any, wanted: Any) -> None:
    """Assert that an answer has the reference's form and values, exactly where they are no floats."""
    assert_form(answer, wanted, guard.names)
    for (_, mine), (_, theirs) in zip(leaves(answer), leaves(wanted), strict=True):
        if (is_tensor(theirs) and theirs.is_floating_point()) or isinstance(theirs, float):
            check.assert_close(mine, theirs, rtol=RTOL, atol=ATOL)
        else:
            check.assert_equal(mine, theirs)


def _cotangents(answer: Any, transposed: bool) -> list[tuple[Tensor, Tensor]]:
    """Pair every result that has a graph with a gradient to send back through it."""
    pairs = []
    for result in tensors(answer):
        if result.requires_grad and result.is_floating_point():
            steps = torch.arange(result.numel(), dtype=result.dtype)
            gradient = torch.cos(steps * 1.7 + 0.3).reshape(result.shape)
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
    found = torch.autograd.grad(
        [result for result, _ in pairs],
        list(named.values()),
        [gradient for _, gradient in pairs],
        allow_unused=True,
    )
    return {
        path: torch.zeros_like(leaf) if gradient is None else gradient
        for (path, leaf), gradient in zip(named.items(), found, strict=True)
    }


def _compare_gradients(
    answer: Any, wanted: Any, mine: dict[str, Any], theirs: dict[str, Any], transposed: bool
) -> None:
    expected = _gradients(wanted, theirs, transposed)
    try:
        found = _gradients(answer, mine, transposed)
    except RuntimeError as error:
        message = str(error).splitlines()[0]
        raise Red(
            "gradient", "No gradient can be sent back.", rows=[("raised", message)], yours=message
        ) from error
    for path, gradient in found.items():
        try:
            check.assert_close(gradient, expected[path], rtol=RTOL, atol=ATOL)
        except Red as red:
            layout = ", sent back through a transposed layout" if transposed else ""
            sentence = f"The gradient of {path} is wrong{layout}."
            raise Red("gradient", sentence, rows=red.rows, yours=gradient) from None


def _probe_device(guard: Guard, call: Call) -> None:
    """Run the call as if its tensors lay on another device, and look where the answer lies."""
    wanted = _places(guard, guard.judge, call)
    if wanted is None:
        return
    found = _places(guard, guard.function, call)
    if found is not None and found != wanted:
        rows = [("yours", f"on {show_places(found)}"), ("expected", f"on {show_places(wanted)}")]
        raise Red("device", ELSEWHERE, rows=rows, yours=found)


def show_places(places: list[str]) -> str:
    """Write where results lie."""
    return places[0] if len(set(places)) == 1 else show(places)


def _places(guard: Guard, function: Function, call: Call) -> list[str] | None:
    """Where a function's results lie when its inputs lie on a pretended device; None where it cannot be known."""
    pretended = PretendedDevice()
    arguments = copy(call.arguments)
    if "device" in guard.signature.parameters:
        if tensors(arguments):
            return None
        arguments["device"] = torch.device("cuda", 0)
    elif not tensors(arguments):
        return None
    order = [name for name in guard.signature.parameters if name in arguments]
    arguments = {name: arguments[name] for name in order}
    with torch.no_grad():
        pretended.place(arguments)
        try:
            with pretended:
                answer = _run(guard, function, arguments)
        except (DeviceMix, TypeError) as error:
            if isinstance(error, DeviceMix) or "device type tensor" in str(error):
                message = str(error).splitlines()[0]
                sentence = "With inputs on a GPU it fails: something is made or kept on the CPU."
                raise Red("device", sentence, rows=[("raised", message)], yours=message) from error
            return None
        except Red:
            raise
        except Exception:
            return None  # the pretence is not perfect: silence is better than a false alarm
        return [str(pretended.device_of(leaf)) for leaf in tensors(answer)]
