"""What must be alike for times to be compared: threads, the allocator, torch and the machine."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from specs.harness.allocator import keep_memory
from specs.harness.steps import UserError


class _Allocator:
    """Whether it could be set, in words."""

    words = "as the system has it"


def fix() -> None:
    """Set the environment before torch is loaded."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a second thread waits for a busy core
    if not os.environ["OMP_NUM_THREADS"].isdecimal():
        raise UserError(f"OMP_NUM_THREADS={os.environ['OMP_NUM_THREADS']}: a number is wanted")
    _keep_memory()


def _keep_memory() -> None:
    """Have malloc keep what was freed: else how long attention takes depends on what ran before."""
    if keep_memory():
        _Allocator.words = "glibc keeps all memory"
    foreign = os.environ.get("LD_PRELOAD", "")
    if foreign:
        _Allocator.words += f", LD_PRELOAD={foreign}"


def fix_torch() -> None:
    """Hold torch to the number of threads, however it came to be loaded."""
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def describe() -> dict[str, str]:
    """Say what a time depends on, for the report and for saved runs."""
    import torch

    facts = {
        "threads": str(torch.get_num_threads()),
        "allocator": _Allocator.words,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cpu": f"{_cpu()} ({torch.backends.cpu.get_cpu_capability()})",
    }
    if torch.cuda.is_available():
        facts["cuda"] = torch.cuda.get_device_name()
    return facts


def why_no_cuda() -> str | None:
    """Say why there is no CUDA; None where there is."""
    import torch

    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA"
    return f"torch {torch.__version__} finds no CUDA device"


def load() -> str:
    """How busy the machine is: processes that want a core, as a mean over one minute."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _cpu() -> str:
    """The processor's name."""
    told = Path("/proc/cpuinfo")
    if sys.platform == "linux" and told.is_file():
        for line in told.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
