"""The harness is not fooled: tired, unlucky and sly code gets the verdict that is true."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest

from reference.tests.tiny_kata import COUNTS, MIXING, build, cases, examine, told
from specs.harness import boundary
from specs.harness.failure import Verdict
from specs.harness.steps import House

Examine = Callable[[str], Verdict]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has neither fork nor alarms")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """The tiny kata, its steps stubs."""
    return build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def doubled(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """The verdict on step 001 with this body; a loop is not waited for."""
    monkeypatch.setattr(boundary, "TIME_LIMIT", 0.3)

    def verdict(body: str) -> Verdict:
        code = "def double(n):\n" + indent(dedent(body), "    ")
        code = code.replace("REFERENCE", str(house.reference / COUNTS))
        return examine(house, tmp_path / "kata", 1, {COUNTS: code})

    return verdict


@pytest.fixture
def softened(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """The verdict on step 004 with this body, in which ``right`` is the right answer's way."""
    monkeypatch.setattr(boundary, "TIME_LIMIT", 5.0)  # torch loads what it needs late
    head = """\
        import torch
        from torch import nn
        from torch.nn import functional


        def right(scores):
            raised = torch.exp(scores - scores.amax(-1, keepdim=True))
            return raised / raised.sum(-1, keepdim=True)


        def soften(scores):
        """

    def verdict(body: str) -> Verdict:
        code = dedent(head) + indent(dedent(body), "    ")
        return examine(house, tmp_path / "kata", 4, {MIXING: code})

    return verdict


LEAVING = {
    "sys.exit": ("import sys; sys.exit(0)", "It left through sys.exit(0)."),
    "SystemExit": ("raise SystemExit", "It left through sys.exit(None)."),
    "quit": ("quit()", "It left through sys.exit(None)."),
    "os._exit": ("import os; os._exit(0)", "It called os._exit."),
    "posix._exit": ("import os, sys; sys.modules[os.name]._exit(0)", "It called os._exit."),
    "os.abort": ("import os; os.abort()", "It called os.abort."),
    "os._exit, swallowed": (
        """\
        import os
        try: os._exit(0)
        except BaseException: return 2 * n
        """,
        "It called os._exit.",
    ),
    "closed output": ("import sys; sys.stdout.close(); return 2 * n", "sys.stdout.close"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "It raised KeyboardInterrupt"),
    "GeneratorExit": ("raise GeneratorExit", "It raised GeneratorExit"),
    "BaseException": ("raise BaseException('end')", "It raised BaseException"),
    "a group": ("raise BaseExceptionGroup('', [SystemExit(0)])", "It raised BaseExceptionGroup"),
    "pytest.exit": ("import pytest; pytest.exit('', 0)", "decide the outcome (Exit)"),
    "pytest.skip": ("import pytest; pytest.skip('')", "decide the outcome (Skipped)"),
    "pytest.xfail": ("import pytest; pytest.xfail('')", "decide the outcome (XFailed)"),
    "pytest.fail": ("import pytest; pytest.fail('')", "decide the outcome (Failed)"),
    "importorskip": ("import pytest; pytest.importorskip('zzz')", "decide the outcome (Skipped)"),
    "SkipTest": ("import unittest; raise unittest.SkipTest", "decide the outcome (SkipTest)"),
    "endless recursion": ("return double(n)", "It calls itself without end."),
}


@cases(LEAVING)
def test_no_way_out_of_the_run(doubled: Examine, code: str, says: str) -> None:
    """Whoever leaves instead of answering is broken, and told how he left."""
    found = doubled(code)
    assert found.state == "broken"
    assert says in told(found)


