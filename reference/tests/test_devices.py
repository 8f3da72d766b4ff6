"""The pretended device: it follows every right function, and catches what a GPU would catch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # everybody's name for it
from torch import Tensor, nn

from specs.harness.devices import PRETENDED, DeviceMix, PretendedDevice
from specs.harness.tensors import tensors_in

CPU = torch.device("cpu")
CAUSAL = torch.ones(4, 4, dtype=torch.bool).tril()  # kept on the CPU, where it was made
Function = Callable[[Tensor], Any]


def homes(function: Function, *, grad: bool = False) -> set[torch.device]:
    """Where the results of ``function`` lie, given a 4 × 4 tensor on the pretended device."""
    x = (torch.arange(16.0).reshape(4, 4) / 7 - 1).requires_grad_(grad)
    with PretendedDevice() as device:
        result = function(device.place(x))
        if grad and isinstance(result, Tensor):
            result.sum().backward()
            result = x.grad
        return {device.device_of(tensor) for tensor in tensors_in(result)}


class Cube(torch.autograd.Function):
    """x³, with a helper tensor made on the gradient's device."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        factor = torch.full((1,), 3.0, device=gradients[0].device)
        return gradients[0] * factor * x**2


class CubeWithHelperOnCpu(Cube):
    """x³, with a helper tensor made on the CPU."""

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradients[0] * torch.full((4,), 3.0) * x**2


def cube(function: type[Cube]) -> Function:
    """A custom function as a plain one; torch gives ``apply`` no type."""
    return cast(Function, function.apply)


def in_place(x: Tensor) -> Tensor:
    """Change a clone of the input in every in-place way."""
    own = x.clone()
    own += 1
    own[0] = 0.0
    own[1:3].mul_(2)
    own[:, torch.tensor([0, 1])] = 5.0
    own[own > 4] = torch.tensor(1.0)
    own.masked_fill_(own < 0, 0).clamp_(0, 1)
    return own


def with_default_device(x: Tensor) -> Tensor:
    """Make a table where torch's own default device says."""
    with torch.device(x.device):
        return x + torch.arange(4) + torch.zeros(4)


def taught(x: Tensor) -> Tensor:
    """One step of gradient descent on a parameter."""
    weight = nn.Parameter(x.detach().clone())
    (weight * x).sum().backward()
    assert weight.grad is not None
    with torch.no_grad():
        weight -= 0.1 * weight.grad
        weight.data = weight.data * 2
    weight.grad = torch.zeros_like(weight)
    return weight + weight.grad


def dropped(x: Tensor) -> Tensor:
    """Draw from a generator on the input's device."""
    generator = torch.Generator(device=x.device).manual_seed(0)
    drawn = torch.rand(x.shape, generator=generator, device=x.device)
    drawn += torch.empty_like(x).uniform_(generator=generator)
    drawn += torch.rand(4, generator=generator, device=generator.device)
    return torch.where(drawn < 0.5, x, 0.0)


def positions(length: int, device: torch.device) -> Tensor:
    """A table made on a device that is handed over."""
    return torch.arange(length, device=device).unsqueeze(1).float()


