"""Stands where the function under test stands, and checks every call that a spec makes of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy as shallow_copy
from dataclasses import dataclass
from typing import Any

from specs.harness import check, globalstate
from specs.harness.boundary import boundary
from specs.harness.failure import Red
from specs.harness.forms import assert_form, shape_names
from specs.harness.judgement import Judgement, Judgements
from specs.harness.values import (
    NotCopyable,
    containers,
    copy,
    gradient_of,
    is_tensor,
    leaves,
    parts,
    refill,
    same_bits,
    tensors,
)


@dataclass
class Call:
    """One call of the function under test: its arguments, by name, as they were before."""

    arguments: dict[str, Any]
    answer: Any = None
    judgement: Judgement | None = None  # the reference's, on the same call; None where it refuses

    @property
    def judged(self) -> Any:
        """The reference's answer to the same call."""
        return self.judgement.answer if self.judgement is not None else None


class Guard:
    """Calls the function under test; checks inputs, global state and the answer's form."""

    def __init__(
        self,
        tag: str,
        judge: Callable[..., Any],
        tokens: frozenset[str] = frozenset(),
        changes: frozenset[str] = frozenset(),
        free_gradients: frozenset[str] = frozenset(),
    ) -> None:
        self.tag = tag
        self.judge = judge
        self.tokens = tokens
        self.changes = changes  # arguments that the step changes in place, on purpose
        self.free_gradients = free_gradients  # arguments whose gradient the contract leaves open
        self.function: Callable[..., Any] = judge
        self.signature = inspect.signature(judge)
        self.names = shape_names(judge)
        self.calls: list[Call] = []
        self.judgements = Judgements()
        self.test = ""  # the one that is being run
        self.count = 0
        self.raised: BaseException | None = None  # what the learner's code raised last
        self.__name__ = judge.__name__

    def reset(self, test: str) -> None:
        """Forget the calls made so far: a new test begins."""
        self.test = test
        self.calls = []
        self.count = 0
        self.raised = None
        check.last_answer.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        call = self._recorded(args, kwargs)
        kept = Kept(self._by_name(args, kwargs), self.changes)
        before = globalstate.take()
        try:
            answer, changed = self._asked(args, kwargs, before)
            kept.assert_unchanged()
            self.refuse_graph(answer, (args, kwargs))
            if call is not None:
                call.answer = answer
                changed -= self._judge(call)
            if changed:
                raise changed_state(" and ".join(sorted(changed)))
        except BaseException:  # whatever is wrong, the next test starts afresh
            before.put_back()
            kept.put_back()
            raise
        if call is not None:
            self.calls.append(call)
        check.last_answer.append(answer)
        return answer

    def _asked(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], before: globalstate.Taken
    ) -> tuple[Any, set[str]]:
        """Call the learner's function; return its answer and the global state that it changed."""
        libraries = len(sys.modules)
        try:
            with boundary(self.tag), self.not_with():
                answer = self.function(*args, **kwargs)
        except BaseException as error:
            self.raised = error
            raise
        if inspect.iscoroutine(answer):
            answer.close()  # nobody will await it, and Python shall not wonder why
        changed = set(before.changed())
        if len(sys.modules) != libraries:
            changed -= globalstate.BY_IMPORTS
        return answer, changed

    def put(self, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        """Put a question to a function by name; the learner's may have other names for things."""
        bound = self.signature.bind(**arguments)
        if function is self.judge:
            return function(*bound.args, **bound.kwargs)
        with boundary(self.tag, thorough=False), self.not_with():
            return function(*bound.args, **bound.kwargs)

    def not_with(self) -> AbstractContextManager[Any]:
        """What refuses the functions on the *not with* list; nothing where torch is not loaded."""
        if not self.tokens or "torch" not in sys.modules:
            return nullcontext()
        from specs.harness.forbidden import NotWith

        return NotWith(self.tokens)

    def refuse_graph(self, answer: Any, given: Any) -> None:
        """Refuse an answer whose gradient graph holds an operation on the *not with* list."""
        if self.tokens and "torch" in sys.modules:
            from specs.harness.forbidden import refuse_graph

            refuse_graph(answer, self.tokens, given)

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return dict(self.signature.bind(*args, **kwargs).arguments)

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        try:
            return Call(copy(self._by_name(args, kwargs)))
        except NotCopyable:
            return None

    def _judge(self, call: Call) -> set[str]:
        """Put the call to the reference, compare forms, and name what may change with it."""
        made = self.judgements.on(self.test, self.count, call.arguments, self._judgement)
        if not made.refused:
            call.judgement = made
            assert_form(call.answer, made.answer, self.names)
        return made.may_change

    def _judgement(self, arguments: dict[str, Any]) -> Judgement:
        made = Judgement(arguments)
        before = globalstate.take()
        try:
            made.answer = self.judge(**copy(arguments))
        except Exception:
            made.refused = True
        finally:
            made.changed = set(before.put_back())
        made.at_random = not made.changed.isdisjoint(globalstate.RANDOM)
        return made


def changed_state(what: str) -> Red:
    sentence = f"It changed {what}. That is everybody's; it was put back."
    return Red("global state", sentence, yours=what)


class Kept:
    """The arguments of a call as they were, to be compared with what they are, and put back."""

    def __init__(self, arguments: dict[str, Any], changes: frozenset[str]) -> None:
        self.arguments = {name: value for name, value in arguments.items() if name not in changes}
        self.before = {name: _facts(name, value) for name, value in self.arguments.items()}
        self.containers = [(part, shallow_copy(part)) for part in containers(self.arguments)]
        # Another tensor on the same memory leads back to it, whatever is done to the first.
        self.tensors = [(leaf, leaf.data, _fact(leaf)) for leaf in tensors(self.arguments)]

    def assert_unchanged(self) -> None:
        for name, value in self.arguments.items():
            was, is_now = self.before[name], _facts(name, value)
            if [path for path, _ in was] != [path for path, _ in is_now]:
                raise _changed_input(name)
            for (path, before), (_, after) in zip(was, is_now, strict=True):
                if not _same(before, after):
                    raise _changed_input(path)

    def put_back(self) -> None:
        """Undo what was done to the arguments: the next test is given the same ones."""
        for part, was in self.containers:
            refill(part, was)
        for leaf, memory, was in self.tensors:
            if not _same(was, _fact(leaf)):
                with suppress(RuntimeError):  # what cannot be undone is told all the same
                    was.restore(leaf, memory)


def _facts(name: str, value: Any) -> list[tuple[str, Any]]:
    # What holds nothing has no leaves.
    held = [(name, str([way for way, _ in parts(part) or ()])) for part in containers(value)]
    return [(path, _fact(leaf)) for path, leaf in leaves(value, name)] + held


def _fact(leaf: Any) -> Any:
    """What can be compared later, when the leaf itself may have changed."""
    if is_tensor(leaf):
        return _Tensor(leaf)
    if isinstance(leaf, set):
        return frozenset(leaf)
    return leaf if isinstance(leaf, (int, float, str, bytes, type(None))) else id(leaf)


def _same(was: Any, is_now: Any) -> bool:
    return type(was) is type(is_now) and bool(was == is_now or was != was)


def _changed_input(path: str) -> Red:
    sentence = f"{path} was changed: what the caller hands over stays as it was."
    return Red("changed input", sentence, yours=path)


class _Tensor:
    """A tensor as it is at one moment."""

    def __init__(self, tensor: Any) -> None:
        self.bits = tensor.detach().clone()
        self.form = tensor.shape, tensor.stride(), tensor.dtype, tensor.data_ptr()
        self.requires_grad = tensor.requires_grad
        self.gradient = gradient_of(tensor)
        self.gradient_bits = None if self.gradient is None else self.gradient.detach().clone()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Tensor)
            and (self.form, self.requires_grad) == (other.form, other.requires_grad)
            and self.gradient is other.gradient
            and same_bits(self.bits, other.bits)
            and (self.gradient is None or same_bits(self.gradient_bits, other.gradient_bits))
        )

    __hash__ = None  # type: ignore[assignment]  # two moments may be equal

    def restore(self, tensor: Any, memory: Any) -> None:
        """Give a tensor its memory again, and the memory its numbers, for all who look at it."""
        tensor.data = memory
        _without_repeats(memory).copy_(_without_repeats(self.bits, memory))
        if tensor.is_leaf:
            tensor.requires_grad_(self.requires_grad)
            tensor.grad = self.gradient
            if self.gradient is not None:
                self.gradient.data.copy_(self.gradient_bits)


def _without_repeats(tensor: Any, like: Any = None) -> Any:
    """Of an expanded tensor, each place in memory once."""
    for axis, stride in enumerate((tensor if like is None else like).stride()):
        tensor = tensor.narrow(axis, 0, 1) if stride == 0 and tensor.shape[axis] else tensor
    return tensor
