"""A pretended second device: real CPU tensors that say they lie on ``cuda:0``.

Device mistakes then show on any machine, while values, shapes and control flow stay real. The tag
sits on a tensor's storage, so views, ``.data``, parameters and saved tensors carry it without help.
A tensor that nobody has tagged was made out of the mode's sight: it is on the CPU, or it is a
gradient on its way through a backward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch._C._functorch import get_unwrapped, is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode

from specs.harness.backward import BACKWARD, run_backward
from specs.harness.tensors import tensors_in

T = TypeVar("T")
Call = Callable[..., Any]
Arguments = tuple[Any, ...]

CPU = torch.device("cpu")
PRETENDED = torch.device("cuda", 0)
TAG = "_pretended_device"
PlainGenerator = torch.Generator  # the mode shows learners another class under that name


def _property(name: str) -> Any:
    """A tensor's attribute, whose reading and setting a mode sees as calls."""
    return getattr(torch.Tensor, name)


def _index(home: torch.device) -> int:
    return -1 if home.index is None else home.index


ANSWERS: dict[object, Callable[[torch.device], object]] = {
    _property("device").__get__: lambda home: home,
    _property("is_cuda").__get__: lambda home: home.type == "cuda",
    _property("is_cpu").__get__: lambda home: home.type == "cpu",
    torch.Tensor.get_device: _index,
    torch.get_device: _index,
}
HOST_ONLY = {getattr(torch.Tensor, name) for name in ("numpy", "__array__", "apply_", "map_")}
INDEXING = {getattr(torch.Tensor, name) for name in ("__getitem__", "__setitem__", "index_put_")}
# Made of whatever numbers they are given, on torch's default device.
FACTORIES = {
    getattr(torch, name)
    for name in (
        *("arange", "empty", "empty_strided", "eye", "full", "linspace", "logspace", "ones"),
        *("rand", "randint", "randn", "randperm", "range", "scalar_tensor"),
        *("tril_indices", "triu_indices", "zeros"),
    )
}
# Like factories, unless given a tensor.
CONVERSIONS = {torch.tensor, torch.as_tensor, torch.asarray}
# Calls that torch itself lets reach across devices.
ACROSS = {
    *(getattr(torch.Tensor, name) for name in ("to", "type_as", "copy_", "new_tensor")),
    _property("data").__set__,
    torch.broadcast_tensors,
    torch._has_compatible_shallow_copy_type,
}
# A zero-dimensional CPU tensor counts as a plain number anywhere but here.
NO_SCALARS = {
    getattr(owner, name)
    for owner, names in (
        (torch, ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "column_stack")),
        (torch, ("gather", "index_select", "take_along_dim")),
        (torch.Tensor, ("gather", "index_select", "take_along_dim")),
    )
    for name in names
}


class DeviceMix(RuntimeError):  # says what happened, as the learner will read it
    """An operation met tensors on two devices."""


class _EveryGenerator(type(PlainGenerator)):  # type: ignore[misc]  # whatever it is in this torch
    """Makes ``isinstance(generator, torch.Generator)`` true of plain generators too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, PlainGenerator)


class PretendedGenerator(PlainGenerator, metaclass=_EveryGenerator):
    """A generator that draws on the CPU and remembers where it was asked to draw."""

    home: torch.device

    def __new__(cls, device: Any = "cpu") -> PretendedGenerator:
        """Make a real CPU generator for ``device``."""
        made = super().__new__(cls)
        made.home = _named(device)
        return made

    @property
    def device(  # type: ignore[override]  # torch's is read-only too, its stub does not say so
        self,
    ) -> torch.device:
        """Where the generator claims to be."""
        return self.home


class PretendedDevice(TorchFunctionMode):
    """Follow pretended devices through every call, and refuse what a GPU would refuse.

    Generators made before the mode was entered, except torch's default one, fit any device.
    """

    def __init__(self) -> None:
        super().__init__()
        self._generators: list[type] = []

    def __enter__(self) -> PretendedDevice:
        """Turn the pretence on, again inside a backward pass."""
        self._generators.append(torch.Generator)
        vars(torch)["Generator"] = PretendedGenerator
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: object) -> None:
        """Turn it off; tags stay, and mean nothing to torch."""
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        vars(torch)["Generator"] = self._generators.pop()

    def place(self, value: T) -> T:
        """Put every tensor inside ``value`` on the pretended device, and hand it back."""
        with torch._C.DisableTorchFunction():
            for tensor in tensors_in(value):
                _tag(tensor, PRETENDED)
        return value

    def device_of(self, tensor: Tensor) -> torch.device:
        """Where ``tensor`` claims to be, in the mode or out of it."""
        with torch._C.DisableTorchFunction():
            return _home(tensor)

    def __torch_function__(
        self, func: Call, types: Any, args: Arguments = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Answer questions about devices; check, make and tag everything else."""
        kwargs = kwargs or {}
        if func in ANSWERS:
            return ANSWERS[func](_home(args[0]))
        if func in BACKWARD:
            return self._run_backward(func, args, kwargs)
        if func in HOST_ONLY and _home(args[0]) != CPU and not kwargs.get("force"):
            raise TypeError(f"can't convert {_home(args[0])} device type tensor to numpy")
        func, args, kwargs, target = _redirect(func, args, kwargs)
        home = _result_home(func, args, kwargs) if target is None else target
        _check_generator(func, kwargs.get("generator"), home)
        if target is not None:
            return _moved(func, args, kwargs, target)
        return _tagged(func(*args, **kwargs), home)

    def _run_backward(self, func: Call, args: Arguments, kwargs: dict[str, Any]) -> Any:
        """Gradients lie where the tensors lie that they belong to."""
        gradients = run_backward(self, func, args, kwargs)
        if func is torch.autograd.grad:
            inputs = args[1] if len(args) > 1 else kwargs["inputs"]
            for gradient, owner in zip(tensors_in(gradients), tensors_in(inputs), strict=False):
                _tag(gradient, _home(owner))
        return gradients