LOOPS = {
    "plain": "while True: pass",
    "asleep": "import time; time.sleep(60)",
    "swallows errors": """\
        while True:
            try:
                while True: pass
            except Exception: pass
        """,
    "swallows everything": """\
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
    "swallows the alarm and answers": """\
        try:
            while True: pass
        except BaseException:
            return 2 * n
        """,
    "asleep, swallows and answers": """\
        import time
        try: time.sleep(60)
        except BaseException: pass
        return 2 * n
        """,
}


@cases(LOOPS)
def test_loop_is_stopped(doubled: Examine, code: str) -> None:
    """An alarm that was heard counts, whatever the code makes of it."""
    found = doubled(code)
    assert found.state == "broken"
    assert "Still running after 0.3 s: it was stopped." in told(found)


RAISING = {
    "an assertion of its own": ("assert n == 17, 'not 17'", "AssertionError: not 17"),
    "an empty assertion": ("assert n == 17", "AssertionError:"),
    "a group": ("raise ExceptionGroup('two', [ValueError(1)])", "ExceptionGroup: two"),
    "many lines": ("raise ValueError('\\none\\ntwo')", "ValueError: one"),
    "orders to the terminal": ("raise ValueError('\\x1b[2J')", "ValueError: \\x1b[2J"),
    "no letter": ("raise ValueError('\\udc80')", "ValueError: \\udc80"),
    "a long story": ("raise ValueError('so ' * 9999)", "so so…"),
    "an error that cannot be shown": (
        """\
        class Mute(Exception):
            def __str__(self): raise RuntimeError
        raise Mute
        """,
        "Mute: its message cannot be shown",
    ),
    "an error that leaves when shown": (
        """\
        class Leaver(Exception):
            def __str__(self): raise SystemExit(0)
        raise Leaver
        """,
        "Leaver: its message cannot be shown",
    ),
    "a red of the harness's own": (
        "from specs.harness.failure import Red; raise Red('values', 'fine', state='green')",
        "fine",
    ),
}


@cases(RAISING)
def test_error_is_wrong_and_told_in_one_line(doubled: Examine, code: str, says: str) -> None:
    """An error of the learner's is a wrong answer, not a fault of the spec."""
    found = doubled(code)
    assert found.state == "wrong"
    assert says in told(found)


ANSWERS = {
    "nothing": ("pass", "None: is a `return` missing?"),
    "a bool": ("return n == 2", "a bool"),
    "a float": ("return 2.0 * n", "a float"),
    "words": ("return str(2 * n)", "a str"),
    "a generator": ("yield 2 * n", "a generator"),
    "a function": ("return lambda: 2 * n", "a function"),
    "what equals everything": (
        """\
        class Whatever:
            def __eq__(self, other): return True
        return Whatever()
        """,
        "a Whatever",
    ),
    "an int that equals everything": (
        """\
        class Whatever(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        return Whatever(7)
        """,
        "a Whatever",
    ),
    "what says it is an int": (
        """\
        class Whatever:
            __class__ = int
            def __eq__(self, other): return True
        return Whatever()
        """,
        "a Whatever",
    ),
    "what cannot be shown": (
        """\
        class Mute:
            def __repr__(self): raise RuntimeError
        return Mute()
        """,
        "a Mute",
    ),
}


@cases(ANSWERS)
def test_answer_of_another_kind_is_wrong(doubled: Examine, code: str, says: str) -> None:
    """4 is an int, and nothing else is 4."""
    found = doubled(code)
    assert found.state == "wrong"
    assert says in told(found)


PATCHED = {
    "AssertionError": ("import builtins; builtins.AssertionError = ValueError", "built-in"),
    "isinstance": ("import builtins; builtins.isinstance = lambda *_: True", "built-in"),
    "type": ("import builtins; builtins.type = lambda *_: int", "built-in"),
    "len": ("import builtins; builtins.len = lambda *_: 0", "built-in"),
    "int": ("import builtins; builtins.int = float", "built-in"),
    "print, deleted": ("import builtins; del builtins.print", "built-in"),
    "a new built-in": ("import builtins; builtins.four = 4", "built-in"),
    "math": ("import math; math.sqrt = abs", "math.sqrt"),
    "a check": (
        "from specs.harness import check; check.assert_equal = lambda *_, **__: None",
        "specs.harness.check.assert_equal",
    ),
    "a built-in's name in the harness": (
        "from specs.harness import check; check.type = lambda *_: int",
        "specs.harness.check.type",
    ),
    "a red": (
        "from specs.harness.failure import Red; Red.__init__ = lambda *_, **__: None",
        "Red.__init__",
    ),
    "the guard": (
        "from specs.harness.guard import Guard; Guard.__call__ = lambda *_: 4",
        "Guard.__call__",
    ),
    "the spec's own check": (
        """\
        import sys
        frame = sys._getframe()
        while not frame.f_code.co_name.startswith("test_"):
            frame = frame.f_back
        frame.f_globals["assert_equal"] = lambda *_, **__: None
        """,
        "the spec.assert_equal",
    ),
}


@cases(PATCHED)
def test_patched_name_is_put_back_and_told(doubled: Examine, code: str, says: str) -> None:
    """The answer would have been right, and the verdict still is."""
    found = doubled(f"{dedent(code)}\nreturn 2 * n")
    assert found.state == "wrong"
    assert says in told(found)
    assert "it was put back" in told(found)


@cases(PATCHED)
def test_patched_name_makes_no_wrong_answer_right(doubled: Examine, code: str, says: str) -> None:
    """7 is not 4, whatever else was done."""
    assert says
    assert doubled(f"{dedent(code)}\nreturn 7").state == "wrong"


LEFT_BEHIND = {
    "a seed": ("import random; random.seed(0)", "Python's random generator"),
    "a warnings filter": ("import warnings; warnings.simplefilter('ignore')", "warnings"),
    "a logging level": ("import logging; logging.disable(50)", "logging level"),
    "a logging handler": (
        "import logging; logging.root.addHandler(logging.NullHandler())",
        "logging handlers",
    ),
    "another folder": ("import os; os.chdir('/')", "working folder"),
    "an environment variable": ("import os; os.environ['LEARNER'] = '1'", "environment"),
    "a recursion limit": ("import sys; sys.setrecursionlimit(5000)", "recursion limit"),
    "a search path": ("import sys; sys.path.insert(0, '/')", "search path"),
    "no output": ("import sys; sys.stdout = None", "input and output"),
    "a tracer": ("import sys; sys.setprofile(lambda *_: None)", "profiling"),
    "no garbage collection": ("import gc; gc.disable()", "garbage collector"),
    "a handler of alarms": (
        "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)",
        "signal handlers",
    ),
    "a handler of Ctrl-C": (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "signal handlers",
    ),
    "a thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=[0.5]).start()",
        "It left a thread running.",
    ),
}


