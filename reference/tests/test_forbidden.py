"""The *not with* lists: every spelling and relative is refused, and nothing fair is."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812  # everybody's name for it
from torch import Tensor, nn
from torch.nn.attention.flex_attention import flex_attention
from torch.optim.adam import adam

from specs.harness.devices import PretendedDevice
from specs.harness.failure import Red
from specs.harness.families import FAMILIES, families, plain, tokens_for
from specs.harness.forbidden import NotWith, NotWithAten, refuse_graph
from specs.harness.steps import House, UserError

Function = Callable[[Tensor], Any]
aten = torch.ops.aten
ALL = frozenset(family.token for family in FAMILIES)
IDS = torch.tensor([0, 2])
LAYER = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
PARAMETER = nn.Parameter(torch.ones(3))


def learner(**changes: Any) -> Tensor:
    """A 4 × 4 input that takes a gradient."""
    return torch.linspace(-2, 2, 16).reshape(4, 4).requires_grad_(**changes)


def with_gradient() -> list[nn.Parameter]:
    """A parameter as it is after a backward pass."""
    PARAMETER.grad = torch.ones(3)
    return [PARAMETER]


def heads(x: Tensor) -> list[Tensor]:
    """Queries, keys and values with a batch and a head axis."""
    return [x[None, None]] * 3


def attention_forward(x: Tensor) -> Any:
    """The functional behind ``nn.MultiheadAttention``."""
    packed, bias = torch.ones(12, 4), torch.ones(12)
    rest = (None, None, False, 0.0, torch.ones(4, 4), torch.ones(4))
    return F.multi_head_attention_forward(x, x, x, 4, 2, packed, bias, *rest)


def native_attention(x: Tensor) -> Any:
    """The private entry behind it."""
    rest = (torch.ones(12, 4), torch.ones(12), torch.ones(4, 4), torch.ones(4))
    return torch._native_multi_head_attention(x[None], x[None], x[None], 4, 2, *rest)


def fused_adam(_: Tensor) -> None:
    """All of Adam in one private call."""
    zeros = [[torch.zeros(3)] for _ in range(4)]
    torch._fused_adam_(
        *zeros,
        [],
        [torch.ones(())],
        lr=0.1,
        beta1=0.9,
        beta2=0.98,
        weight_decay=0.0,
        eps=1e-9,
        amsgrad=False,
        maximize=False,
    )


def distributed(_: Tensor) -> None:
    """Torch's own averaging of gradients, for a group of one worker."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    finally:
        dist.destroy_process_group()


