"""Live bytes are counted as they come and go, and only those of the function that is measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from specs.harness.guard import Guard
from specs.harness.live_bytes import LiveBytes, measured

HUNDRED = torch.zeros(100)  # 400 bytes


def meter_of(function: Callable[[Tensor], object]) -> LiveBytes:
    """What a function claims, given a hundred float32 numbers; its result is let go."""
    with LiveBytes() as meter:
        function(HUNDRED)
    return meter


def two_at_once(x: Tensor) -> Tensor:
    """Two of 400 bytes, both alive."""
    left = x + 1
    return left + 2


def two_in_turn(x: Tensor) -> None:
    """Two of 400 bytes, the first let go before the second is claimed."""
    for _ in range(2):
        x.exp()


def in_place(x: Tensor) -> Tensor:
    """One of 400 bytes, changed four times."""
    own = x.clone()
    own.add_(1).mul_(2)
    own += 3
    return torch.exp(own, out=own)


def views(x: Tensor) -> list[Tensor]:
    """The argument from many sides."""
    return [x[1:], x.view(10, 10).T, x.expand(7, 100), x.detach(), *x.split(9), x.reshape(4, 25)]


@pytest.mark.parametrize(
    ("function", "peak"),
    [
        (lambda x: x + 1, 400),
        (lambda x: x.double(), 800),
        (lambda x: x > 0, 100),
        (two_at_once, 800),
        (two_in_turn, 400),
        (in_place, 400),
        (views, 0),
        (lambda x: x, 0),
        (lambda x: x.contiguous(), 0),
        (lambda _: torch.zeros(7), 28),
        (lambda x: x.new_empty(3, 5), 60),
        (lambda x: x.split(50)[1] + 1, 200),
        (lambda x: torch.stack([x, x]).sum(), 804),
        (lambda x: (x + 1)[:1], 400),
    ],
    ids=[
        *("one", "wider", "bool", "two at once", "two in turn", "in place", "views", "itself"),
        *("contiguous", "factory", "like its argument", "half", "stack and sum", "view of new"),
    ],
)
def test_peak_is_what_was_alive_at_once(function: Callable[[Tensor], object], peak: int) -> None:
    """A float32 number has 4 bytes; what the argument holds is not counted."""
    assert meter_of(function).peak == peak


def test_nothing_stays_behind() -> None:
    """When the last reference goes, so do the bytes, whether the mode is on or off."""
    with LiveBytes() as meter:
        kept = HUNDRED + 1
        del kept
        assert meter.alive == 0
        kept = HUNDRED + 1
    assert meter.alive == 400
    view = kept[:1]
    del kept
    assert meter.alive == 400, "a view keeps the whole"
    del view
    assert (meter.alive, meter.peak) == (0, 400)


def test_what_was_there_before_is_not_counted() -> None:
    """Neither when it is used nor when it goes."""
    before = torch.ones(100)
    with LiveBytes() as meter:
        after = before + 1
        del before
    assert meter.alive == 400
    del after
    assert meter.alive == 0


def test_a_graph_keeps_what_it_saved() -> None:
    """The way back of exp needs its result; that of a sum needs nothing."""
    x = torch.zeros(100, requires_grad=True)
    with LiveBytes() as meter:
        total = x.exp().sum()
    assert meter.alive == 404
    with meter:
        (gradient,) = torch.autograd.grad(total, x)
    del total
    assert (meter.alive, gradient.sum().item()) == (400, 100.0)


def test_the_way_back_counts_too() -> None:
    """The meter is entered again: exp of 400 bytes is still there, 400 of gradient come to it."""
    x, sent_back = torch.zeros(100, requires_grad=True), torch.ones(100)
    with LiveBytes() as meter:
        y = x.exp()
    with meter:
        (gradient,) = torch.autograd.grad(y, x, sent_back)
    assert (meter.peak, meter.alive, gradient.numel()) == (800, 800, 100)


@pytest.mark.parametrize(
    ("function", "largest"),
    [(lambda x: x > 0, 100), (lambda x: x.double(), 100), (lambda x: (x[:9] + 1).sum(), 9)],
    ids=["bool", "float64", "nine"],
)
def test_largest_is_counted_in_numbers(function: Callable[[Tensor], object], largest: int) -> None:
    """However wide a number is."""
    assert meter_of(function).largest == largest


LEFT, RIGHT = torch.ones(2, 3), torch.ones(3, 5)
BIAS = torch.ones(5)


@pytest.mark.parametrize(
    ("product", "multiplications"),
    [
        (lambda: LEFT @ RIGHT, 30),
        (lambda: torch.mm(LEFT, RIGHT), 30),
        (lambda: LEFT.expand(7, 2, 3) @ RIGHT.expand(7, 3, 5), 210),
        (lambda: torch.einsum("hqd,hkd->hqk", LEFT.expand(4, 2, 3), LEFT.expand(4, 2, 3)), 48),
        (lambda: torch.addmm(BIAS, LEFT, RIGHT), 30),
        (lambda: torch.nn.functional.linear(LEFT, RIGHT.mT, BIAS), 30),
        (lambda: torch.baddbmm(BIAS, LEFT[None], RIGHT[None]), 30),
        (lambda: LEFT @ torch.ones(3), 6),
        (lambda: BIAS @ BIAS, 5),
        (lambda: LEFT.bfloat16() @ RIGHT.bfloat16(), 30),
        (lambda: LEFT * 2 + LEFT, 0),
    ],
    ids=[
        *("@", "mm", "batch", "einsum", "addmm", "linear", "baddbmm", "vector", "dot"),
        *("bfloat16", "no product"),
    ],
)
def test_products_are_counted(product: Callable[[], Tensor], multiplications: int) -> None:
    """Rows × width × columns, for each of the batch, however it is written."""
    with LiveBytes() as meter:
        product()
    assert meter.multiplications == multiplications


def test_products_of_the_way_back_are_counted() -> None:
    """One product there makes two on the way back."""
    left, right = LEFT.clone().requires_grad_(), RIGHT.clone().requires_grad_()
    with LiveBytes() as meter:
        (left @ right).sum().backward()
    assert meter.multiplications == 90


def double(x: Tensor) -> Tensor:
    """Twice as much, with one new tensor."""
    return x + x


def test_only_the_function_under_test_is_measured() -> None:
    """The harness copies arguments and asks the reference: none of that counts."""
    guard = Guard("000", double)
    with measured(guard) as meter:
        answer = guard(HUNDRED)
    assert (meter.peak, meter.alive) == (400, 400)
    assert torch.equal(answer, HUNDRED * 2)


def test_measured_calls_are_not_probed() -> None:
    """They are large; the calls around them are asked again as ever."""
    guard = Guard("000", double)
    guard(HUNDRED)
    with measured(guard):
        guard(HUNDRED)
    guard(HUNDRED)
    assert len(guard.calls) == 2


def test_guard_is_as_before() -> None:
    """Also after an error, which goes through."""
    guard = Guard("000", double)
    with pytest.raises(ZeroDivisionError), measured(guard):
        raise ZeroDivisionError
    assert guard.function is double


def test_compiler_is_not_loaded() -> None:
    """A dispatch mode's first operator would import torch._dynamo, for 1.8 s."""
    code = """
import sys, torch
from specs.harness.live_bytes import LiveBytes
with LiveBytes():
    torch.ones(2) + 1
sys.exit("torch._dynamo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
