"""Drawn inputs: sizes that give a swapped axis away, and the same numbers on every run."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from specs.harness import draw

NAMES = "batch heads queries keys d_k d_v"
KINDS: dict[str, Callable[..., Tensor]] = {
    "floats": draw.floats,
    "visible": draw.visible,
    "token ids": lambda *shape, seed=0: draw.token_ids(*shape, vocab_size=99, seed=seed),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.mark.parametrize("names", [NAMES, "batch length", "length"])
def test_all_sizes_of_a_draw_differ(names: str) -> None:
    """B ≠ H ≠ T_q ≠ T_k ≠ d_k ≠ d_v, so that a swapped axis cannot pass by luck."""
    for size in draw.sizes(names, count=40):
        assert len({*vars(size).values()}) == len(names.split())


def test_fixed_size_is_met_by_no_other() -> None:
    """A vocabulary of 7 leaves 7 to no other size."""
    for size in draw.sizes("batch length vocab", count=40, vocab=7):
        assert size.vocab == 7
        assert 7 not in (size.batch, size.length)


def test_each_size_is_one_in_its_turn() -> None:
    """Every other draw, the first of the names first."""
    drawn = draw.sizes("batch length width", count=8)
    ones = [[name for name, value in vars(size).items() if value == 1] for size in drawn]
    assert ones == [["batch"], [], ["length"], [], ["width"], [], ["batch"], []]


def test_odd_and_even_sizes_occur() -> None:
    """An odd width finds what a power of two hides."""
    widths = [size.d_model for size in draw.sizes("batch length d_model")]
    assert {width % 2 for width in widths} == {0, 1}


def test_sizes_are_small() -> None:
    """Nine at most: a person can look at them, and a loop over them is quick."""
    assert all(max(vars(size).values()) <= draw.LARGEST for size in draw.sizes(NAMES, count=40))


def test_sizes_are_the_same_every_time() -> None:
    """A red test is red again."""
    assert draw.sizes(NAMES, count=8) == draw.sizes(NAMES, count=8)


def test_more_draws_begin_with_the_same_ones() -> None:
    """To ask for more is not to lose any."""
    assert draw.sizes(NAMES, count=8)[:4] == draw.sizes(NAMES)


def test_sizes_name_themselves_in_a_test_s_name() -> None:
    """``batch1-length7`` is what ``ids=str`` shows."""
    assert str(draw.Sizes(batch=1, length=7)) == "batch1-length7"


@EACH_KIND
def test_draw_is_the_same_every_time_and_the_seed_changes_it(kind: Callable[..., Tensor]) -> None:
    """One shape and one seed are one tensor."""
    assert torch.equal(kind(3, 20), kind(3, 20))
    assert not torch.equal(kind(3, 20), kind(3, 20, seed=1))


@EACH_KIND
def test_rows_of_a_draw_differ(kind: Callable[..., Tensor]) -> None:
    """Masks with different padding per row, sentences with different words."""
    assert len(kind(5, 12).unique(dim=0)) == 5  # type: ignore[no-untyped-call]  # torch's own


@EACH_KIND
def test_draw_leaves_the_generators_alone(kind: Callable[..., Tensor]) -> None:
    """Neither is it changed by them, nor does it change what others draw."""
    torch.manual_seed(1)
    before, pythons = torch.get_rng_state(), random.getstate()
    first = kind(4, 4)
    assert torch.equal(torch.get_rng_state(), before)
    assert random.getstate() == pythons
    torch.manual_seed(2)
    assert torch.equal(kind(4, 4), first)


def test_draw_is_the_same_in_another_process() -> None:
    """Python's hashes are salted, so none may be used."""
    script = "from specs.harness import draw; print(draw.sizes('b l'), draw.floats(2).tolist())"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert told == f"{draw.sizes('b l')} {draw.floats(2).tolist()}\n"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_floats_follow_the_default_dtype(dtype: torch.dtype) -> None:
    """They are drawn in float64 and rounded, so that each precision has the same numbers."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        drawn = draw.floats(3, 4)
    finally:
        torch.set_default_dtype(before)
    assert drawn.dtype == dtype
    assert torch.allclose(drawn.double(), draw.floats(3, 4).double(), atol=2e-3)


def test_floats_are_standard_normal() -> None:
    """Mean 0, variance 1, and both signs."""
    drawn = draw.floats(100, 100)
    assert abs(drawn.mean().item()) < 0.03
    assert abs(drawn.std().item() - 1) < 0.03


@pytest.mark.parametrize("width", [1, 2, 7])
def test_each_row_of_a_mask_sees_something(width: int) -> None:
    """A row that sees nothing is a case of its own, which a spec writes out."""
    mask = draw.visible(50, 4, width)
    assert mask.dtype == torch.bool
    assert mask.any(dim=-1).all()


def test_masks_hide_about_half() -> None:
    """A mask that hides nothing, or all but one, would test little."""
    assert 0.4 < draw.visible(50, 20).double().mean().item() < 0.65


def test_token_ids_are_those_of_the_vocabulary() -> None:
    """From 0, which is often padding, to the last."""
    ids = draw.token_ids(30, 30, vocab_size=5)
    assert ids.dtype == torch.int64
    assert sorted({*ids.flatten().tolist()}) == [0, 1, 2, 3, 4]