# By the family that must be named.
CALLS: dict[str, dict[str, Function]] = {
    "softmax": {
        "torch.softmax": lambda x: torch.softmax(x, -1),
        "torch.Tensor.softmax": lambda x: x.softmax(-1),
        "torch.nn.functional.softmax": lambda x: F.softmax(x, -1),
        "torch.nn.Softmax": nn.Softmax(-1),
        "torch.nn.Softmax2d": nn.Sequential(nn.Unflatten(0, (1, 4)), nn.Softmax2d()),
        "torch.special.softmax": lambda x: torch.special.softmax(x, -1),
        "torch._softmax": lambda x: torch._softmax(x, -1, False),
        "torch.ops.aten.softmax": lambda x: aten.softmax(x, -1),
        "torch.ops.aten._softmax.default": lambda x: aten._softmax.default(x, -1, False),
        "torch.nn.functional.softmin": lambda x: F.softmin(x, -1),
        "torch.nn.functional.gumbel_softmax": F.gumbel_softmax,
        "torch._safe_softmax": lambda x: torch._safe_softmax(x, -1),
        "torch._masked_softmax": lambda x: torch._masked_softmax(x, x > 0, -1),
        "torch._refs.softmax": lambda x: torch._refs.softmax(x, -1),
        "torch.nn.AdaptiveLogSoftmaxWithLoss": lambda x: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(
            x, IDS.repeat(2)
        ),
    },
    "log_softmax": {
        "torch.log_softmax": lambda x: torch.log_softmax(x, -1),
        "torch.nn.LogSoftmax": nn.LogSoftmax(-1),
        "torch._log_softmax": lambda x: torch._log_softmax(x, -1, False),
    },
    "logsumexp": {
        "torch.Tensor.logsumexp": lambda x: x.logsumexp(-1),
        "torch.special.logsumexp": lambda x: torch.special.logsumexp(x, -1),
        "torch.logcumsumexp": lambda x: torch.logcumsumexp(x, -1),
    },
    "cross_entropy": {
        "torch.nn.functional.cross_entropy": lambda x: F.cross_entropy(x[:2], IDS),
        "torch.nn.CrossEntropyLoss": lambda x: nn.CrossEntropyLoss()(x[:2], IDS),
        "torch._C._nn.cross_entropy_loss": lambda x: torch._C._nn.cross_entropy_loss(x[:2], IDS),
    },
    "nll_loss": {
        "torch.nn.functional.nll_loss": lambda x: F.nll_loss(x[:2], IDS),
        "torch.nn.NLLLoss": lambda x: nn.NLLLoss()(x[:2], IDS),
        "torch.ops.aten.nll_loss": lambda x: aten.nll_loss(x[:2], IDS),
    },
    "kl_div": {
        "torch.kl_div": lambda x: torch.kl_div(x, x),
        "torch.nn.functional.kl_div": lambda x: F.kl_div(x, x, reduction="sum"),
        "torch.nn.KLDivLoss": lambda x: nn.KLDivLoss(reduction="sum")(x, x),
    },
    "embedding": {
        "torch.embedding": lambda x: torch.embedding(x, IDS),
        "torch.nn.functional.embedding": lambda x: F.embedding(IDS, x),
        "torch.nn.Embedding": lambda x: nn.Embedding.from_pretrained(x.detach())(IDS),
        "torch.nn.functional.embedding_bag": lambda x: F.embedding_bag(IDS[:, None], x),
        "torch.nn.EmbeddingBag": lambda x: nn.EmbeddingBag(4, 4)(IDS[:, None]) + x[:2],
    },
    "linear": {
        "torch.nn.functional.linear": lambda x: F.linear(x, x),
        "torch.nn.Linear": nn.Linear(4, 2),
        "torch.ops.aten.linear": lambda x: aten.linear(x, x),
    },
    "scaled_dot_product_attention": {
        "torch.nn.functional.scaled_dot_product_attention": lambda x: (
            F.scaled_dot_product_attention(x, x, x)
        ),
        "torch._scaled_dot_product_attention_math": lambda x: (
            torch._scaled_dot_product_attention_math(x, x, x)
        ),
        "torch.nn.attention.flex_attention.flex_attention": lambda x: flex_attention(*heads(x)),
    },
    "multi_head_attention": {
        "torch.nn.functional.multi_head_attention_forward": attention_forward,
        "torch._native_multi_head_attention": native_attention,
        "torch.nn.MultiheadAttention": lambda x: nn.MultiheadAttention(4, 2)(x, x, x),
    },
    "transformer": {
        "torch.nn.TransformerEncoderLayer": lambda x: LAYER(x[None]),
        "torch.nn.TransformerDecoderLayer": lambda x: nn.TransformerDecoderLayer(4, 2, 8)(x, x),
        "torch.nn.Transformer": lambda x: nn.Transformer(4, 2, 1, 1, 8)(x, x),
    },
    "relu": {
        "torch.relu": torch.relu,
        "torch.relu_": lambda x: torch.relu_(x.clone()),
        "torch.nn.functional.relu": lambda x: F.relu(x, inplace=False),
        "torch.nn.ReLU": nn.ReLU(),
        "torch.nn.ReLU6": nn.ReLU6(),
        "torch.nn.functional.leaky_relu": lambda x: F.leaky_relu(x, 0.0),
        "torch.prelu": lambda x: torch.prelu(x, torch.zeros(1)),
        "torch.nn.functional.threshold": lambda x: F.threshold(x, 0.0, 0.0),
        "torch.nn.functional.hardtanh": lambda x: F.hardtanh(x, 0.0, 1e30),
        "torch.nn.functional.elu": lambda x: F.elu(x, 0.0),
        "torch._addmm_activation": lambda x: torch._addmm_activation(x, x, x),
    },
    "silu": {
        "torch.nn.functional.silu": F.silu,
        "torch.nn.SiLU": nn.SiLU(),
        "torch.ops.aten.silu_": lambda x: aten.silu_(x.clone()),
    },
    "layer_norm": {
        "torch.layer_norm": lambda x: torch.layer_norm(x, [4]),
        "torch.nn.functional.layer_norm": lambda x: F.layer_norm(x, [4]),
        "torch.nn.LayerNorm": nn.LayerNorm(4),
        "torch.native_layer_norm": lambda x: torch.native_layer_norm(x, [4], None, None, 1e-5),
        "torch.nn.functional.group_norm": lambda x: F.group_norm(x, 1),
        "torch.nn.functional.instance_norm": lambda x: F.instance_norm(x[None]),
        "torch.nn.BatchNorm1d": lambda x: nn.BatchNorm1d(4)(x.mT),
    },
    "rms_norm": {
        "torch.rms_norm": lambda x: torch.rms_norm(x, [4]),
        "torch.nn.RMSNorm": nn.RMSNorm(4),
        "torch._fused_rms_norm": lambda x: torch._fused_rms_norm(x, [4], None, 1e-6),
    },
    "dropout": {
        "torch.dropout": lambda x: torch.dropout(x, 0.5, True),
        "torch.nn.functional.dropout": F.dropout,
        "torch.nn.Dropout": nn.Dropout(),
        "torch.nn.functional.alpha_dropout": lambda x: F.alpha_dropout(x, training=True),
        "torch.feature_dropout": lambda x: torch.feature_dropout(x, 0.5, True),
        "torch.native_dropout": lambda x: torch.native_dropout(x, 0.5, True),
    },
    "repeat_interleave": {
        "torch.repeat_interleave": lambda x: torch.repeat_interleave(x, 2, dim=0),
        "torch.Tensor.repeat_interleave": lambda x: x.repeat_interleave(2, dim=0),
        "torch.ops.aten.repeat_interleave": lambda x: aten.repeat_interleave(x, 2, 0),
    },
    "distributions": {
        "torch.distributions.Categorical": lambda x: torch.distributions.Categorical(
            x.exp() / x.exp().sum(-1, keepdim=True)
        ),
        "torch.distributions.Normal": lambda x: torch.distributions.Normal(0.0, x.exp()),
    },
    "optim": {
        "torch.optim.Adam": lambda _: torch.optim.Adam(with_gradient()).step(),
        "torch.optim.SGD": lambda _: torch.optim.SGD(with_gradient(), 0.1).step(),
        "torch.optim.adam.adam": lambda _: adam(
            *[[torch.ones(3)] for _ in range(4)],
            [],
            [torch.ones(())],
            amsgrad=False,
            beta1=0.9,
            beta2=0.98,
            lr=0.1,
            weight_decay=0.0,
            eps=1e-9,
            maximize=False,
        ),
        "torch._fused_adam_": fused_adam,
    },
    "clip_grad_norm_": {
        "torch.nn.utils.clip_grad_norm_": lambda _: nn.utils.clip_grad_norm_(with_gradient(), 1.0),
        "torch.nn.utils.get_total_norm": lambda _: nn.utils.get_total_norm([torch.ones(3)]),
    },
    "DistributedDataParallel": {
        "torch.nn.parallel.DistributedDataParallel": distributed,
    },
}

