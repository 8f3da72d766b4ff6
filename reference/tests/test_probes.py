"""Calls made once more: functions with one flaw are red, right ones pass however written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from specs.harness import boundary
from specs.harness.failure import BROKEN, Red
from specs.harness.guard import Guard
from specs.harness.probes import probe

Function = Callable[..., Any]
X = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])
GAIN = torch.tensor([1.5, 0.5, 2.0])
IDS = torch.tensor([[4, 0, 2], [1, 3, 0]])


class Scaled(NamedTuple):
    """Two results."""

    scaled: Tensor
    total: Tensor


def scale(
    x: Float[Tensor, "rows width"], gain: Float[Tensor, "width"]
) -> Float[Tensor, "rows width"]:
    """The judge of most tests: multiply each row by the gain, over √width."""
    return x * gain / math.sqrt(x.shape[-1])


def counted(length: int, device: Any = None) -> Tensor:
    """The judge of a step that is told where its result belongs."""
    return torch.arange(length, device=device)


def probed(function: Function, *args: Any, judge: Function = scale, **setting: Any) -> Guard:
    """Call a function through its guard, and ask everything of that call."""
    guard = Guard("022", judge, **setting)
    guard.function = function
    guard(*args)
    judgement = guard.calls[0].judgement
    assert judgement is not None
    probe(guard, judgement)
    return guard


def red(function: Function, *args: Any, judge: Function = scale, **setting: Any) -> Red:
    """How the probe fails."""
    with pytest.raises(Red) as caught:
        probed(function, *(args or (X, GAIN)), judge=judge, **setting)
    return caught.value


# One flaw each


class Scale(torch.autograd.Function):
    """The judge with a backward pass of its own, right in every layout."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return scale(x, gain)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, gain = ctx.saved_tensors
        incoming = gradients[0] / math.sqrt(x.shape[-1])
        return incoming * gain, (incoming * x).sum(0)


def with_backward(change: Callable[[Tensor], Any]) -> Function:
    """The judge with a flaw in its backward pass only."""

    class Flawed(Scale):
        @staticmethod
        def backward(ctx: Any, *gradients: Tensor) -> Any:
            return Scale.backward(ctx, change(gradients[0]))

    return cast(Function, Flawed.apply)  # torch gives it no type


def twice_the_gradient(x: Tensor, gain: Tensor) -> Tensor:
    """Right numbers, wrong slope."""
    right = scale(x, gain)
    return 2 * right - right.detach()


def filled_buffer(x: Tensor, gain: Tensor) -> Tensor:
    """A buffer of torch's default dtype."""
    out = torch.zeros(x.shape)
    out[:] = scale(x, gain)
    return out


def read_from_memory(x: Tensor, gain: Tensor) -> Tensor:
    """Numbers taken as they lie in memory, one after the other."""
    return scale(x.as_strided(x.shape, (x.shape[1], 1)), gain)


def looped_for_ever(_: Tensor) -> Tensor:
    """A backward pass that does not end."""
    while True:
        pass


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (twice_the_gradient, "The gradient of x is wrong."),
        (lambda x, gain: scale(x, gain.detach()), "The gradient of gain is wrong."),
        (lambda x, gain: scale(x.detach(), gain), "The gradient of x is wrong."),
        (lambda x, gain: scale(x, gain.round(decimals=1)), "The gradient of gain is wrong."),
        (with_backward(lambda gradient: -gradient), "The gradient of x is wrong."),
        (
            with_backward(lambda gradient: gradient.as_strided(gradient.shape, (3, 1))),
            "The gradient of x is wrong, sent back through a transposed layout.",
        ),
        (
            with_backward(lambda gradient: gradient.view(-1).view(2, 3)),
            "No gradient can be sent back.",
        ),
        (with_backward(lambda gradient: gradient[7]), "No gradient can be sent back."),
        (with_backward(lambda gradient: gradient.nope), "No gradient can be sent back."),
    ],
    ids=[
        *("doubled", "gain detached", "x detached", "rounded", "other sign", "taken from memory"),
        *("viewed flat", "IndexError", "AttributeError"),
    ],
)
def test_wrong_gradient_is_red(function: Function, sentence: str) -> None:
    """Right numbers are not enough: which gradient is wrong is told, or that none comes."""
    wrong = red(function)
    assert (wrong.kind, wrong.sentence) == ("gradient", sentence)


