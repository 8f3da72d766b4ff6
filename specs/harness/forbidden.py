"""What a step may not call, because it is there to build it.

Three nets, since each has holes. ``NotWith`` sees calls as they are written, but not those made in
another thread, in TorchScript or with torch functions disabled. ``NotWithAten`` sees the operators
underneath, but not functions that torch takes apart first, ``linear`` into a matrix product, say.
``refuse_graph`` sees what took part in the answer, wherever it ran, but only with gradients on.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from specs.harness.backward import BACKWARD, run_backward
from specs.harness.failure import Red
from specs.harness.families import Family, families, plain, relatives, tokens_for
from specs.harness.tensors import tensors_in

__all__ = ["NotWith", "NotWithAten", "families", "refuse_graph", "tokens_for"]

UNKNOWN = object()
OPERATORS = ("aten", "prims", "quantized", "mkldnn", "onednn")  # others may be the learner's own
MODES = frozenset(f"specs.harness.{name}" for name in ("forbidden", "devices", "backward"))
# Torch's plumbing, which nobody calls by name.
PLUMBING = re.compile(r"torch\.(_(?!refs|decomp)\w+|overrides|autograd|utils\._\w+)(\..*)?")
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")


class Table:
    """Which family a call belongs to, remembered: a spec asks about few names many times."""

    def __init__(self, tokens: frozenset[str]) -> None:
        own = families(tokens)
        near = [(one.token, other) for one in own for other in relatives(one)]
        self.rows = [*((family.token, family) for family in own), *near]
        self.calls: dict[object, str | None] = {}
        self.places: dict[tuple[str, str], str | None] = {}

    def by_call(self, func: Any) -> str | None:
        """The family of a function, method, operator or the name of an autograd node."""
        token = self.calls.get(func, UNKNOWN)
        if token is UNKNOWN:
            name = func if isinstance(func, str) else _own_name(func)
            token = self.calls[func] = self._first(lambda family: family.calls, plain(name))
        return token  # type: ignore[return-value]  # mypy cannot tell UNKNOWN from a name

    def by_place(self, module: str, function: str) -> str | None:
        """The family whose job torch's own Python code does there."""
        token = self.places.get((module, function), UNKNOWN)
        if token is UNKNOWN:
            token = self._first(lambda family: family.within, f"{module}.{function}")
            token = token or self.by_call(function.rpartition(".")[2])
            self.places[module, function] = token
        return token  # type: ignore[return-value]  # as above

    def _first(self, pattern: Callable[[Family], str], name: str) -> str | None:
        return next((token for token, one in self.rows if re.fullmatch(pattern(one), name)), None)


table = cache(Table)