FAIR: dict[str, Function] = {
    "own softmax": lambda x: (x - x.amax(-1, keepdim=True)).exp().div(x.exp().sum()),
    "sigmoid": lambda x: x.sigmoid() * x + torch.logaddexp(x, x) + F.logsigmoid(x),
    "products": lambda x: torch.addmm(x, x, x) @ x + F.bilinear(x, x, torch.ones(4, 4, 4)),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x) + torch.tensordot(x, x, 1),
    "two convolutions of width 1": lambda x: F.conv1d(x[None], x[:, :, None]),
    "clamp": lambda x: x.clamp(min=0) + x.clamp_min(0) + torch.maximum(x, x.new_zeros(())),
    "where": lambda x: torch.where(x > 0, x, 0.0) + F.gelu(x) + F.softplus(x) + F.glu(x, 0)[:1],
    "var_mean": lambda x: torch.var_mean(x, -1, correction=0)[0] + F.normalize(x) + x.norm(),
    "lookup": lambda x: x[IDS] + x.index_select(0, IDS) + F.one_hot(IDS, 4).float() @ x,
    "embedding losses": lambda x: F.cosine_embedding_loss(x, x, torch.ones(4)),
    "binary cross entropy": lambda x: F.binary_cross_entropy_with_logits(x, torch.ones(4, 4)),
    "poisson loss": lambda x: F.poisson_nll_loss(x, x) + torch.xlogy(x.exp(), x.exp()).sum(),
    "random masks": lambda x: x * torch.bernoulli(torch.full_like(x, 0.5)) * torch.rand_like(x),
    "repeats": lambda x: x.repeat(2, 1) + x[:, None].expand(4, 2, 4).reshape(8, 4),
    "foreach": lambda x: torch._foreach_norm(torch._foreach_mul([x], 0.5)),
    "vector norm": torch.linalg.vector_norm,
    "multinomial": lambda x: torch.multinomial(x.exp(), 2),
    "weights kept in modules": lambda x: (
        x @ nn.Linear(4, 4).weight + nn.Embedding(4, 4).weight + nn.LayerNorm(4).weight
    ),
    "initialised": lambda _: nn.init.xavier_uniform_(torch.empty(4, 4)) + nn.Dropout().p,
    "interpolation": lambda x: F.interpolate(x[None], scale_factor=2, mode="linear"),
    "mask helper": lambda x: nn.Transformer.generate_square_subsequent_mask(4) + x,
    "default layer": nn.Identity(),
    "vmap": torch.vmap(lambda row: row * 2),
    "gradient": lambda x: torch.autograd.grad((x * x).sum(), x),
    "a device context": lambda x: torch.device(x.device),
    "printing": lambda x: f"{x} {x.shape} {x.dtype}",
}