def test_gradient_is_shown_beside_the_right_one() -> None:
    """Both sides, as for any value: cos 0.3 · 1.5 ÷ √3 = 0.8273 is the first."""
    shown = dict(red(twice_the_gradient).rows)
    assert shown["yours"].startswith("[[1.655, ")
    assert shown["expected"].startswith("[[0.8273, ")


def test_result_cut_off_from_all_inputs_is_red() -> None:
    """No gradient flows at all."""
    wrong = red(lambda x, gain: scale(x, gain).detach())
    assert wrong.sentence == "The result is cut off from its inputs: no gradient flows back."


def test_backward_pass_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the learner's code, as much as the call itself."""
    monkeypatch.setattr(boundary, "TIME_LIMIT", 0.2)
    wrong = red(with_backward(looped_for_ever))
    assert (wrong.kind, wrong.state) == ("loop", BROKEN)


def test_backward_pass_may_not_call_what_is_yours_to_build() -> None:
    """The *not with* list binds it too."""
    wrong = red(
        with_backward(lambda gradient: torch.softmax(gradient, -1)), tokens=frozenset({"softmax"})
    )
    assert (wrong.kind, wrong.yours) == ("forbidden", "torch.softmax")


@pytest.mark.parametrize(
    "function",
    [
        filled_buffer,
        lambda x, gain: scale(x.float(), gain.float()),
        lambda x, gain: scale(x, gain).float(),
    ],
    ids=["buffer", "computed in float32", "turned to float32"],
)
def test_result_that_stays_float32_is_red(function: Function) -> None:
    """Inputs in float64 give a result in float64."""
    wrong = red(function)
    assert wrong.kind == "dtype"
    assert wrong.rows == [("yours", "torch.float32"), ("expected", "torch.float64")]


def test_second_result_that_stays_float32_is_red() -> None:
    """Every result is looked at, and named."""

    def judge(x: Tensor) -> Scaled:
        return Scaled(x, x.sum())

    wrong = red(lambda x: Scaled(x, x.sum().float()), X, judge=judge)
    assert (wrong.kind, wrong.rows[-1]) == ("dtype", ("where", "result.total"))


def test_float16_on_the_way_is_red() -> None:
    """The result has the right dtype, but lost most of its digits."""
    assert red(lambda x, gain: scale((x + 0.1).half().to(x.dtype) - 0.1, gain)).kind == "values"


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x, gain: scale(x.view(-1).view(x.shape), gain), "raised"),
        (read_from_memory, "values"),
    ],
    ids=["fails", "wrong numbers"],
)
def test_contiguous_inputs_only_is_red(function: Function, kind: str) -> None:
    """Inputs may lie in memory with gaps."""
    assert red(function).kind == kind


def test_failure_on_odd_inputs_says_what_is_odd() -> None:
    """The error alone would not say why it did not come before."""
    wrong = red(lambda x, gain: scale(x.view(-1).view(x.shape), gain))
    assert (
        wrong.sentence
        == "It fails on inputs in float64 that need a gradient, or are not contiguous."
    )
    assert wrong.rows[0][1].startswith("RuntimeError: view size is not compatible")


def test_contiguous_ids_only_is_red() -> None:
    """Token ids may lie in memory with gaps as well."""
    assert (
        red(lambda ids: ids.view(-1) + 1, IDS, judge=lambda ids: ids.flatten() + 1).kind == "raised"
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, gain: scale(x, gain) + torch.zeros(3),
        lambda x, gain: scale(x, torch.tensor(gain.tolist(), dtype=x.dtype) * 0 + gain),
        lambda x, gain: scale(x, gain)[torch.tensor([0, 1])] @ torch.eye(3, dtype=x.dtype),
    ],
    ids=["made", "rebuilt", "identity"],
)
def test_tensor_made_on_the_cpu_is_red(function: Function) -> None:
    """On this machine everything fits; with inputs on a GPU it would not."""
    wrong = red(function)
    assert wrong.kind == "device"
    assert wrong.sentence == "With inputs on a GPU it fails: something is made or kept on the CPU."


@pytest.mark.parametrize(
    ("function", "judge", "args"),
    [
        (lambda x, gain: scale(x, gain).cpu(), scale, (X, GAIN)),
        (lambda x, gain: scale(x, gain).to("cpu"), scale, (X, GAIN)),
        (lambda length, _device=None: torch.arange(length), counted, (3,)),
        (lambda ids: torch.tensor(ids.tolist()) + 1, lambda ids: ids + 1, (IDS,)),
    ],
    ids=["cpu()", "to", "device not heeded", "from a list"],
)
def test_result_on_the_cpu_is_red(function: Function, judge: Function, args: Any) -> None:
    """It belongs where the inputs lie, or where the caller asks for it."""
    wrong = red(function, *args, judge=judge)
    assert wrong.sentence == "The result lies on another device than its inputs."
    assert wrong.rows == [("yours", "on cpu"), ("expected", "on cuda:0")]


