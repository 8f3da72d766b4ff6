"""The guard around every call: inputs and global state stay as they were, forms are right."""

from __future__ import annotations

import logging
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from specs.harness import check
from specs.harness.failure import Red
from specs.harness.guard import Guard

Function = Callable[..., Any]


def guarded(function: Function, judge: Function | None = None, *changes: str) -> Guard:
    """A guard around a function, with the judge's signature and answers."""
    guard = Guard("022", judge or harmless, changes=frozenset(changes))
    guard.function = function
    return guard


def harmless(x: Any) -> Any:
    """The judge of most tests: takes one thing, gives nothing back."""


def doing(trick: Function) -> Function:
    """A step that does something to its input, and gives nothing back."""

    def step(x: Any) -> None:
        trick(x)

    return step


def drawing(_: Any) -> Tensor:
    """A step that is random by its nature."""
    return torch.rand(2)


def drawing_twice(_: Any) -> Tensor:
    """A step that draws from two generators."""
    return torch.rand(2) + random.random()


def red(function: Function, *args: Any, judge: Function | None = None, changes: str = "") -> Red:
    """How a call through the guard fails."""
    with pytest.raises(Red) as caught:
        guarded(function, judge, *changes.split())(*args)
    return caught.value


# Inputs


class Linear(NamedTuple):
    """A named tuple, as weights are."""

    weight: Any
    bias: Any = None


@dataclass
class Cache:
    """A dataclass that a careless step may change."""

    keys: Any
    length: int = 0


def numbers() -> Tensor:
    """A fresh input."""
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def backward(x: Tensor) -> None:
    """Leave a gradient in the input."""
    x.sum().backward()


TENSOR_TRICKS: dict[str, Function] = {
    "in place": lambda x: x.add_(1),
    "assignment": lambda x: x.__setitem__((0, 0), 9.0),
    "one NaN": lambda x: x.__setitem__((0, 0), float("nan")),
    ".data": lambda x: x.data.mul_(2),
    "other .data": lambda x: setattr(x, "data", torch.zeros(2, 3)),
    ".data of another dtype": lambda x: setattr(x, "data", x.data.double()),
    "detached": lambda x: x.detach().zero_(),
    "view": lambda x: x.view(-1).sort().values.neg_() is x.view(-1)[2:].zero_(),
    "numpy": lambda x: x.numpy().fill(0),
    "out=": lambda x: torch.neg(x, out=x),
    "resize_": lambda x: x.resize_(4, 3),
    "smaller": lambda x: x.resize_(1, 2),
    "transpose_": lambda x: x.transpose_(0, 1),
    "t_ of a square": lambda x: x.resize_(2, 2).t_(),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "set_": lambda x: x.set_(torch.zeros(2, 3)),
    "requires_grad_": lambda x: x.requires_grad_(),
    "a gradient": lambda x: setattr(x, "grad", torch.ones(2, 3)),
}
TRICKS = pytest.mark.parametrize("trick", TENSOR_TRICKS.values(), ids=TENSOR_TRICKS)


@TRICKS
def test_changed_tensor_is_told(trick: Function) -> None:
    """Whichever way it is changed: numbers, shape, layout, memory, or what hangs on it."""
    wrong = red(doing(trick), numbers())
    assert wrong.kind == "changed input"
    assert wrong.sentence == "x was changed: what the caller hands over stays as it was."


@TRICKS
def test_changed_tensor_is_put_back(trick: Function) -> None:
    """The next test finds the input, and whatever shares its memory, as they were."""
    whole = torch.cat([numbers(), numbers()])
    given = whole[:2]
    red(doing(trick), given)
    assert torch.equal(given, numbers())
    assert torch.equal(whole, torch.cat([numbers(), numbers()]))
    assert given.data_ptr() == whole.data_ptr()
    assert (given.stride(), given.requires_grad, given.grad) == ((3, 1), False, None)