class Softmax(torch.autograd.Function):
    """The learner's own, which may have this name."""

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        return x.exp() / x.exp().sum(-1, keepdim=True)

    @staticmethod
    def backward(_: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]


class SecretlyBackward(Softmax):
    """Hides the call in its backward pass."""

    @staticmethod
    def backward(_: Any, *gradients: Tensor) -> Tensor:
        return torch.softmax(gradients[0], -1)


# Runs where no function mode looks.
SCRIPTED = torch.jit.CompilationUnit("def softmax(x):\n    return torch.softmax(x, -1)\n")


def disabled(function: Function, x: Tensor) -> Any:
    """Call with torch functions disabled, so that no function mode sees it."""
    with torch._C.DisableTorchFunction():
        return function(x)


def in_thread(function: Function, x: Tensor) -> Tensor:
    """Call in another thread, where the modes of this one are off."""
    answers: list[Tensor] = []
    thread = threading.Thread(target=lambda: answers.append(function(x)))
    thread.start()
    thread.join()
    return answers[0]


def swallowing(function: Function, x: Tensor) -> Tensor:
    """Try a call and hide that it failed."""
    try:
        return cast(Tensor, function(x))
    except Exception:
        return x


def each_call() -> list[Any]:
    """Every call with the family and the spelling that its refusal must name."""
    return [
        pytest.param(token, spelled, function, id=f"{token}-{spelled}")
        for token, calls in CALLS.items()
        for spelled, function in calls.items()
    ]


@pytest.mark.parametrize(("token", "spelled", "function"), each_call())
def test_call_is_refused_as_it_was_spelled(token: str, spelled: str, function: Function) -> None:
    """The sentence names the family and the learner's own spelling."""
    with pytest.raises(Red) as caught, NotWith([token]):
        function(learner())
    assert caught.value.kind == "forbidden"
    assert caught.value.sentence == f"{token} was called ({spelled}), which is yours to build"


