"""109 · average_checkpoints. Lesson: 109_average_checkpoints.md."""

import pytest
import torch
from torch import nn

from kata.part15_scaling_up import average_checkpoints
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal, rejects


def test_two_checkpoints_by_hand():
    """(1 + 3) / 2 = 2, (2 + 6) / 2 = 4, and (−1 + 1) / 2 = 0 beside them."""
    states = [
        {"weight": torch.tensor([1.0, 2.0]), "bias": torch.tensor(-1.0)},
        {"weight": torch.tensor([3.0, 6.0]), "bias": torch.tensor(1.0)},
    ]
    average = average_checkpoints(states)
    assert_close(average, expected={"weight": [2.0, 4.0], "bias": 0.0})


@pytest.mark.parametrize(("values", "mean"), [([1, 2, 6], 3.0), ([0, 1, 2, 3, 4, 5], 2.5)])
def test_all_checkpoints_count_the_same(values, mean):
    """(1 + 2 + 6) / 3 = 3; halfway to each in turn would be 3.75. Six are six: 15 / 6 = 2.5."""
    states = [{"weight": torch.tensor([float(value)])} for value in values]
    assert_close(average_checkpoints(states), expected={"weight": [mean]})


def test_names_find_each_other_in_any_order():
    """The second checkpoint was written backwards; the order is that of the first."""
    first = {"weight": torch.tensor([1.0]), "bias": torch.tensor([10.0])}
    second = {"bias": torch.tensor([30.0]), "weight": torch.tensor([5.0])}
    average = average_checkpoints([first, second])
    assert_close(average, expected={"weight": [3.0], "bias": [20.0]})


def test_one_checkpoint_is_its_own_average():
    """7 / 1."""
    assert_close(average_checkpoints([{"weight": torch.tensor([7.0])}]), expected={"weight": [7.0]})


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("value", [7.0, 7], ids=["weight", "counter"])
def test_average_can_be_trained_without_touching_a_checkpoint(value, count):
    """It is moved to 9 in place; the checkpoints still say 7."""
    states = [{"entry": torch.tensor([value])} for _ in range(count)]
    average_checkpoints(states)["entry"].fill_(9)
    assert_close([state["entry"] for state in states], expected=[[value]] * count)


def test_average_has_no_graph():
    """The checkpoints hold parameters; the average is a plain tensor that asks for no gradient."""
    states = [{"weight": nn.Parameter(torch.tensor([value]))} for value in (1.0, 3.0)]
    average = average_checkpoints(states)["weight"]
    assert_equal((average.requires_grad, average.grad_fn), expected=(False, None))


def test_integers_come_from_the_last_checkpoint():
    """Steps 100, 200 and 400 of training: it is a counter, and 233 would be nowhere."""
    states = [{"step": torch.tensor(step)} for step in (100, 200, 400)]
    assert_equal(average_checkpoints(states)["step"], torch.tensor(400))


def test_masks_come_from_the_last_checkpoint():
    """True and False have no mean."""
    states = [{"mask": torch.tensor([True, False])}, {"mask": torch.tensor([False, False])}]
    assert_equal(average_checkpoints(states)["mask"], torch.tensor([False, False]))


def test_half_checkpoints_may_add_up_to_more_than_half_precision_holds():
    """61440 + 40960 = 2 · 51200 in float16, which ends at 65504."""
    states = [{"weight": torch.tensor([v], dtype=torch.float16)} for v in (61440.0, 40960.0)]
    average = average_checkpoints(states)["weight"]
    assert_equal(average, torch.tensor([51200.0], dtype=torch.float16))


def test_half_checkpoints_are_summed_in_float32():
    """256 + 1 + 1 + 2 = 260. In bfloat16 256 + 1 is 256 again, and the mean 64.5, not 65."""
    states = [{"weight": torch.tensor([v], dtype=torch.bfloat16)} for v in (256.0, 1.0, 1.0, 2.0)]
    average = average_checkpoints(states)["weight"]
    assert_equal(average, torch.tensor([65.0], dtype=torch.bfloat16))


def test_double_precision_is_kept():
    """1 and 1 + 2⁻⁵⁰: halfway lies 2⁻⁵¹."""
    states = [{"weight": torch.tensor([1.0 + v], dtype=torch.float64)} for v in (0.0, 2**-50)]
    average = average_checkpoints(states)["weight"]
    assert_equal(average, torch.tensor([1.0 + 2**-51], dtype=torch.float64))