@pytest.mark.parametrize(
    "given",
    [
        numbers().T,
        torch.tensor([1.0, 2.0]).expand(3, 2),
        torch.tensor(5.0),
        torch.tensor([float("nan"), 1.0]),
        torch.tensor([True, False]),
        numbers().to(torch.bfloat16)[:, ::2],
        numbers().to(torch.complex64),
        numbers().requires_grad_(),
        numbers().requires_grad_() * 1,
    ],
    ids=[
        *("transposed", "expanded", "a number", "with NaN", "mask", "half, with gaps", "complex"),
        *("with gradient", "inside a graph"),
    ],
)
def test_input_of_any_layout_is_put_back(given: Tensor) -> None:
    """Not only plain contiguous tensors are handed to steps."""
    before = given.detach().clone()

    def scribble(x: Tensor) -> None:
        x.data.view(-1)[:1].logical_not_() if x.is_contiguous() else x.data[0].fill_(7)

    assert red(scribble, given).kind == "changed input"
    assert torch.equal(given.detach().nan_to_num(99), before.nan_to_num(99))


def test_gradient_that_was_there_is_put_back() -> None:
    """A backward pass inside a step adds to the gradient that its input already had."""
    given = numbers().requires_grad_()
    backward(given)
    assert red(backward, given).kind == "changed input"
    assert given.grad is not None
    assert given.grad.tolist() == [[1.0] * 3] * 2


def test_gradient_that_was_not_there_is_taken_off() -> None:
    """Else the next test's gradient would come on top of it."""
    given = numbers().requires_grad_()
    red(backward, given)
    assert given.grad is None


@pytest.mark.parametrize(
    ("trick", "given", "told"),
    [
        (lambda x: x.append(3), [1, 2], "x"),
        (lambda x: x.pop(), [1, 2], "x"),
        (lambda x: x.sort(), [2, 1], "x[0]"),
        (lambda x: x.clear(), [[]], "x"),
        (lambda x: x.append(x), [1], "x"),
        (lambda x: x.__setitem__(0, x), [1, 2], "x[0]"),
        (lambda x: x[1].append(3), ([1], [2]), "x"),
        (lambda x: x.update(dog=2), {"cat": 1}, "x"),
        (lambda x: x.update(cat=2), {"cat": 1}, "x['cat']"),
        (lambda x: x.update(cat=x.pop("cat")), {"cat": 1, "dog": 2}, "x"),
        (lambda x: x.update(dog=x.pop("cat")), {"cat": []}, "x"),
        (lambda x: x.add(2), {1}, "x"),
        (lambda x: x["ids"].discard(1), {"ids": {1}}, "x['ids']"),
        (lambda x: x.bias[0].zero_(), Linear(1, [torch.ones(2)]), "x.bias[0]"),
        (lambda x: setattr(x, "length", 1), Cache(None), "x.length"),
        (lambda x: setattr(x, "keys", torch.ones(2)), Cache(torch.ones(2)), "x.keys"),
        (lambda x: x.keys.zero_(), Cache(torch.ones(2)), "x.keys"),
        (lambda x: x.__setitem__(0, True), [1], "x[0]"),
    ],
    ids=[
        *("append", "pop", "sort", "clear", "into itself", "into its own place", "inner list"),
        *(
            "new key",
            "new value",
            "order of keys",
            "name of an empty one",
            "set",
            "inner set",
            "named tuple",
        ),
        *("dataclass", "other tensor", "tensor in a dataclass", "True for 1"),
    ],
)
def test_changed_container_is_told_and_put_back(trick: Function, given: Any, told: str) -> None:
    """The place that changed is named; afterwards the container holds what it held."""
    before = repr(given)
    assert red(doing(trick), given).yours == told
    assert repr(given) == before