RIGHT: dict[str, Function] = {
    "mask made there": lambda x: x.masked_fill(torch.ones(4, device=x.device) > 0, -math.inf),
    "mask like the input": lambda x: torch.tril(torch.ones_like(x, dtype=torch.bool)) & (x > 0),
    "mask moved": lambda x: x.masked_fill(~CAUSAL.to(x.device), -math.inf),
    "mask moved by another tensor": lambda x: x * CAUSAL.to(x),
    "mask moved by type_as": lambda x: x * CAUSAL.type_as(x),
    "mask moved by cuda": lambda x: x * (CAUSAL.cuda() if x.is_cuda else CAUSAL),
    "new_full": lambda x: x + x.new_full((4,), 3.0) + x.new_tensor([1.0, 2.0, 3.0, 4.0]),
    "new_zeros": lambda x: torch.cat([x.new_zeros(1, 4), x, x.new_ones(1, 4), x.new_empty(1, 4)]),
    "arange there": lambda x: x[torch.arange(4, device=x.device), torch.arange(4)],
    "table from a device argument": lambda x: x + positions(4, x.device),
    "index on the CPU": lambda x: x[torch.tensor([2, 0])] + x[np.array([1, 1])],
    "mask index on the CPU": lambda x: x[CAUSAL],
    "index_put on the CPU": lambda x: x.clone().index_put_((torch.tensor([0, 1]),), x[0]),
    "plain scalar tensor": lambda x: x * torch.tensor(2.0) + torch.where(x > 0, x, 0.0),
    "scalar tensor in where": lambda x: torch.where(x > 0, x, torch.tensor(-math.inf)),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x) @ x.mT,
    "vmap": torch.vmap(lambda row: row * row.new_ones(4) + row.sum()),
    "vmap with a table": torch.vmap(lambda row: row + torch.arange(4, device=row.device)),
    "func.grad": torch.func.grad(lambda x: (x * torch.ones_like(x)).sum()),
    "func.jacrev": torch.func.jacrev(lambda x: x.sin()),
    "custom function": cube(Cube),
    "functional": lambda x: F.layer_norm(F.linear(x, x), (4,)).softmax(-1),
    "functional losses": lambda x: F.cross_entropy(x, torch.arange(4, device=x.device)),
    "one hot": lambda x: F.one_hot(torch.arange(4, device=x.device), 4) * x,
    "as_strided": lambda x: x.as_strided((2, 2), (4, 1)) + x.unfold(0, 2, 2)[:, :2, 0],
    "expand": lambda x: x[:1].expand(4, 4) + x.view(-1)[:4] + x.T.reshape(4, 4) + x.mT,
    "chunk": lambda x: [*x.chunk(2), *x.unbind(), *x.split([1, 3])],
    "iteration": lambda x: [row * 2 for row in x],
    "broadcast": lambda x: torch.broadcast_tensors(x, x[0])[1] + x,
    "in place": in_place,
    "finfo": lambda x: x.masked_fill(x > 0, torch.finfo(x.dtype).min),
    "tensor of an item": lambda x: torch.tensor(x.sum().item(), device=x.device) + x,
    "list and back": lambda x: torch.tensor(x.tolist(), device=x.device),
    "as_tensor": lambda x: torch.as_tensor(x) + torch.as_tensor([1.0] * 4, device=x.device),
    "from numpy and moved": lambda x: torch.from_numpy(np.ones(4, np.float32)).to(x.device) * x,
    "to the same place": lambda x: x.to(x.device).to(torch.float16).to("cuda", torch.float32),
    "there and back": lambda x: (x.cpu() * 2).to(x.device) + x,
    "numpy by way of the CPU": lambda x: torch.from_numpy(x.cpu().numpy()).to(x.device),
    "copied into": lambda x: torch.empty_like(x).copy_(torch.ones(4, 4)) + x,
    "slice filled from the CPU": lambda x: x.clone().index_fill_(
        0, torch.tensor([1], device=x.device), 2.0
    ),
    "assigned across": lambda x: [own := torch.zeros_like(x), own.__setitem__(0, torch.ones(4))],
    "cumulative": lambda x: x.cumsum(0).topk(2).values + x.sort().indices[:, :2],
    "triu of a full": lambda x: torch.full((4, 4), -math.inf, device=x.device).triu(1) + x,
    "indices of a triangle": lambda x: x[tuple(torch.tril_indices(4, 4, device=x.device))],
    "eye": lambda x: torch.eye(4, device=x.device).addmm(x, x),
    "linspace": lambda x: torch.linspace(0, 1, 4, device=x.device) + x,
    "scatter": lambda x: torch.zeros_like(x).scatter_(1, x.argmax(1, keepdim=True), 1.0),
    "stack": lambda x: torch.stack([x.amax(), x.amin(), x.new_tensor(0.0)]),
    "out": lambda x: torch.add(x, 1, out=torch.empty_like(x)),
    "kept on the input's device": lambda x: torch.zeros(4, device=x.get_device()) + x,
    "a device context": with_default_device,
    "a module": lambda x: nn.Linear(4, 4, device=x.device)(x),
    "a module moved": lambda x: nn.Linear(4, 4).to(x.device)(x),
    "initialised": lambda x: nn.init.xavier_uniform_(torch.empty_like(x)) @ x,
    "a training step": taught,
    "a dropout": dropped,
    "bernoulli": lambda x: x * torch.bernoulli(torch.full_like(x, 0.5)),
    "multinomial": lambda x: torch.multinomial(x.exp(), 1) + x,
    "deep copy": lambda x: x.__deepcopy__({}) + x.clone().detach(),
    "a list of tensors": lambda x: torch._foreach_add([x, x], [x, x]),
    "sparse": lambda x: torch.sparse.mm(x.to_sparse(), x) + x,
    "type": lambda x: x.type(torch.float64) + (x.type() == "torch.cuda.FloatTensor"),
    "autograd.grad": lambda x: torch.autograd.grad((w := x.clone().requires_grad_()).prod(), w),
}

