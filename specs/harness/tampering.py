"""Names that everybody uses: whatever the learner's code puts in their place is thrown out again.

Every comparison rests on ``isinstance``, ``torch.isclose`` and their kin. They are noted before the
learner's code runs, and put back first thing after it, before anything else is called.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

BUILT_INS = vars(builtins)
# Torch moves these itself: one with the default dtype, one when its compiler is loaded.
MOVES = ("Storage", "manual_seed")
BUILT_INS_CHANGED = "Python's built-in functions"
HARNESS = [f"{__package__}.{path.stem}" for path in Path(__file__).parent.glob("*.py")]


@dataclass(frozen=True)
class Space:
    """Where names live: a module, a class, a spec."""

    label: str
    names: dict[str, Any] | MappingProxyType[str, Any]
    put: Callable[[str, Any], None]
    drop: Callable[[str], None]
    hidden: tuple[Mapping[str, Any], ...]  # the names that a new one here would stand before


_harness: dict[str, list[Space]] = {}  # by module
_spec: list[Space] = []  # of the spec that runs


def watch_spec(names: dict[str, Any]) -> None:
    """Say which names are the spec's own, from now on."""
    _spec[:] = [_dict("the spec", names)]


class Names:
    """What the names meant: the built-in ones alone, or everybody's."""

    def __init__(self, *, all_spaces: bool = True) -> None:
        self.built_ins = BUILT_INS.copy()
        self.spaces = [(one, one.names.copy()) for one in (_spaces() if all_spaces else ())]

    def put_back(self) -> list[str]:
        """Put every name back, and say which had to be.

        Until the built-in functions are themselves again, none of them is called here.
        """
        changed = []
        for name in [*BUILT_INS]:
            if name not in self.built_ins and name != "_":  # the interpreter's own
                del BUILT_INS[name]
                changed += [BUILT_INS_CHANGED]
        for name in self.built_ins:
            if name not in BUILT_INS or BUILT_INS[name] is not self.built_ins[name]:
                BUILT_INS[name] = self.built_ins[name]
                if name != "_":
                    changed += [BUILT_INS_CHANGED]
        for space, before in self.spaces:
            changed += _put_back(space, before)
        return sorted(set(changed))


def _put_back(space: Space, before: dict[str, Any]) -> list[str]:
    now, missing = space.names, object()
    if len(now) == len(before) and all(map(operator.is_, before.values(), now.values())):
        return []
    changed = []
    for name, value in before.items():
        is_code = callable(value) or hasattr(value, "__get__")  # the harness sets plain values
        if is_code and now.get(name, missing) is not value and name not in MOVES:
            space.put(name, value)
            changed.append(f"{space.label}.{name}")
    for name in [name for name in now if name not in before]:
        if any(name in names for names in space.hidden):  # other new names harm nobody
            space.drop(name)
            changed.append(f"{space.label}.{name}")
    return changed


def _spaces() -> list[Space]:
    """Where the names live, as far as the libraries are loaded."""
    found = [_module(math), *_spec]
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        found += [_module(torch), _module(torch.nn.functional), _class(torch.Tensor)]
    for name in HARNESS:
        if name not in _harness and (module := sys.modules.get(name)) is not None:
            _harness[name] = [_module(module), *map(_class, _classes(module))]
        found += _harness.get(name, ())
    return found


def _module(module: Any) -> Space:
    return _dict(module.__name__, vars(module))


def _dict(label: str, names: dict[str, Any]) -> Space:
    return Space(label, names, names.__setitem__, names.__delitem__, (BUILT_INS,))


def _class(owner: type) -> Space:
    def put(name: str, value: Any) -> None:
        setattr(owner, name, value)

    def drop(name: str) -> None:
        delattr(owner, name)

    label = "torch.Tensor" if owner.__module__.startswith("torch") else owner.__qualname__
    return Space(label, vars(owner), put, drop, tuple(map(vars, owner.__mro__[1:])))


def _classes(module: Any) -> list[type]:
    values = vars(module).values()
    return [one for one in values if isinstance(one, type) and one.__module__ == module.__name__]
