"""A backward pass that a mode can see.

Torch takes a function mode off while that mode handles a call, and ``backward`` is such a call:
whatever a learner's ``autograd.Function`` or hook does during it would go unseen. The engine itself
is no such call, so the mode is put back on around the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

BACKWARD = frozenset({torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad})
ENGINE = "_engine_run_backward"  # the one name through which all three reach the engine


def run_backward(
    mode: TorchFunctionMode, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call one of ``BACKWARD`` from inside ``mode``'s handler, with ``mode`` on in the engine."""
    names = vars(torch.autograd)
    engine = names[ENGINE]

    def watched(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return engine(*args, **kwargs)

    names[ENGINE] = watched
    try:
        return func(*args, **kwargs)
    finally:
        names[ENGINE] = engine