class NotWith(TorchFunctionMode):
    """Refuse calls of the families named, whichever way they are spelled.

    Code that swallows the error gains nothing: ``refused`` keeps it, leaving the mode raises it.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        super().__init__()
        self.table = table(frozenset(tokens))
        self.refused: Red | None = None

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Refuse the call, or make it."""
        _check(self, func, sys._getframe(1))
        if func in BACKWARD:
            return run_backward(self, func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def __exit__(self, *error: Any) -> None:
        """Leave the mode, with the refusal if there was one."""
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        _raise_swallowed(self.refused, error[1])


class NotWithAten(TorchDispatchMode):
    """Refuse the same one level down, where torch functions are disabled or compiled."""

    def __init__(self, tokens: Iterable[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.table = table(frozenset(tokens))
        self.refused: Red | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave torch's compiler out: by default a mode's first operator imports it, for 1.8 s."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Refuse the operator, or run it."""
        _check(self, func, sys._getframe(1))
        return func(*args, **(kwargs or {}))

    def __exit__(self, *error: Any) -> None:
        """Leave the mode, with the refusal if there was one."""
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        _raise_swallowed(self.refused, error[1])


def refuse_graph(result: object, tokens: Iterable[str], given: object = ()) -> None:
    """Refuse a result whose autograd graph, up to what was ``given``, holds a forbidden node."""
    known = table(frozenset(tokens))
    seen: set[Any] = {None, *(tensor.grad_fn for tensor in tensors_in(given))}
    waiting: list[Any] = [tensor.grad_fn for tensor in tensors_in(result)]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        # A learner's own autograd.Function may have any name.
        token = None if isinstance(node, BackwardCFunction) else known.by_call(node.name())
        if token:
            raise _refusal(token, f"{node.name()} in the answer's graph", None)
        waiting.extend(parent for parent, _ in node.next_functions)


def _check(mode: NotWith | NotWithAten, func: Any, frame: FrameType | None) -> None:
    """Refuse ``func`` by its name, or by the torch code that it is called from."""
    if func is torch._C._set_grad_enabled:
        return  # done in decorators, before the function that anybody would know
    token = mode.table.by_call(func)
    frames, caller = [], frame
    while caller is not None:
        module = str(caller.f_globals.get("__name__"))
        if module == "torch" or module.startswith("torch."):
            token = token or mode.table.by_place(module, caller.f_code.co_qualname)
            frames.append(caller)
        elif module not in MODES:
            break
        caller = caller.f_back
    if token:
        red = _refusal(token, _spelled(func, frames), caller)
        mode.refused = mode.refused or red
        raise red


def _refusal(token: str, spelled: str, caller: FrameType | None) -> Red:
    rows = [] if caller is None else [("line", _line(caller))]
    sentence = f"{token} was called ({spelled}), which is yours to build"
    return Red("forbidden", sentence, rows=rows, yours=spelled)


def _raise_swallowed(refused: Red | None, error: BaseException | None) -> None:
    # What is no Exception, the alarm say, has its own tale to tell.
    if refused is not None and error is not refused and isinstance(error, Exception | None):
        raise refused from error


def _line(frame: FrameType) -> str:
    """The learner's own line: ``kata/part03_attention.py:118  torch.softmax(scores, -1)``."""
    file = Path(frame.f_code.co_filename)
    source = linecache.getline(str(file), frame.f_lineno).strip()
    return f"{'/'.join(file.parts[-2:])}:{frame.f_lineno}  {source}".rstrip()


def _own_name(func: Any) -> str:
    """The name of a function of torch's; nothing for what only uses torch's machinery."""
    module = getattr(func, "__module__", None) or "torch"
    space = module.removeprefix("torch._ops.")
    foreign = space != module and space not in OPERATORS
    return "" if foreign or not module.startswith("torch") else str(getattr(func, "__name__", ""))


def _spelled(func: Any, frames: list[FrameType]) -> str:
    """The call as it was written: torch's outermost code on the way to it, or the function."""
    for frame in reversed(frames):
        module, function = str(frame.f_globals["__name__"]), frame.f_code.co_qualname
        owner = type(frame.f_locals.get("self"))
        if owner.__name__ in CONTAINERS or PLUMBING.fullmatch(module):
            continue
        if owner.__module__.startswith("torch."):
            return _public(owner.__module__, owner.__name__)
        if "<locals>" not in function:
            return _public(module, function)
    module = getattr(func, "__module__", None) or "torch.Tensor"
    if module.startswith("torch._ops"):
        return f"torch.ops.{func}"
    if module == "torch._C._nn" and getattr(torch.nn.functional, func.__name__, None) == func:
        module = "torch.nn.functional"
    return f"{module}.{func.__name__}".replace("torch._C._special.special_", "torch.special.")


def _public(module: str, name: str) -> str:
    """The shortest path under which torch shows what ``module`` defines: ``torch.nn.Softmax``."""
    parts, shown = module.split("."), name.lstrip("_")
    for size in range(1, len(parts) + 1):
        parent = sys.modules.get(".".join(parts[:size]), ModuleType(""))
        if getattr(getattr(parent, shown, None), "__module__", None) == module:
            return f"{parent.__name__}.{shown}"
    return f"{module}.{name}"
