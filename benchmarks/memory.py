"""The peak of new memory that a call claims: live tensors on the CPU, the allocator's on CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specs.harness.live_bytes import LiveBytes


def peak_bytes(call: Callable[[], Any], device: str) -> int:
    """Make the call once, and count what it claimed beyond what was there before."""
    if device == "cpu":
        live = LiveBytes()
        with live:
            call()
        return live.peak
    import torch

    return device_peak(call, torch.cuda)


def device_peak(call: Callable[[], Any], device: Any) -> int:
    """Ask a device's allocator: `torch.cuda`, or what looks like it."""
    device.synchronize()
    before: int = device.memory_allocated()
    device.reset_peak_memory_stats()
    call()
    device.synchronize()
    peak: int = device.max_memory_allocated()
    return peak - before