# Right ones


def in_place_on_its_own(x: Tensor, gain: Tensor) -> Tensor:
    """A result of its own, changed in place."""
    out = torch.empty_like(x).copy_(x)
    out *= gain
    return out.div_(x.shape[-1] ** 0.5)


def other_names(rows: Tensor, width: Tensor) -> Tensor:
    """The learner need not call things as the reference does."""
    return scale(rows, width)


def row_by_row(x: Tensor, gain: Tensor) -> Tensor:
    """Slow, with a tensor made where the input lies."""
    rows = [row * gain for row in x]
    return torch.stack(rows) * torch.full((), 3.0, dtype=x.dtype, device=x.device) ** -0.5


@pytest.mark.parametrize(
    "function",
    [
        scale,
        lambda x, gain: x / x.shape[-1] ** 0.5 * gain,
        lambda x, gain: torch.einsum("rw,w->rw", x, gain) / torch.tensor(3.0).sqrt(),
        lambda x, gain: (gain.diag() @ x.T).T.contiguous() / math.sqrt(3),
        cast(Function, Scale.apply),  # torch gives it no type
        with_backward(lambda gradient: gradient.reshape(-1).reshape(2, 3)),
        other_names,
        in_place_on_its_own,
        row_by_row,
    ],
    ids=[
        *("itself", "other order", "root in float32", "transposed", "own backward"),
        *("reshaped gradient", "other names", "in place on its own", "row by row"),
    ],
)
def test_right_function_passes(function: Function) -> None:
    """However it is written."""
    probed(function, X, GAIN)


@pytest.mark.parametrize(
    ("judge", "args"),
    [
        (lambda ids: ids != 0, (IDS,)),
        (lambda ids: ids.tolist(), (IDS,)),
        (lambda x: float(x.sum()), (X,)),
        (lambda x: (x, [x.shape[0]], {"sum": x.sum()}), (X,)),
        (lambda x: x.argmax(-1), (X,)),
        (lambda x, gain: x.detach() * gain, (X, GAIN)),
        (lambda x, _: x * 1, (X, GAIN)),
        (counted, (3,)),
        (lambda x: x[0, 0], (X,)),
        (lambda x: x, (torch.tensor(2.0),)),
        (lambda x: x * 2, (torch.zeros(0, 3),)),
        (lambda weights: weights["gain"] * weights["gain"], ({"gain": GAIN},)),
        (lambda pair: pair.scaled * pair.total, (Scaled(GAIN, GAIN),)),
    ],
    ids=[
        *(
            "mask",
            "list",
            "float",
            "several",
            "ids",
            "partly detached",
            "unused input",
            "no tensor given",
        ),
        *("a number", "0-d", "empty", "dict", "tied"),
    ],
)
def test_judge_passes_its_own_probe(judge: Function, args: Any) -> None:
    """Whatever comes and goes: the reference is never red."""
    probed(judge, *args, judge=judge)


def test_gradient_that_the_contract_leaves_open_is_not_compared() -> None:
    """``FREE_GRADIENTS`` names the argument."""
    probed(lambda x, gain: scale(x, gain.detach()), X, GAIN, free_gradients=frozenset({"gain"}))


def test_random_step_is_not_compared_value_by_value() -> None:
    """Its draws are its own; where its result lies is looked at all the same."""

    def noisy(x: Tensor) -> Tensor:
        return x + torch.rand(x.shape, device=x.device, dtype=x.dtype)

    def backwards(x: Tensor) -> Tensor:
        return x + torch.rand(x.shape, device=x.device, dtype=x.dtype).flip(-1)

    probed(backwards, X, judge=noisy)
    assert red(lambda x: noisy(x).cpu(), X, judge=noisy).kind == "device"


