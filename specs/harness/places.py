"""Where results lie, asked on a pretended GPU: given there, named, or torch's default."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from specs.harness.devices import DeviceMix, PretendedDevice
from specs.harness.failure import Red
from specs.harness.forms import ELSEWHERE
from specs.harness.guard import Guard
from specs.harness.judgement import Judgement
from specs.harness.values import copy, tensors

_NAMED = "device", ELSEWHERE
_DEFAULT = (
    "default device",
    "Without a device torch's default one is meant, and that is another one here.",
)

Function = Callable[..., Any]


def assert_places(guard: Guard, call: Judgement) -> None:
    """Run the call as if its tensors lay on another device, and look where the answer lies."""
    if isinstance(guard.function, torch.jit.ScriptFunction):
        return  # it runs out of the pretence's sight
    _compare(guard, call, by_default=False)
    if "device" in guard.signature.parameters:
        _compare(guard, call, by_default=True)


def _compare(guard: Guard, call: Judgement, by_default: bool) -> None:
    key = "on another device" + by_default * ", by default"
    wanted = call.once(key, lambda: _places(guard, guard.judge, call, by_default))
    if wanted is None:
        return
    found = _places(guard, guard.function, call, by_default)
    if found is not None and found != wanted:
        rows = [("yours", f"on {_shown(found)}"), ("expected", f"on {_shown(wanted)}")]
        kind, sentence = _DEFAULT if by_default else _NAMED
        raise Red(kind, sentence, rows=rows, yours=found)


def _shown(places: list[str]) -> str:
    return " and ".join(dict.fromkeys(places))


def _places(
    guard: Guard, function: Function, call: Judgement, by_default: bool
) -> list[str] | None:
    """Where results lie on a pretended device; None if that cannot be known."""
    pretended = PretendedDevice()
    arguments = _placeable(guard, call, by_default)
    if arguments is None:
        return None
    with torch.no_grad():
        pretended.place(arguments)
        try:
            with pretended, torch.device("cuda") if by_default else nullcontext():
                answer = guard.put(function, arguments)
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


def _placeable(guard: Guard, call: Judgement, by_default: bool) -> dict[str, Any] | None:
    """The arguments of a call that can be asked for on another device; None of one that cannot."""
    arguments = copy(call.arguments)
    if "device" not in guard.signature.parameters:
        return arguments if tensors(arguments) else None
    if tensors(arguments) or (by_default and arguments.get("generator") is not None):
        return None
    if by_default:
        arguments.pop("device", None)
    else:
        arguments["device"] = torch.device("cuda", 0)
    order = [name for name in guard.signature.parameters if name in arguments]
    return {name: arguments[name] for name in order}