@cases(LEFT_BEHIND)
def test_global_state_left_behind_is_told(doubled: Examine, code: str, says: str) -> None:
    """A right answer is not all that a step owes."""
    found = doubled(f"{code}; return 2 * n")
    assert found.state == "wrong"
    assert says in told(found)


READING = {
    "import": "from reference.part01_counts import double as answer; return answer(n)",
    "importlib": "import importlib; importlib.import_module('reference.part01_counts')",
    "swallowed": """\
        try: import reference.part01_counts
        except BaseException: pass
        return 2 * n
        """,
    "open": "open('REFERENCE').read(); return 2 * n",
    "pathlib": "import pathlib; pathlib.Path('REFERENCE').read_text(); return 2 * n",
    "os.open": "import os; os.open('REFERENCE', 0); return 2 * n",
    "io.FileIO": "import io; io.FileIO('REFERENCE').read(); return 2 * n",
    "linecache": "import linecache; linecache.getlines('REFERENCE'); return 2 * n",
    "runpy": "import runpy; return runpy.run_path('REFERENCE')['double'](n)",
    "a loader": """\
        from importlib import util
        spec = util.spec_from_file_location('answers', 'REFERENCE')
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double(n)
        """,
    "a process": """\
        import subprocess
        subprocess.run(['cat', 'REFERENCE'], capture_output=True)
        return 2 * n
        """,
    "a relative path": """\
        import os
        open(os.path.relpath('REFERENCE')).read()
        return 2 * n
        """,
}


@cases(READING)
def test_reference_is_closed(doubled: Examine, code: str) -> None:
    """Neither imported nor read, whichever way."""
    found = doubled(code)
    assert found.state == "wrong"
    assert "the answer is yours to write" in told(found)


HARMLESS = {
    "prints": "print('hello'); return 2 * n",
    "prints errors": "import sys; print('hello', file=sys.stderr); return 2 * n",
    "warns": "import warnings; warnings.warn('careful', stacklevel=1); return 2 * n",
    "logs": "import logging; logging.getLogger(__name__).warning('careful'); return 2 * n",
    "raises and catches": """\
        try: raise ValueError
        except ValueError: return 2 * n
        """,
    "a thread that comes back": """\
        import threading
        answer = []
        thread = threading.Thread(target=lambda: answer.append(2 * n))
        thread.start()
        thread.join()
        return answer[0]
        """,
    "state put back": """\
        import random
        before = random.getstate()
        random.random()
        random.setstate(before)
        return 2 * n
        """,
    "reads its own source": "import inspect; inspect.getsource(double); return 2 * n",
    "reads its own file": "open(__file__).read(); return 2 * n",
    "imports a library": "import fractions; return int(fractions.Fraction(n) * 2)",
}