def _bearer(tensor: Tensor) -> object:
    """What bears the tag: the storage, under the wrappers of ``vmap`` and its kin."""
    while True:
        try:
            return tensor.untyped_storage()
        except NotImplementedError:
            if not is_functorch_wrapped_tensor(tensor):
                return tensor  # a sparse one
            tensor = get_unwrapped(tensor)


def _tag(tensor: Tensor, home: torch.device) -> None:
    setattr(_bearer(tensor), TAG, home)


def _home(tensor: Tensor) -> torch.device:
    """Where the tensor claims to be; who has no tag gets one on first sight."""
    bearer = _bearer(tensor)
    home = getattr(bearer, TAG, None)
    if home is None:
        backward = torch._C._current_graph_task_id() != -1
        home = PRETENDED if backward else CPU
        setattr(bearer, TAG, home)
    return cast(torch.device, home)


def _named(device: Any) -> torch.device:
    """The device meant by ``"cuda"``, ``0`` or a ``torch.device``; no index means the first."""
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    return PRETENDED if device.type == "cuda" and device.index is None else device


def _redirect(
    func: Call, args: Arguments, kwargs: dict[str, Any]
) -> tuple[Call, Arguments, dict[str, Any], torch.device | None]:
    """The call as this machine can run it, and the device that it asks for, if it asks."""
    if kwargs.get("device") is not None:
        target = _named(kwargs["device"])
        return func, args, {**kwargs, "device": _real(target)}, target
    wanted = args[1] if len(args) > 1 else None
    if func is torch.Tensor.cpu:
        return func, args, kwargs, CPU
    if func is torch.Tensor.cuda:
        return torch.Tensor.to, (args[0], CPU), {}, _named("cuda" if wanted is None else wanted)
    if func in (torch.Tensor.to, torch.Tensor.type_as) and isinstance(wanted, Tensor):
        return func, args, kwargs, _home(wanted)
    if func is torch.Tensor.to and isinstance(wanted, (str, int, torch.device)):
        target = _named(wanted)
        return func, (args[0], _real(target), *args[2:]), kwargs, target
    return func, args, kwargs, None


def _real(device: torch.device) -> torch.device:
    """The device that this machine has to do the work of ``device``."""
    return CPU if device.type == "cuda" else device


def _result_home(func: Call, args: Arguments, kwargs: dict[str, Any]) -> torch.device:
    """Where a call that names no device puts its result; a mix that torch refuses is an error."""
    if func in FACTORIES:
        return CPU
    if func in CONVERSIONS:
        return _home(args[0]) if isinstance(args[0], Tensor) else CPU
    bound = _must_agree(args) if func in INDEXING else args
    tensors = [*tensors_in(bound), *tensors_in(kwargs)]
    homes = {_home(tensor) for tensor in tensors}
    if len(homes) > 1 and func not in ACROSS:
        held = [t for t in tensors if func in NO_SCALARS or t.dim() or _home(t) != CPU]
        homes = {_home(tensor) for tensor in held}
        if len(homes) > 1:
            raise DeviceMix(f"{_where(func)}: tensors on {' and '.join(sorted(map(str, homes)))}")
    if func in ACROSS:
        return _home(tensors[0]) if tensors else CPU
    return next((home for home in homes if home != CPU), CPU)


def _must_agree(args: Arguments) -> list[Tensor]:
    """The tensors of an indexing that must share a device: indices may be on the CPU anywhere.

    Without a tensor among the indices an assignment is a copy, which may come from anywhere.
    """
    container, index, *values = args
    indices = list(tensors_in(index))
    own = [tensor for tensor in indices if _home(tensor) != CPU]
    return [container, *own, *(tensors_in(values) if indices else ())]


def _check_generator(func: Call, generator: object, home: torch.device) -> None:
    """A generator draws on its own device only."""
    default = generator is torch.default_generator
    if default or type(generator) is PretendedGenerator:
        drawn = cast(torch.Generator, generator).device
        if drawn != home:
            raise DeviceMix(f"{_where(func)}: a generator on {drawn}, a result on {home}")


def _moved(func: Call, args: Arguments, kwargs: dict[str, Any], home: torch.device) -> Any:
    """The result of a call that asks for a device; what a GPU would copy is a copy here too."""
    source = args[0] if args and isinstance(args[0], Tensor) else None
    moves = source is not None and _home(source) != home  # asked before: no tag yet is a home too
    result = func(*args, **kwargs)
    if moves and isinstance(result, Tensor) and _bearer(result) is _bearer(args[0]):
        result = result.clone()
    return _tagged(result, home)


def _tagged(result: Any, home: torch.device) -> Any:
    """Tag what is new in a result; views and changed inputs have their tag already."""
    if isinstance(result, str) and home == PRETENDED:
        return result.replace("torch.", "torch.cuda.")  # x.type()
    for tensor in tensors_in(result):
        bearer = _bearer(tensor)
        if getattr(bearer, TAG, None) is None:
            setattr(bearer, TAG, home)
    return result


def _where(func: Call) -> str:
    """The call's name as a person would say it."""
    return "indexing" if func in INDEXING else str(getattr(func, "__name__", func)).strip("_")