MISTAKES: dict[str, Function] = {
    "mask made on the CPU": lambda x: x.masked_fill(torch.ones(4, 4).tril() == 0, -math.inf),
    "mask kept from before": lambda x: x.masked_fill(~CAUSAL, -math.inf),
    "and of masks": lambda x: (x > 0) & torch.ones(4, 4, dtype=torch.bool),
    "arange without a device": lambda x: x + torch.arange(4),
    "positions without a device": lambda x: x * torch.arange(4.0).unsqueeze(1).sin(),
    "vector by torch.tensor": lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "zeros to add up in": lambda x: torch.zeros(4, 4).add_(x),
    "zeros in a sum": lambda x: sum([x, x], torch.zeros(4, 4)),
    "where with a CPU condition": lambda x: torch.where(CAUSAL, x, 0.0),
    "legacy constructor": lambda x: x + torch.Tensor([1.0, 2.0, 3.0, 4.0]),
    "from numpy": lambda x: x + torch.from_numpy(np.ones((4, 4), np.float32)),
    "column put in front": lambda x: torch.cat([torch.full((4, 1), 1), x], dim=1),
    "scalar stacked": lambda x: torch.stack([x.sum(), torch.tensor(0.0)]),
    "matrix product": lambda x: x @ torch.eye(4),
    "weights made on the CPU": lambda x: F.linear(x, torch.ones(2, 4)),
    "module left behind": nn.Linear(4, 4),
    "one sent back": lambda x: x.cpu() + x,
    "random mask": lambda x: x * (torch.rand(4, 4) > 0.5),
    "dropout mask": lambda x: x * torch.bernoulli(torch.full((4, 4), 0.5)),
    "generator of the CPU": lambda x: torch.rand(
        4, device=x.device, generator=torch.Generator().manual_seed(0)
    ),
    "torch's default generator": lambda x: torch.empty_like(x).normal_(
        generator=torch.default_generator
    ),
    "gather by CPU indices": lambda x: x.gather(1, torch.zeros(4, 1, dtype=torch.long)),
    "scalar index to gather": lambda x: x.sum(0).gather(0, torch.tensor(1)),
    "scalar index to index_select": lambda x: torch.index_select(x, 0, torch.tensor(1)),
    "CPU table indexed from there": lambda x: torch.ones(9, 2)[x.argmax(1)],
    "values put in from the CPU": lambda x: x.clone().__setitem__(x > 0, torch.ones(9)),
    "embedding table on the CPU": lambda x: F.embedding(x.argmax(1), torch.ones(9, 2)),
    "targets on the CPU": lambda x: F.cross_entropy(x, torch.arange(4)),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, torch.ones(4, 4)),
    "inside vmap": torch.vmap(lambda row: row + torch.arange(4)),
    "out": lambda x: torch.add(x, 1, out=torch.empty(4, 4)),
    "gradient from the CPU": lambda x: setattr(nn.Parameter(x), "grad", torch.ones(4, 4)),
}

LEFT_BEHIND: dict[str, Function] = {
    "a mask": lambda x: torch.ones(len(x), len(x)).tril(),
    "a count": lambda x: torch.tensor(x.sum().item()),
    "a list made a tensor": lambda x: torch.tensor([row.argmax().item() for row in x]),
    "sent back": lambda x: (x * 2).cpu(),
    "sent back by name": lambda x: (x * 2).to("cpu"),
    "numpy": lambda x: torch.from_numpy(x.cpu().numpy() * 2),
    "a tensor of scalars": lambda x: torch.tensor([x[0, 0], x[1, 1]]),
    "a range up to a tensor": lambda x: torch.arange(x.abs().max().long() + 1),
    "one result of two": lambda x: (x.cpu(), {"weights": [torch.zeros(4)]}),
}


@pytest.mark.parametrize("function", RIGHT.values(), ids=RIGHT.keys())
def test_right_function_stays_there_without_alarm(function: Function) -> None:
    """Everything that a right function gives lies on the pretended device."""
    assert homes(function) == {PRETENDED}


@pytest.mark.parametrize("function", MISTAKES.values(), ids=MISTAKES.keys())
def test_mix_of_devices_is_refused(function: Function) -> None:
    """What a GPU refuses is refused, and both devices are named."""
    with pytest.raises(DeviceMix, match=r"^\w+: .* on (cpu and cuda:0|cpu, a result on cuda:0)$"):
        homes(function)