@pytest.mark.parametrize("function", FAIR.values(), ids=FAIR.keys())
@pytest.mark.parametrize("mode", [NotWith, NotWithAten])
def test_fair_call_passes(mode: type[NotWith], function: Function) -> None:
    """What a step is built from is no family's, whatever torch does inside."""
    with mode(ALL) as watch:
        answer = function(learner())
    refuse_graph(answer, ALL)
    assert watch.refused is None


def test_every_family_is_called_somewhere_above() -> None:
    """No family is without a test."""
    assert set(CALLS) == ALL


@pytest.mark.parametrize(
    ("token", "function"),
    [
        ("softmax", lambda x: F.log_softmax(x, -1)),
        ("softmax", lambda x: F.scaled_dot_product_attention(x, x, x)),
        ("softmax", attention_forward),
        ("softmax", lambda x: F.cross_entropy(x[:2], IDS)),
        ("scaled_dot_product_attention", attention_forward),
        ("multi_head_attention", lambda x: LAYER(x[None])),
        ("layer_norm", lambda x: F.rms_norm(x, [4])),
        ("log_softmax", lambda x: F.cross_entropy(x[:2], IDS)),
    ],
)
def test_relative_that_does_the_job_is_refused(token: str, function: Function) -> None:
    """A list with one name binds the relatives too, under the name that was listed."""
    with pytest.raises(Red, match=f"^{token} was called"), NotWith([token]):
        function(learner())


@pytest.mark.parametrize(
    ("token", "function"),
    [
        ("softmax", SCRIPTED.softmax),
        ("softmax", lambda x: disabled(lambda x: F.softmax(x, -1), x)),
        ("softmax", lambda x: disabled(lambda x: F.cross_entropy(x[:2], IDS), x)),
        ("softmax", lambda x: disabled(lambda x: F.scaled_dot_product_attention(x, x, x), x)),
        ("embedding", lambda x: disabled(lambda x: F.embedding(IDS, x), x)),
        ("relu", lambda x: disabled(torch.relu, x)),
        ("layer_norm", lambda x: disabled(lambda x: F.layer_norm(x, [4]), x)),
        ("layer_norm", lambda x: disabled(lambda x: F.group_norm(x, 1), x)),
        ("dropout", lambda x: disabled(F.dropout, x)),
        ("kl_div", lambda x: disabled(lambda x: F.kl_div(x, x, reduction="sum"), x)),
        ("silu", lambda x: disabled(F.silu, x)),
        ("optim", lambda x: disabled(lambda _: torch.optim.Adam(with_gradient()).step(), x)),
        ("distributions", lambda x: disabled(torch.distributions.Exponential, x.exp()).mean + 1),
    ],
)
def test_call_below_the_function_mode_is_refused(token: str, function: Function) -> None:
    """Torch functions switched off or compiled away still end in operators."""
    with pytest.raises(Red, match=f"^{token} was called"), NotWith([token]), NotWithAten([token]):
        function(learner())


@pytest.mark.parametrize(
    ("token", "function", "node"),
    [
        ("softmax", lambda x: torch.softmax(x, -1), "SoftmaxBackward0"),
        ("softmax", lambda x: F.log_softmax(x, -1), "LogSoftmaxBackward0"),
        ("embedding", lambda x: F.embedding(IDS, x), "EmbeddingBackward0"),
        ("layer_norm", lambda x: F.layer_norm(x, [4]), "NativeLayerNormBackward0"),
        ("layer_norm", lambda x: F.batch_norm(x, None, None, training=True), r"\w+Norm\w+"),
        ("scaled_dot_product_attention", lambda x: (
            F.scaled_dot_product_attention(*heads(x))
        ), r"ScaledDotProduct\w+"),
        ("relu", torch.relu, "ReluBackward0"),
        ("relu", F.leaky_relu, "LeakyReluBackward0"),
        ("silu", F.silu, "SiluBackward0"),
        ("logsumexp", lambda x: x.logsumexp(-1), "LogsumexpBackward0"),
        ("nll_loss", lambda x: F.nll_loss(x[:2], IDS), "NllLossBackward0"),
        ("dropout", lambda x: torch.native_dropout(x, 0.5, True)[0], "NativeDropoutBackward0"),
    ],
)  # fmt: skip
def test_graph_tells_on_another_thread(token: str, function: Function, node: str) -> None:
    """What took part in the answer is in its graph, wherever it ran."""
    with NotWith([token]), NotWithAten([token]):
        answer = in_thread(lambda x: function(x) * 2, learner())
    with pytest.raises(Red, match=rf"^{token} was called \({node} in the answer's graph\)"):
        refuse_graph({"weights": [(1, answer)]}, [token])