def test_right_argument_is_named() -> None:
    """Of two arguments whose names begin alike, the one that changed."""

    def judge(source: list[int], source_mask: list[int]) -> None:
        raise NotImplementedError

    def careless(_: list[int], source_mask: list[int]) -> None:
        source_mask.append(1)

    assert red(careless, [1], [2], judge=judge).yours == "source_mask"


def test_input_is_put_back_when_the_call_fails() -> None:
    """A step that changes its input and then raises leaves nothing behind."""

    def clumsy(x: Tensor) -> None:
        x.zero_()
        raise ValueError("too late")

    given = numbers()
    with pytest.raises(ValueError, match="too late"):
        guarded(clumsy)(given)
    assert torch.equal(given, numbers())


@pytest.mark.parametrize(
    "given",
    [
        numbers(),
        numbers().requires_grad_() * 2,
        torch.zeros(0),
        torch.ones(2, device="meta"),
        torch.tensor([float("nan")]),
        [float("nan")],
        [1, {"cat": {2}}],
        Cache(numbers()),
        object(),
        torch.Generator(),
    ],
    ids=[
        *("tensor", "inside a graph", "empty", "meta", "NaN", "plain NaN", "nested", "dataclass"),
        *("any object", "generator"),
    ],
)
def test_untouched_input_is_no_change(given: Any) -> None:
    """Reading is free, and nothing that is given makes torch warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded(doing(repr))(given)


def test_generator_may_be_drawn_from() -> None:
    """That is what it is handed over for; the reference draws the same from a twin of it."""
    generator = torch.Generator().manual_seed(1)
    guard = guarded(lambda x: torch.rand(3, generator=x), lambda x: torch.rand(3, generator=x))
    first, second = guard(generator), guard(generator)
    assert not torch.equal(first, second)
    assert [torch.equal(call.judged, call.answer) for call in guard.calls] == [True, True]


def test_iterator_is_left_to_the_learner() -> None:
    """It can be read once only, so there is no copy for the reference, and no call on record."""
    guard = guarded(list, doing(repr))
    assert guard(iter([1, 2])) == [1, 2]
    assert guard.calls == []


def test_what_a_step_changes_on_purpose_may_change() -> None:
    """``CHANGES`` names it; everything else is watched all the same."""

    def judge(parameters: list[Tensor], rates: list[float]) -> None:
        parameters[0].mul_(rates[0])

    def careless(parameters: list[Tensor], rates: list[float]) -> None:
        parameters[0].zero_()
        rates.clear()

    given = [torch.ones(2)]
    guarded(judge, judge, "parameters")(given, [0.5])
    assert given[0].tolist() == [0.5, 0.5]
    assert red(careless, given, [0.5], judge=judge, changes="parameters").yours == "rates"


def test_reference_is_given_the_inputs_as_they_were() -> None:
    """The judge of a step that changes its input sees what the learner saw."""

    def double(x: Tensor) -> list[float]:
        x.mul_(2)
        return [float(number) for number in x]

    guard = guarded(double, double, "x")
    guard(torch.tensor([1.0, 2.0]))
    assert guard.calls[0].judged == [2.0, 4.0]


# Global state


def draw_from_numpy() -> None:
    """Draw from NumPy's old global generator."""
    np.random.rand()


STATE_TRICKS: dict[str, Callable[[], Any]] = {
    "Python's random generator": random.random,
    "NumPy's random generator": draw_from_numpy,
    "torch's default random generator": lambda: torch.rand(1),
    "the gradient mode": lambda: torch.set_grad_enabled(False),
    "torch's default dtype": lambda: torch.set_default_dtype(torch.float64),
    "torch's default device": lambda: torch.set_default_device("meta"),
    "torch's thread count": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "torch's deterministic mode": lambda: torch.use_deterministic_algorithms(True),
    "torch's anomaly mode": lambda: torch.autograd.set_detect_anomaly(True),
    "torch's process group": lambda: dist.init_process_group(
        "gloo", store=dist.HashStore(), rank=0, world_size=1
    ),
    "the warnings filters": lambda: warnings.simplefilter("ignore"),
    "the working folder": lambda: os.chdir("/"),
    "the environment variables": lambda: os.environ.update(KATA="1"),
    "the logging level": lambda: logging.disable(logging.ERROR),
}
STATES = pytest.mark.parametrize("state", STATE_TRICKS)


