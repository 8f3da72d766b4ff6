"""Drawn inputs: sizes that all differ, and tensors that are the same on every run."""

from __future__ import annotations

import random
from types import SimpleNamespace

import torch
from torch import Tensor

LARGEST = 9


class Sizes(SimpleNamespace):
    """One drawn set of sizes, read by name: ``size.batch``."""

    def __str__(self) -> str:
        return "-".join(f"{name}{value}" for name, value in vars(self).items())


def sizes(names: str, count: int = 4, **fixed: int) -> list[Sizes]:
    """Draw sizes for the names, all different, so that a swapped axis cannot pass by luck.

    Every other draw sets one of the sizes to 1, the first of the names first. ``fixed`` sizes are
    as given, and no other size is drawn equal to one of them.
    """
    free = [name for name in names.split() if name not in fixed]
    pool = [size for size in range(2, LARGEST + 1) if size not in fixed.values()]
    draws = []
    for turn in range(count):
        choice = random.Random(f"{names} {turn}").sample(pool, len(free))
        drawn = dict(zip(free, choice, strict=True)) | fixed
        if turn % 2 == 0 and free:
            drawn[free[turn // 2 % len(free)]] = 1
        draws.append(Sizes(**{name: drawn[name] for name in [*names.split(), *fixed]}))
    return draws


def _generator(shape: tuple[int, ...], seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(random.Random(f"{shape} {seed}").getrandbits(32))


def floats(*shape: int, seed: int = 0) -> Tensor:
    """Draw standard normal numbers in torch's default dtype."""
    drawn = torch.randn(shape, generator=_generator(shape, seed), dtype=torch.float64)
    return drawn.to(torch.get_default_dtype())


def visible(*shape: int, seed: int = 0) -> Tensor:
    """Draw a mask, True at about half of the places and at one of each row at least."""
    generator = _generator(shape, seed)
    mask = torch.rand(shape, generator=generator) < 0.5
    one = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
    return mask.scatter(-1, one, True)


def token_ids(*shape: int, vocab_size: int, seed: int = 0) -> Tensor:
    """Draw token ids from 0 to ``vocab_size`` − 1."""
    return torch.randint(vocab_size, shape, generator=_generator(shape, seed))