def test_graph_of_an_input_is_its_makers() -> None:
    """A spec may make its inputs with softmax."""
    weights = torch.softmax(learner(), -1)
    refuse_graph(weights * 2, ["softmax"], given={"weights": weights})


def test_own_function_may_have_any_name() -> None:
    """The learner's ``autograd.Function`` is no operation of torch's."""
    with NotWith(["softmax"]) as watch:
        answer = Softmax.apply(learner())  # type: ignore[no-untyped-call]
    refuse_graph(answer, ["softmax"])
    assert watch.refused is None


def test_own_operator_may_have_any_name() -> None:
    """The learner's ``torch.library`` operator is no operation of torch's."""
    with torch.library._scoped_library("kata_test", "DEF") as library:
        library.define("softmax(Tensor x) -> Tensor")
        library.impl("softmax", lambda x: x.exp() / x.exp().sum(), "CompositeExplicitAutograd")
        with NotWith(["softmax"]) as function_mode, NotWithAten(["softmax"]) as operator_mode:
            torch.ops.kata_test.softmax(learner(requires_grad=False))
    assert (function_mode.refused, operator_mode.refused) == (None, None)


def test_deep_graph_does_not_exhaust_the_stack() -> None:
    """Ten thousand operations in a row are walked in a loop."""
    answer = x = learner()
    for _ in range(10_000):
        answer = answer + x
    refuse_graph(answer, ALL)


@pytest.mark.parametrize("mode", [NotWith, NotWithAten])
def test_swallowed_refusal_is_kept_and_raised_on_leaving(mode: type[NotWith]) -> None:
    """A learner who catches everything learns of it all the same."""
    watch = mode(["softmax"])
    with pytest.raises(Red, match="softmax was called") as caught, watch:
        swallowing(lambda x: torch.softmax(x, -1), learner())
    assert watch.refused is caught.value


def test_alarm_passes_a_swallowed_refusal() -> None:
    """An error that is no Exception ends the call, whatever was refused before."""

    def alarmed(x: Tensor) -> None:
        swallowing(lambda x: torch.softmax(x, -1), x)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), NotWith(["softmax"]):
        alarmed(learner())


@pytest.mark.parametrize("run", [lambda y, _: y.backward(), torch.autograd.grad])
def test_call_in_a_backward_pass_is_refused(run: Callable[[Tensor, Tensor], Any]) -> None:
    """The mode looks into the engine, though torch takes it off for the call of ``backward``."""
    x = learner()
    with pytest.raises(Red, match="softmax was called"), NotWith(["softmax"]):
        run(SecretlyBackward.apply(x).sum(), x)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("pretended_first", [True, False])
def test_modes_work_together(pretended_first: bool) -> None:
    """On a pretended device the same is refused, in either order."""
    modes: list[Any] = [PretendedDevice(), NotWith(["softmax", "optim"])]
    outer, inner = modes if pretended_first else modes[::-1]
    with pytest.raises(Red, match=r"optim was called \(torch.optim.Adam\)"), outer, inner:
        torch.optim.Adam(with_gradient()).step()


def test_evidence_shows_the_learners_own_line() -> None:
    """The row gives file, line and code of the call, not of torch or the harness."""
    with pytest.raises(Red) as caught, NotWith(["layer_norm"]):
        nn.LayerNorm(4)(learner())
    [(label, line)] = caught.value.rows
    assert label == "line"
    assert line.startswith("tests/test_forbidden.py:")
    assert line.endswith("  nn.LayerNorm(4)(learner())")