@pytest.mark.parametrize(
    "setting",
    [(torch.Generator(), 0.0), (torch.Generator(), 0.5), (None, 0.5)],
    ids=["generator", "both", "dropout rate"],
)
def test_step_that_is_told_to_draw_is_not_compared(setting: tuple[Any, float]) -> None:
    """A generator or a dropout rate among the arguments says as much."""

    def judge(x: Tensor, generator: torch.Generator | None, dropout_rate: float) -> Tensor:
        kept = torch.rand(x.shape, generator=generator, dtype=x.dtype) > dropout_rate
        return x * kept.to(x.device)

    def backwards(x: Tensor, generator: torch.Generator | None, dropout_rate: float) -> Tensor:
        return judge(x.flip(-1), generator, dropout_rate)

    probed(backwards, X, *setting, judge=judge)


def test_dtype_that_is_asked_for_is_given() -> None:
    """A step that takes a dtype is asked for float64, though the spec may not do so."""

    def judge(length: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.ones(length, dtype=dtype)

    def deaf(length: int, _dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.ones(length)

    assert red(deaf, 3, judge=judge).kind == "dtype"


def test_results_in_two_places_are_both_told() -> None:
    """The second one came back."""
    wrong = red(lambda x: (x + 1, x.cpu()), X, judge=lambda x: (x + 1, x))
    assert wrong.rows == [("yours", "on cuda:0 and cpu"), ("expected", "on cuda:0")]


def test_way_through_numpy_is_red() -> None:
    """NumPy reads no GPU's memory."""
    wrong = red(lambda x: torch.from_numpy(x.detach().numpy() + 1), IDS, judge=lambda x: x + 1)
    assert wrong.sentence == "With inputs on a GPU it fails: something is made or kept on the CPU."


def test_what_only_the_pretence_breaks_is_no_slip() -> None:
    """A pretended device is not a real one: silence is better than a false alarm."""

    def shy(x: Tensor) -> Tensor:
        if x.is_cuda:
            raise OSError("no such device")
        return x * 2

    probed(shy, X, judge=lambda x: x * 2)


def test_step_that_changes_its_input_is_not_called_twice_on_it() -> None:
    """What it left in its input is for the spec to look at."""

    def judge(x: Tensor) -> None:
        x.zero_()

    given = X.clone()
    probed(judge, given, judge=judge, changes=frozenset({"x"}))
    assert given.tolist() == [[0.0] * 3] * 2


def test_tensors_without_values_are_left_alone() -> None:
    """On the meta device there is nothing to compare."""
    probed(lambda x, gain: scale(x, gain) + 1, X.to("meta"), GAIN.to("meta"), judge=scale)


def wordy_in_float64(x: Tensor) -> Tensor:
    """A step that warns where the spec's own call would not make it."""
    if x.dtype == torch.float64:
        warnings.warn("so many digits", stacklevel=1)
    return x


def test_probe_makes_no_noise() -> None:
    """Nobody asked for what is said about a call in the harness's odd ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probed(wordy_in_float64, X, judge=lambda x: x)


def test_probe_leaves_global_state_and_record_as_they_were() -> None:
    """The next test finds the generator where the spec's call left it."""
    before = torch.get_rng_state()
    guard = probed(scale, X, GAIN)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(guard.calls[0].arguments["x"], X)
    assert guard.calls[0].arguments["x"].grad is None


@pytest.mark.parametrize(
    "function",
    [
        lambda length, device=None: torch.arange(length, device=device or "cpu"),
        lambda length, device="cpu": torch.arange(length, device=device),
    ],
    ids=["none means the CPU", "so it is declared"],
)
def test_device_that_is_not_named_is_torch_s_default(function: Function) -> None:
    """Inside ``with torch.device("cuda")`` nothing belongs on the CPU."""
    wrong = red(function, 3, judge=counted)
    assert wrong.kind == "default device"
    assert dict(wrong.rows) == {"yours": "on cpu", "expected": "on cuda:0"}


def test_default_device_is_followed_however_the_result_is_made() -> None:
    """Also from a list, and on a detour."""
    probed(
        lambda length, device=None: torch.tensor([*range(length)], device=device), 3, judge=counted
    )
    probed(
        lambda length, device=None: torch.ones(length, device=device).cumsum(0).long() - 1,
        3,
        judge=counted,
    )


def test_answer_may_be_cut_off_where_every_gradient_is_free() -> None:
    """Where one is wanted, a cut is told."""
    cut = torch.no_grad()(scale)
    probed(cut, X, GAIN, free_gradients=frozenset({"x", "gain"}))
    wrong = red(cut, X, GAIN, free_gradients=frozenset({"x"}))
    assert wrong.sentence == "The result is cut off from its inputs: no gradient flows back."
