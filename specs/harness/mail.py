"""Mail: what a worker sends to the others, and from where.

Gloo takes tensors on the CPU, nccl those on a GPU. Who mixes them up notices only on a machine that
has both.
"""

from __future__ import annotations

import re
import traceback
from typing import Any, cast

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from specs.harness.devices import PretendedDevice
from specs.harness.guard import Guard
from specs.harness.tensors import tensors_in


class Mail(TorchDispatchMode):
    """Notes the tensors that are sent to other workers from the CPU.

    Not what torch itself makes to send a Python object: it knows where to put it.
    """

    def __init__(self, pretended: PretendedDevice) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.pretended = pretended
        self.strays: list[str] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave torch's compiler out: by default a mode's first operator imports it, for 1.8 s."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and look at what it sends."""
        if func.namespace == "c10d" and "barrier" not in str(func) and not _sends_an_object():
            for tensor in tensors_in((args, kwargs)):
                if self.pretended.device_of(tensor).type == "cpu":
                    self.strays.append(f"{tensor.dtype} {tuple(tensor.shape)}")
        return func(*args, **(kwargs or {}))


def _sends_an_object() -> bool:
    frames = traceback.walk_stack(None)
    return any(re.search(r"_object(_list)?$", frame.f_code.co_name) for frame, _ in frames)


def strays_of(function: Any, parameters: list[Tensor], *others: Any) -> list[str]:
    """In a worker: what does the function send from the CPU, called as if all lay on a GPU?"""
    guard, pretended = cast(Guard, function), PretendedDevice()
    plain, mail = guard.function, Mail(pretended)
    pretended.place([parameters, [parameter.grad for parameter in parameters]])

    def watched(*args: Any, **kwargs: Any) -> Any:
        with pretended, mail:
            return plain(*args, **kwargs)

    guard.function = watched
    try:
        guard(parameters, *others)
    finally:
        guard.function = plain
    return mail.strays