def all_state() -> list[Any]:
    """What belongs to everybody, as far as the tricks touch it."""
    return [
        random.getstate(),
        np.random.get_state()[2],
        torch.get_rng_state().tolist(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
        dist.is_initialized(),
        list(warnings.filters),
        os.getcwd(),
        dict(os.environ),
        logging.root.manager.disable,
    ]


@STATES
def test_changed_global_state_is_told_and_put_back(state: str) -> None:
    """It belongs to everybody, so the next test finds it as it was."""
    before = all_state()
    wrong = red(doing(lambda _: STATE_TRICKS[state]()), None)
    assert wrong.kind == "global state"
    assert state in str(wrong.yours)
    assert all_state() == before


@STATES
@pytest.mark.parametrize(
    "slip", [lambda x: x.append(1), len, lambda x: x[5]], ids=["input", "form", "error"]
)
def test_global_state_is_put_back_whatever_else_is_wrong(state: str, slip: Function) -> None:
    """One failure is told, and the other leaves nothing behind."""
    before = all_state()

    def careless(x: list[int]) -> Any:
        STATE_TRICKS[state]()
        return slip(x)

    with pytest.raises((Red, IndexError)):
        guarded(careless)([1])
    assert all_state() == before


def test_several_changes_are_told_together() -> None:
    """In one sentence."""

    def careless(_: None) -> None:
        random.random()
        torch.set_grad_enabled(False)

    told = red(careless, None).sentence
    assert told == (
        "It changed Python's random generator and the gradient mode. "
        "That is everybody's; it was put back."
    )


@pytest.mark.parametrize("draw", [drawing, drawing_twice], ids=["torch's", "Python's too"])
def test_step_may_draw_where_the_reference_draws(draw: Function) -> None:
    """A step that is random by its nature draws from the default generator, and it moves on."""
    guard = guarded(draw, draw)
    assert not torch.equal(guard(None), guard(None))
    judgements = [call.judgement for call in guard.calls]
    assert [made is not None and made.at_random for made in judgements] == [True, True]


def test_step_may_not_draw_where_the_reference_does_not() -> None:
    """Nor from a generator that the reference leaves alone."""
    wrong = red(drawing_twice, None, judge=drawing)
    assert wrong.yours == "Python's random generator"


def test_state_changed_inside_and_put_back_is_no_change() -> None:
    """``with torch.no_grad():`` is good manners."""

    def tidy(_: None) -> None:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")

    guarded(tidy)(None)


def test_library_that_is_loaded_may_change_the_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many do, the first time that they are imported."""

    def late(_: None) -> None:
        monkeypatch.setitem(sys.modules, "a_library", ModuleType("a_library"))
        warnings.simplefilter("ignore", ResourceWarning)

    with warnings.catch_warnings():
        guarded(late)(None)


def test_state_that_the_reference_leaves_behind_is_put_back() -> None:
    """The judge runs after the learner, and must not be noticed."""
    before = torch.get_rng_state()
    guarded(lambda _: torch.zeros(2), drawing)(None)
    assert torch.equal(torch.get_rng_state(), before)


# Answers


def test_answer_without_the_reference_s_form_is_red() -> None:
    """Every call is put to the reference, whose answer says what form is right."""
    wrong = red(lambda x: x.T, numbers(), judge=lambda x: x)
    assert (wrong.kind, wrong.rows[0]) == ("shape", ("yours", "shape (3, 2)"))


@pytest.mark.parametrize("trick", [nullcontext, torch._C.DisableTorchFunction])
def test_answer_made_by_what_is_yours_to_build_is_red(trick: Callable[[], Any]) -> None:
    """The *not with* list is held against the call, and against the graph of its answer."""

    def borrowed(x: Tensor) -> Tensor:
        with trick():
            return torch.softmax(x, dim=-1)

    guard = Guard("020", borrowed, frozenset({"softmax"}))
    with pytest.raises(Red, match=r"^softmax was called"):
        guard(numbers().requires_grad_())


def test_call_that_the_reference_rejects_has_no_form() -> None:
    """There the spec says what must happen."""

    def judge(_: int) -> int:
        raise ValueError

    guard = guarded(lambda _: "anything", judge)
    assert guard(1) == "anything"
    assert guard.calls[0].judged is None


def test_answer_that_holds_itself_is_one_clear_failure() -> None:
    """It is told before any comparison walks into it."""

    def judge(_: int) -> list[int]:
        return [1]

    def knot(_: int) -> list[Any]:
        tied: list[Any] = [1]
        tied.append(tied)
        return tied

    assert red(knot, 1, judge=judge).sentence == (
        "The result holds itself, or is nested without end."
    )


def test_answer_comes_back_as_it_is() -> None:
    """The spec is given the learner's own object."""
    answer = [1]
    assert guarded(lambda _: answer, lambda _: [2])(None) is answer


def test_calls_are_recorded_by_name() -> None:
    """However they were made, so that they can be made once more."""

    def judge(first: int, second: int = 2, *, third: int = 3) -> int:
        return first + second + third

    guard = guarded(judge, judge)
    guard(1, third=5)
    guard(first=1, second=7)
    assert [call.arguments for call in guard.calls] == [
        {"first": 1, "third": 5},
        {"first": 1, "second": 7},
    ]


def test_recorded_arguments_stay_as_they_were() -> None:
    """What the spec does to its inputs afterwards does not reach the record."""
    guard, given = guarded(harmless), numbers()
    guard(given)
    given.zero_()
    assert torch.equal(guard.calls[0].arguments["x"], numbers())


def test_last_answer_is_kept_for_rejects() -> None:
    """A call that should have raised is shown with what it gave instead."""
    guarded(lambda x: [x], lambda x: [x])(3)
    assert check.last_answer[-1] == [3]


def test_reset_forgets_what_was_called() -> None:
    """A new test begins with nothing on record."""
    guard = guarded(harmless)
    guard(1)
    guard.reset("another")
    assert (guard.calls, guard.count, check.last_answer) == ([], 0, [])


def test_call_that_raises_is_not_recorded() -> None:
    """There is no answer to compare; the error is kept, to be known as the learner's."""

    def clumsy(_: Iterable[int]) -> None:
        raise KeyError("zebra")

    guard = guarded(clumsy)
    with pytest.raises(KeyError) as caught:
        guard([1])
    assert guard.calls == []
    assert guard.raised is caught.value


def silenced(x: Tensor, dropout_rate: float, generator: torch.Generator | None = None) -> Tensor:
    """At rate 1 no coin has to be tossed."""
    del generator
    return x * (1 - dropout_rate)


def tossed(x: Tensor, dropout_rate: float, generator: torch.Generator | None = None) -> Tensor:
    """A coin is tossed at any rate above 0, with the default generator if none is given."""
    return x * (torch.rand(x.shape, generator=generator) >= dropout_rate)


def test_coin_may_be_tossed_at_rate_one() -> None:
    """The reference need not, and the contract only says that none is tossed at rate 0."""
    guard = guarded(tossed, silenced)
    assert guard(torch.ones(2), 1.0).tolist() == [0.0, 0.0]


def test_default_generator_is_left_alone_where_another_is_given() -> None:
    """At rate 1 too."""
    found = red(
        lambda x, dropout_rate, generator: tossed(x, dropout_rate, generator and None),
        *(torch.ones(2), 1.0, torch.Generator()),
        judge=silenced,
    )
    assert found.yours == "torch's default random generator"