@pytest.mark.filterwarnings("ignore:careful")
@cases(HARMLESS)
def test_right_answer_is_green(doubled: Examine, code: str) -> None:
    """What harms nobody is allowed."""
    assert doubled(code).state == "green"


def test_process_of_the_learners_own_ends_there(doubled: Examine) -> None:
    """A forked child does not go on with the run, and ``os._exit`` is its right."""
    found = doubled("""\
        import os
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return 2 * n
        """)
    assert found.state == "green"


FORBIDDEN = {
    "functional": "return functional.softmax(scores, -1)",
    "torch": "return torch.softmax(scores, -1)",
    "method": "return scores.softmax(-1)",
    "module": "return nn.Softmax(-1)(scores)",
    "special": "return torch.special.softmax(scores, -1)",
    "operator": "return torch.ops.aten._softmax(scores, -1, False)",
    "by another name": "return getattr(torch, 'soft' + 'max')(scores, -1)",
    "out of sight": """\
        with torch._C.DisableTorchFunction():
            return torch.softmax(scores, -1)
        """,
    "in a thread": """\
        import threading
        answer = []
        thread = threading.Thread(target=lambda: answer.append(torch.softmax(scores, -1)))
        thread.start()
        thread.join()
        return answer[0]
        """,
    "swallowed": """\
        try: return torch.softmax(scores, -1)
        except BaseException: return right(scores)
        """,
}


@cases(FORBIDDEN)
def test_what_is_yours_to_build_is_not_called(softened: Examine, code: str) -> None:
    """Step 004 is there to build softmax."""
    found = softened(code)
    assert found.state == "wrong"
    assert "softmax was called" in told(found)


INPUTS = {
    "in place": "scores -= scores.amax(-1, keepdim=True); return right(scores)",
    "through .data": "scores.data.sub_(1.0); return right(scores)",
    "another .data": "scores.data = scores.data + 1.0; return right(scores)",
    "set_": "scores.set_(scores + 1.0); return right(scores)",
    "resize_": "answer = right(scores); scores.resize_(1, 2); return answer",
    "requires_grad_": "return right(scores.requires_grad_())",
    "a gradient": "scores.grad = torch.ones_like(scores); return right(scores)",
    "a gradient, through backward": """\
        if scores.requires_grad:
            scores.sum().backward()
        return right(scores)
        """,
    "only in float64": """\
        if scores.dtype == torch.float64:
            scores.data.add_(1.0)
        return right(scores)
        """,
}


@cases(INPUTS)
def test_inputs_stay_as_they_were(softened: Examine, code: str) -> None:
    """The caller still needs them."""
    assert "scores was changed" in told(softened(code))


TENSORS = {
    "cut off": ("return right(scores).detach()", "cut off from its inputs"),
    "no_grad": ("with torch.no_grad(): return right(scores)", "cut off from its inputs"),
    "numpy inside": (
        "return torch.from_numpy(right(scores.detach()).numpy())",
        "cut off from its inputs",
    ),
    "numbers written down": (
        "return torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=scores.dtype)",
        "cut off from its inputs",
    ),
    "a parameter": ("return nn.Parameter(right(scores))", "a gradient that nothing needs"),
    "half cut off": (
        """\
        raised = torch.exp(scores - scores.amax(-1, keepdim=True))
        return raised / raised.sum(-1, keepdim=True).detach()
        """,
        "The gradient of scores is wrong.",
    ),
    "a hook": (
        """\
        answer = right(scores)
        if answer.requires_grad:
            answer.register_hook(lambda gradient: 2 * gradient)
        return answer
        """,
        "The gradient of scores is wrong.",
    ),
    "memory read as it lies": (
        "return right(torch.as_strided(scores, scores.shape, (scores.shape[1], 1)))",
        "The gradient of scores is wrong",
    ),
    "float32": ("return right(scores).float()", "yours torch.float32 expected torch.float64"),
    "float64": ("return right(scores).double()", "yours torch.float64 expected torch.float32"),
    "NaN": ("return scores * float('nan')", "nan"),
    "another shape": ("return right(scores).reshape(-1)", "shape (4,) expected (… keys) = (2, 2)"),
    "an array": ("return right(scores.detach()).numpy()", "a ndarray"),
    "a list": ("return right(scores).tolist()", "a list"),
    "a tuple": ("return (right(scores),)", "a tuple"),
    "a subclass": (
        "return right(scores).as_subclass(type('Mine', (torch.Tensor,), {}))",
        "a Mine, not a plain tensor",
    ),
    "another device": ("return right(scores).to('meta')", "on meta"),
    "made on the CPU": (
        "return right(scores) * torch.ones(scores.shape[-1], dtype=scores.dtype)",
        "With inputs on a GPU it fails",
    ),
}


