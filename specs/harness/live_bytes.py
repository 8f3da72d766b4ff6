"""Counts memory as it is claimed and let go: the peak of new bytes that are alive at once.

A process's memory says little about one function: arguments, caches and the allocator's reserves
are in it too. Here each new storage is seen as torch makes it and each end of one as it happens, so
the count is exact, the same on every machine, and holds for tensors of a few numbers already.
What an operator claims and lets go inside itself is not seen.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from specs.harness.guard import Guard
from specs.harness.tensors import tensors_in

aten = torch.ops.aten
# Where the two factors of a product stand among an operator's arguments.
PRODUCTS = {
    **dict.fromkeys((aten.mm, aten.bmm, aten.mv, aten.dot), 0),
    **dict.fromkeys((aten.addmm, aten.baddbmm, aten.addbmm, aten.addmv), 1),
}


class LiveBytes(TorchDispatchMode):
    """Count what is claimed while the mode is on, until it is let go; it may be entered again.

    ``alive`` is what is there now, ``peak`` the most that ever was at once, both in bytes.
    ``largest`` is the largest new tensor, in numbers. ``multiplications`` counts those inside
    matrix products.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.alive = 0
        self.peak = 0
        self.largest = 0
        self.multiplications = 0
        self._storages: dict[int, tuple[weakref.ref[Any], int]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave torch's compiler out: by default a mode's first operator imports it, for 1.8 s."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator; what it was given is old, other storages in its result are new."""
        with torch._C.DisableTorchFunction():
            for tensor in tensors_in((args, kwargs)):
                self._meet(tensor, new=False)
            result = func(*args, **(kwargs or {}))
            for tensor in tensors_in(result):
                self._meet(tensor, new=True)
        self.multiplications += _multiplications(func, args)
        return result

    def _meet(self, tensor: torch.Tensor, *, new: bool) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._storages:
            return
        size = storage.nbytes() if new else 0
        self._storages[key] = weakref.ref(storage, lambda _: self._part_with(key)), size
        self.alive += size
        self.peak = max(self.peak, self.alive)
        self.largest = max(self.largest, size // tensor.element_size())

    def _part_with(self, key: int) -> None:
        _, size = self._storages.pop(key)
        self.alive -= size


def _multiplications(func: Any, args: tuple[Any, ...]) -> int:
    first = PRODUCTS.get(func.overloadpacket)
    if first is None:
        return 0
    left, right = args[first : first + 2]
    return cast(int, left.numel() * (right.shape[-1] if right.dim() > 1 else 1))


@contextmanager
def measured(function: Any) -> Iterator[LiveBytes]:
    """Count what the function under test claims, and nothing that the harness does around it.

    The calls made here are not probed again in float64 and with odd layouts: they are large, and
    other tests ask for values.
    """
    guard, meter = cast(Guard, function), LiveBytes()
    plain, calls = guard.function, len(guard.calls)

    def counted(*args: Any, **kwargs: Any) -> Any:
        with meter:
            return plain(*args, **kwargs)

    guard.function = counted
    try:
        yield meter
    finally:
        guard.function = plain
        del guard.calls[calls:]