def tied(value):
    """A state whose table is the output matrix too; ``state_dict`` makes two tensors of it."""
    table = torch.tensor([[value, 0.0], [1.0, 2.0]])
    return {"table": table, "output": table.detach(), "other": table.clone()}


def test_tied_tensors_stay_tied():
    """What is done to the table of the average is done to its output matrix."""
    average = average_checkpoints([tied(1.0), tied(3.0)])
    average["table"].fill_(9.0)
    assert_close(average["output"], expected=[[9.0, 9.0], [9.0, 9.0]])


def test_tied_counters_stay_tied():
    """One counter under two names: who sets it to 9 under one reads 9 under the other."""
    steps = torch.tensor([100]), torch.tensor([200])
    average = average_checkpoints([{"step": step, "count": step} for step in steps])
    average["step"].fill_(9)
    assert_equal(average["count"], torch.tensor([9]))


def test_equal_tensors_are_not_tied():
    """The other one has the same numbers, by chance."""
    average = average_checkpoints([tied(1.0), tied(3.0)])
    average["table"].fill_(9.0)
    assert_close(average["other"], expected=[[2.0, 0.0], [1.0, 2.0]])


@pytest.mark.parametrize("loose", [0, 1], ids=["in the first", "in the last"])
def test_what_is_tied_in_some_checkpoints_only_is_not_tied(loose):
    """In one of the two, the output went its own way, to 5: (5 + 1) / 2 = 3 beside (1 + 1) / 2."""
    states = [tied(1.0), tied(1.0)]
    states[loose]["output"] = torch.tensor([[5.0, 0.0], [1.0, 2.0]])
    average = average_checkpoints(states)
    assert_close((average["table"][0, 0], average["output"][0, 0]), expected=(1.0, 3.0))


def views(value):
    """Four looks at one stretch of memory: its second row, the whole, its first row, and across."""
    whole = torch.tensor([[value, 2.0], [4.0, 6.0]])
    return {"second": whole[1], "whole": whole, "first": whole[0], "across": whole.mT}


def test_other_looks_at_the_same_memory_are_other_tensors():
    """Each keeps its own shape and numbers."""
    average = average_checkpoints([views(1.0), views(3.0)])
    expected = {
        "second": [4.0, 6.0],
        "whole": [[2.0, 2.0], [4.0, 6.0]],
        "first": [2.0, 2.0],
        "across": [[2.0, 4.0], [2.0, 6.0]],
    }
    assert_close(average, expected)


def test_no_checkpoint_has_no_average():
    """Nobody was asked."""
    with rejects(ValueError):
        average_checkpoints([])


@pytest.mark.parametrize(
    "entries",
    [
        ["weight", "weight", "weight bias"],
        ["weight", "weight bias", "weight"],
        ["weight bias", "weight bias", "weight"],
        ["weight bias", "weight", "weight bias"],
    ],
    ids=["one more in the last", "one more", "one less in the last", "one less"],
)
def test_names_must_be_the_same_everywhere(entries):
    """It is the bias that stands in some and not in others."""
    states = [{name: torch.ones(2) for name in names.split()} for names in entries]
    with rejects(ValueError, naming="bias"):
        average_checkpoints(states)


def test_as_many_names_are_not_the_same_names():
    """A bias in one, a scale in the other."""
    states = [{"weight": torch.ones(2), name: torch.ones(2)} for name in ("bias", "scale")]
    with rejects(ValueError):
        average_checkpoints(states)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=["weight", "counter"])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1), ()], ids=str)
def test_shapes_must_be_the_same_everywhere(shape, dtype):
    """(2,) in two checkpoints, and something else in the third, be it broadcastable or not."""
    states = [{"bias": torch.ones(2), "weight": torch.ones(2, dtype=dtype)} for _ in range(3)]
    states[2]["weight"] = torch.ones(shape, dtype=dtype)
    with rejects(ValueError, naming="weight"):
        average_checkpoints(states)


@pytest.mark.parametrize("count", [2, 5])
def test_drawn_modules_agree_with_a_stacked_mean(count):
    """State dicts of a module, one matrix laid out by columns; all stacked, and the mean taken."""
    states = []
    for seed in range(count):
        weight, bias = draw.floats(4, 3, seed=seed).mT, draw.floats(4, seed=seed)
        states.append({"layer.weight": weight, "layer.bias": bias})
    average = average_checkpoints(states)
    expected = {
        name: torch.stack([state[name].double() for state in states]).mean(dim=0)
        for name in states[0]
    }
    assert_close(average, expected)