def test_operator_mode_leaves_torchs_compiler_alone() -> None:
    """By default torch imports its compiler, for 1.8 s, at a mode's first operator."""
    script = (
        "import sys, torch; from specs.harness.forbidden import NotWithAten;"
        "mode = NotWithAten(['softmax']); mode.__enter__(); torch.ones(2) + 1;"
        "print('torch._dynamo' in sys.modules)"
    )
    printed = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert printed.strip() == "False"


@pytest.mark.parametrize(
    ("token", "family"),
    [
        ("softmin", "softmax"),
        ("F.gumbel_softmax", "softmax"),
        ("torch.distributions", "distributions"),
        ("torch.optim", "optim"),
        ("_fused_adam_", "optim"),
        ("flex_attention", "scaled_dot_product_attention"),
        ("scaled_dot_product", "scaled_dot_product_attention"),
        ("nn.MultiheadAttention", "multi_head_attention"),
        ("TransformerEncoderLayer", "transformer"),
        ("nn.LayerNorm", "layer_norm"),
        ("log_softmax", "log_softmax"),
        ("clip_grad_norm_", "clip_grad_norm_"),
        ("nn.parallel.DistributedDataParallel", "DistributedDataParallel"),
    ],
)
def test_family_is_found_by_any_of_its_names(token: str, family: str) -> None:
    """A spec may name what the lesson names."""
    assert [found.token for found in families([token])] == [family]


def test_unknown_token_is_told_with_those_that_exist() -> None:
    """A misspelled list would forbid nothing."""
    with pytest.raises(UserError, match=r"called 'sofmax': there are clip_grad_norm_, .*softmax"):
        families(["sofmax"])


@pytest.mark.parametrize(
    ("name", "known_as"),
    [
        ("aten::_softmax.int", "softmax"),
        ("_log_softmax.default", "log_softmax"),
        ("special_softmax", "softmax"),
        ("relu_", "relu"),
        ("NativeLayerNormBackward0", "native_layer_norm"),
        ("NllLossBackward0", "nll_loss"),
    ],
)
def test_name_is_the_same_from_every_layer(name: str, known_as: str) -> None:
    """Operators, methods and autograd nodes spell one name in their own ways."""
    assert plain(name) == known_as


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Three steps, of which two list something."""
    specs = tmp_path / "specs" / "part03"
    specs.mkdir(parents=True)
    (specs / "test_019_mask.py").write_text("import not_there\n")
    (specs / "test_020_weights.py").write_text('NOT_WITH = ("softmin",)  # and softmax\n')
    (specs / "test_022_attention.py").write_text('NOT_WITH = ("flex_attention", "silu")\n')
    return House(tmp_path)


@pytest.mark.parametrize(
    ("step", "tokens"),
    [
        ("19", set()),
        ("20", {"softmax"}),
        ("22", {"softmax", "scaled_dot_product_attention", "silu"}),
    ],
)
def test_list_binds_later_steps_too(house: House, step: str, tokens: set[str]) -> None:
    """Step 022 may not call softmax either; step 019 may do as it likes."""
    assert tokens_for(house.find(step), house) == tokens


def test_list_that_was_saved_again_is_read_again(house: House) -> None:
    """Watching does not keep an old list."""
    step = house.find("20")
    before = tokens_for(step, house)
    step.spec.write_text('NOT_WITH = ("relu",)\n')
    assert (before, tokens_for(step, house)) == ({"softmax"}, {"relu"})


@pytest.mark.parametrize("written", ['("sofmax",)', '("softmax")', "[1]", "tuple(names)"])
def test_list_that_says_nothing_is_told(house: House, written: str) -> None:
    """A slip in a list names the spec it stands in."""
    step = house.find("22")
    step.spec.write_text(f"NOT_WITH = {written}\n")
    with pytest.raises(UserError, match=r"^test_022_attention\.py: NOT_WITH: "):
        tokens_for(step, house)