@pytest.mark.parametrize("function", LEFT_BEHIND.values(), ids=LEFT_BEHIND.keys())
def test_result_left_on_the_cpu_is_told(function: Function) -> None:
    """A result that was made or sent elsewhere does not claim to be with its inputs."""
    assert homes(function) == {CPU}


@pytest.mark.parametrize("convert", [Tensor.numpy, np.asarray, lambda x: x.apply_(abs)])
def test_numpy_cannot_look_there(convert: Function) -> None:
    """numpy and Python callbacks read memory, and the pretended device's is out of reach."""
    with pytest.raises(TypeError, match="cuda:0 device type tensor"):
        homes(convert)


@pytest.mark.parametrize("function", [cube(Cube), torch.sin, lambda x: x[:2] @ x.T])
def test_gradient_lies_where_its_tensor_lies(function: Function) -> None:
    """A gradient that the engine made belongs to the tensor's device."""
    assert homes(function, grad=True) == {PRETENDED}


def test_backward_of_a_custom_function_is_watched() -> None:
    """A helper tensor made on the CPU during a backward pass is refused like any other."""
    with pytest.raises(DeviceMix, match="mul: tensors on cpu and cuda:0"):
        homes(cube(CubeWithHelperOnCpu), grad=True)


def test_hook_is_watched_in_a_backward_pass() -> None:
    """What a hook does is on the right device too, without an alarm."""

    def hooked(x: Tensor) -> Tensor:
        doubled = x * 2
        doubled.register_hook(lambda gradient: gradient + gradient.new_ones(4))
        return doubled

    assert homes(hooked, grad=True) == {PRETENDED}


def test_message_names_the_operation() -> None:
    """The sentence says where, and which devices met."""
    with pytest.raises(DeviceMix) as caught:
        homes(lambda x: x @ torch.eye(4))
    assert str(caught.value) == "matmul: tensors on cpu and cuda:0"


class Pair(NamedTuple):
    """A container of tensors."""

    first: Tensor
    second: Tensor | None


@dataclass
class Cache:
    """A container that can change."""

    keys: Tensor
    length: int


@pytest.mark.parametrize(
    "value",
    [
        Pair(torch.ones(2), None),
        [torch.ones(2), (torch.ones(1), {"x": torch.ones(3)})],
        {"layers": [Pair(torch.ones(2), torch.ones(2))]},
        Cache(torch.ones(2), 0),
    ],
    ids=["namedtuple", "nested", "dict", "dataclass"],
)
def test_place_reaches_every_tensor_and_returns_the_value(value: Any) -> None:
    """Containers are walked, not copied."""
    device = PretendedDevice()
    assert device.place(value) is value
    assert {device.device_of(tensor) for tensor in tensors_in(value)} == {PRETENDED}


def test_container_that_holds_itself_is_walked_once() -> None:
    """A cycle ends the walk instead of the run."""
    loop: list[Any] = [torch.ones(1)]
    loop.append(loop)
    assert len(list(tensors_in(loop))) == 1


def test_device_can_be_asked_outside_the_mode() -> None:
    """Results are looked at after the call."""
    device = PretendedDevice()
    x = device.place(torch.ones(2))
    with device:
        moved, doubled = x.cpu(), x * 2
    assert (device.device_of(moved), device.device_of(doubled)) == (CPU, PRETENDED)


def test_values_stay_real() -> None:
    """Branches on values go the way they would go."""
    with PretendedDevice() as device:
        x = device.place(torch.tensor([1.0, 2.0]))
        assert (x.sum().item(), x.tolist(), bool(x[1] > x[0])) == (3.0, [1.0, 2.0], True)


def test_torch_is_itself_again_afterwards() -> None:
    """Nothing of the pretence outlives the mode, errors included."""
    before = torch.Generator
    with pytest.raises(DeviceMix), PretendedDevice() as device:
        device.place(torch.ones(2)) + torch.ones(2)
    assert torch.Generator is before
    assert torch.ones(2).device == CPU


def test_generator_from_before_draws_anywhere() -> None:
    """A spec hands its own generators over, which cannot be moved."""
    generator = torch.Generator().manual_seed(0)
    assert homes(lambda x: torch.rand(4, generator=generator, device=x.device)) == {PRETENDED}


def test_generator_from_before_is_still_a_generator() -> None:
    """A step may check what it was given by type."""
    generator = torch.Generator()
    with PretendedDevice():
        assert isinstance(generator, torch.Generator)
        assert isinstance(torch.Generator("cuda"), torch.Generator)
        assert not isinstance(3, torch.Generator)
