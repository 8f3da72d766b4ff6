"""Stands where the function under test stands, and checks every call that a spec makes of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from specs.harness import check, globalstate
from specs.harness.boundary import boundary
from specs.harness.failure import Red
from specs.harness.forms import assert_form, shape_names
from specs.harness.values import NotCopyable, containers, copy, is_tensor, leaves, tensors


@dataclass
class Call:
    """One call of the function under test: its arguments, by name, as they were before."""

    arguments: dict[str, Any]
    answer: Any = None
    judged: Any = None  # the reference's answer to the same call


class Guard:
    """Calls the function under test for a spec: inputs, global state and the answer's form are checked."""

    def __init__(
        self,
        tag: str,
        judge: Callable[..., Any],
        tokens: frozenset[str] = frozenset(),
        changes: frozenset[str] = frozenset(),
    ) -> None:
        self.tag = tag
        self.judge = judge
        self.tokens = tokens
        self.changes = changes  # arguments that the step changes in place, on purpose
        self.function: Callable[..., Any] = judge
        self.signature = inspect.signature(judge)
        self.names = shape_names(judge)
        self.calls: list[Call] = []
        self.count = 0
        self.raised: BaseException | None = None  # what the learner's code raised last
        self.__name__ = judge.__name__

    def reset(self) -> None:
        """Forget the calls made so far: a new test begins."""
        self.calls = []
        self.count = 0
        self.raised = None
        check.last_answer.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        call = self._recorded(args, kwargs)
        kept = _Kept(self._by_name(args, kwargs), self.changes)
        before = globalstate.take()
        libraries = len(sys.modules)
        try:
            with boundary(self.tag), self.not_with():
                answer = self.function(*args, **kwargs)
        except BaseException as error:
            self.raised = error
            before.put_back()
            kept.put_back()
            raise
        changed = set(before.changed())
        if len(sys.modules) != libraries:
            changed -= globalstate.BY_IMPORTS
        kept.assert_unchanged()
        self.refuse_graph(answer, (args, kwargs))
        if call is not None:
            call.answer = answer
            changed -= self._judge(call)
            self.calls.append(call)
        if changed:
            before.put_back(changed)
            what = " and ".join(sorted(changed))
            raise Red(
                "global state",
                f"It changed {what}. That is everybody's; it was put back.",
                yours=what,
            )
        check.last_answer.append(answer)
        return answer

    def not_with(self) -> AbstractContextManager[Any]:
        """What refuses the functions on the step's *not with* list; nothing where torch is not loaded."""
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
        """Put the call to the reference and compare forms; return the global state that it changes too."""
        before = globalstate.take()
        try:
            call.judged = self.judge(**copy(call.arguments))
        except Exception:
            call.judged = None  # the call is one to be rejected: the spec says how
            return set()
        finally:
            changed = set(before.put_back())
        assert_form(call.answer, call.judged, self.names)
        return changed


class _Kept:
    """The arguments of a call as they were: compared with what they are afterwards, and put back."""

    def __init__(self, arguments: dict[str, Any], changes: frozenset[str]) -> None:
        self.arguments = {name: value for name, value in arguments.items() if name not in changes}
        self.before = list(self._facts())
        self.tensors = [(leaf, _fact(leaf)) for leaf in tensors(self.arguments)]
        self.containers = [(part, type(part)(part)) for part in containers(self.arguments)]

    def _facts(self) -> list[tuple[str, Any]]:
        return [(path, _fact(leaf)) for path, leaf in leaves(self.arguments)]

    def assert_unchanged(self) -> None:
        after = self._facts()
        for (path, was), (_, is_now) in zip(self.before, after, strict=False):
            if not _same(was, is_now):
                self.put_back()
                raise _changed(path)
        if [path for path, _ in self.before] != [path for path, _ in after]:
            names = [n for n in self.arguments if _paths(self.before, n) != _paths(after, n)]
            self.put_back()
            raise _changed(names[0])

    def put_back(self) -> None:
        """Undo what was done to the arguments: the next test is given the same ones."""
        for part, was in self.containers:
            part.clear()
            part.extend(was) if isinstance(part, list) else part.update(was)
        for leaf, was in self.tensors:
            if not _same(was, _fact(leaf)):
                leaf.data = was[0].clone()
                leaf.requires_grad_(was[1][3])


def _paths(facts: list[tuple[str, Any]], name: str) -> list[str]:
    return [path for path, _ in facts if path.startswith(name)]


def _changed(path: str) -> Red:
    return Red(
        "changed input",
        f"{path} was changed: what the caller hands over stays as it was.",
        yours=path,
    )


def _fact(leaf: Any) -> Any:
    if not is_tensor(leaf):
        return leaf if isinstance(leaf, (int, float, str, bytes, bool, type(None))) else id(leaf)
    bits = leaf.detach().clone()
    about = (
        leaf.shape,
        leaf.stride(),
        leaf.dtype,
        leaf.requires_grad,
        leaf.data_ptr(),
        id(leaf.grad),
    )
    return bits, about


def _same(was: Any, is_now: Any) -> bool:
    if isinstance(was, tuple) and isinstance(is_now, tuple):
        return bool(was[1] == is_now[1]) and _same_bits(was[0], is_now[0])
    return type(was) is type(is_now) and (was == is_now or was != was)


def _same_bits(was: Any, is_now: Any) -> bool:
    torch = sys.modules["torch"]
    if torch.equal(was, is_now):
        return True
    # NaN differs from itself: compare the bytes.
    return bool(torch.equal(*(x.contiguous().reshape(-1).view(torch.uint8) for x in (was, is_now))))