@cases(TENSORS)
def test_tensor_of_another_form_is_wrong(softened: Examine, code: str, says: str) -> None:
    """Type, shape, dtype, device and gradient are part of the answer."""
    found = softened(code)
    assert found.state == "wrong"
    assert says in told(found)


TORCHS_STATE = {
    "a seed": ("torch.manual_seed(0)", "torch's default random generator"),
    "a random number": ("torch.rand(1)", "torch's default random generator"),
    "the default dtype": ("torch.set_default_dtype(torch.float64)", "torch's default dtype"),
    "the default device": ("torch.set_default_device('meta')", "torch's default device"),
    "the gradient mode": ("torch.set_grad_enabled(False)", "the gradient mode"),
    "threads": ("torch.set_num_threads(2)", "torch's thread count"),
    "anomalies": ("torch.autograd.set_detect_anomaly(True)", "torch's anomaly mode"),
    "precision": ("torch.set_float32_matmul_precision('medium')", "torch's precision"),
    "autocast": ("torch.autocast('cpu').__enter__()", "torch's autocast"),
    "a mode": (
        """\
        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))
        Mode().__enter__()
        """,
        "torch's function modes",
    ),
    "allclose": ("torch.allclose = lambda *_, **__: True", "torch.allclose"),
    "equal": ("torch.equal = lambda *_, **__: True", "torch.equal"),
    "isclose": ("torch.isclose = lambda a, *_, **__: a == a", "torch.isclose"),
    "==": ("torch.Tensor.__eq__ = lambda *_: True", "torch.Tensor.__eq__"),
    "~": ("torch.Tensor.__invert__ = torch.zeros_like", "torch.Tensor.__invert__"),
    "shape": ("torch.Tensor.shape = (2, 2)", "torch.Tensor.shape"),
    "only in float64": (
        "scores.dtype == torch.float64 and torch.set_default_dtype(torch.float64)",
        "torch's default dtype",
    ),
}


@cases(TORCHS_STATE)
def test_torchs_state_is_put_back_and_told(softened: Examine, code: str, says: str) -> None:
    """Everybody's state, and the names that every comparison rests on."""
    found = softened(f"answer = right(scores)\n{dedent(code)}\nreturn answer")
    assert found.state == "wrong"
    assert says in told(found)


UNUSUAL = {
    "plain": "return right(scores)",
    "row by row": """\
        rows = [torch.exp(row - row.max()) for row in scores]
        return torch.stack([row / row.sum() for row in rows])
        """,
    "einsum": """\
        raised = torch.exp(scores - scores.amax(-1, keepdim=True))
        return raised / torch.einsum("ij->i", raised)[:, None]
        """,
    "the largest cut off": """\
        raised = torch.exp(scores - scores.detach().amax(-1, keepdim=True))
        return raised / raised.sum(-1, keepdim=True)
        """,
    "not contiguous": "return right(scores.mT.contiguous().mT)",
    "a module": """\
        class Soften(nn.Module):
            def forward(self, scores):
                return right(scores)
        return Soften()(scores)
        """,
    "an autograd function": """\
        class Soften(torch.autograd.Function):
            @staticmethod
            def forward(ctx, scores):
                shares = right(scores)
                ctx.save_for_backward(shares)
                return shares
            @staticmethod
            def backward(ctx, gradient):
                (shares,) = ctx.saved_tensors
                return shares * (gradient - (gradient * shares).sum(-1, keepdim=True))
        return Soften.apply(scores)
        """,
    "a plain number on the CPU": "return right(scores) * torch.tensor(1.0)",
    "vmap": "return torch.vmap(right)(scores)",
}


@cases(UNUSUAL)
def test_unusual_way_to_the_right_tensor_is_green(softened: Examine, code: str) -> None:
    """Results are looked at, not the way to them."""
    found = softened(code)
    assert found.state == "green", told(found)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_compiled_function_is_green(house: House, tmp_path: Path) -> None:
    """TorchScript runs out of the pretended device's sight: silence, no false alarm."""
    code = """\
        import torch

        @torch.jit.script
        def amplify(values, number: int):
            return values * 2 * number
        """
    found = examine(house, tmp_path / "kata", 6, {MIXING: code})
    assert found.state == "green", told(found)
