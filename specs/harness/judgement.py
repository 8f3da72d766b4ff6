"""What the reference makes of a call, remembered: whoever is under test, it is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from specs.harness.globalstate import TORCHS_RANDOM
from specs.harness.values import gradient_of, is_generator, is_tensor, leaves, same_bits


@dataclass
class Judgement:
    """What the reference makes of one call: its answer, and what else it was asked."""

    arguments: dict[str, Any]  # as they were before
    answer: Any = None
    refused: bool = False  # the call is one to be rejected: the spec says how
    changed: set[str] = field(default_factory=set)  # global state
    at_random: bool = False  # whether it drew from a generator that belongs to everybody
    _known: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _named(self) -> dict[str, Any]:
        """What was handed over, wherever it lies: a config's rate is a rate."""
        return {path.rpartition(".")[2]: leaf for path, leaf in leaves(self.arguments)}

    @property
    def tosses_coins(self) -> bool:
        """Whether the answer may be another one each time."""
        generator = self._named.get("generator")
        return self.at_random or bool(self._named.get("dropout_rate")) or generator is not None

    @property
    def may_change(self) -> set[str]:
        """What the learner's function may change too; at rate 1 a coin need not be tossed."""
        tossed = self._named.get("dropout_rate") and self._named.get("generator") is None
        return self.changed | ({TORCHS_RANDOM} if tossed else set())

    def once(self, what: str, find: Callable[[], Any]) -> Any:
        """Return what was found when this was first asked."""
        if what not in self._known:
            self._known[what] = find()
        return self._known[what]


class Judgements:
    """The judgements on the calls of one spec, by test and by the order of its calls."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], Judgement] = {}

    def on(
        self,
        test: str,
        number: int,
        arguments: dict[str, Any],
        judge: Callable[[dict[str, Any]], Judgement],
    ) -> Judgement:
        """Return the judgement on a call; it is made anew if the call is not quite the same."""
        known = self._made.get((test, number))
        if known is None or known.at_random or not same(known.arguments, arguments):
            known = self._made[test, number] = judge(arguments)
        return known


def same(some: dict[str, Any], others: dict[str, Any]) -> bool:
    """Say whether two calls are the same, to the bit."""
    one, other = leaves(some), leaves(others)
    if _pattern(one) != _pattern(other):
        return False
    return all(_same(mine, theirs) for (_, mine), (_, theirs) in zip(one, other, strict=True))


def _pattern(found: list[tuple[str, Any]]) -> list[tuple[str, type, int]]:
    """The ways to all leaves, and which of them are one tensor."""
    first: dict[int, int] = {}
    return [
        (path, type(leaf), first.setdefault(id(leaf), place) if is_tensor(leaf) else -1)
        for place, (path, leaf) in enumerate(found)
    ]


def _same(one: Any, other: Any) -> bool:
    if is_generator(one):
        return one.device == other.device and bool(one.get_state().equal(other.get_state()))
    if not is_tensor(one):
        return one is other or (isinstance(one, (bool, int, float, str)) and one == other)
    return _form(one) == _form(other) and same_bits(one, other) and _gradients(one, other)


def _form(tensor: Any) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device, tensor.requires_grad


def _gradients(one: Any, other: Any) -> bool:
    mine, theirs = gradient_of(one), gradient_of(other)
    return mine is theirs or (mine is not None and theirs is not None and _same(mine, theirs))
