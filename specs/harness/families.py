"""The *not with* lists: which of torch's functions do the job that a step is there to build.

A spec names a family in ``NOT_WITH = ("softmax",)``; a family is the function, its spellings and
its relatives. Nothing here imports torch: steps without tensors ask too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specs.harness.steps import House, Step, UserError

NEVER = r"(?!)"


@dataclass(frozen=True)
class Family:
    """One job of torch's, and how to know a call that does it.

    ``calls`` matches the plain name of a function, operator or autograd node. ``within`` matches
    ``module.function`` of torch's own Python code, for jobs that are no single operation.
    ``relatives`` are other families that do this job too.
    """

    token: str
    calls: str = NEVER
    within: str = NEVER
    relatives: tuple[str, ...] = ()


# Where two families claim a call, the first gets it: relatives of a family stand before it.
FAMILIES = (
    Family(
        "transformer",
        r"transformer\w*",
        # Its mask helper is no layer.
        within=r"torch\.nn\.modules\.transformer\.\w+\.(forward|_\w+_block)",
    ),
    Family(
        "multi_head_attention",
        r"\w*multi_?head_attention\w*|transform_bias_rescale_qkv",
        relatives=("transformer",),
    ),
    Family(
        "scaled_dot_product_attention",
        r"\w*scaled_dot\w*|(flash|efficient|cudnn|flex)_attention\w*|varlen_attn\w*",
        within=r"torch\.nn\.attention\..*",
        relatives=("multi_head_attention",),
    ),
    Family("cross_entropy", r"(linear_)?cross_entropy(_loss)?"),
    Family("log_softmax", r"\w*log_softmax\w*", relatives=("cross_entropy",)),
    Family(
        "softmax",
        r"\w*soft(max|min)\w*",
        relatives=("scaled_dot_product_attention", "cross_entropy"),
    ),
    Family("logsumexp", r"log(cum)?sumexp\w*", relatives=("cross_entropy",)),
    Family("nll_loss", r"nll_loss\w*", relatives=("cross_entropy",)),
    Family("kl_div", r"kl_div"),
    Family("embedding", r"(?!cosine_|hinge_)\w*embedding\w*"),  # those two are losses
    # Not bilinear or upsample_linear; addmm and matmul are what a projection is built from.
    Family(
        "linear",
        r"(mkldnn_|fbgemm_|mixed_dtypes_|sparse_semi_structured_)?linear(_(?!cross)\w+)?",
    ),
    Family("relu", r"\w*relu\w*|threshold\w*|hardtanh\w*|c?elu(_backward)?|addmm_activation"),
    Family("silu", r"silu\w*"),
    Family("rms_norm", r"\w*rms_norm\w*"),
    Family("layer_norm", r"\w*(layer|group|batch|instance)_norm\w*", relatives=("rms_norm",)),
    Family("dropout", r"\w*dropout\w*"),
    Family("repeat_interleave", r"repeat_interleave\w*"),
    Family("distributions", within=r"torch\.distributions\..*"),
    Family(
        "optim",
        r"fused_(adam|adamw|sgd|adagrad)",
        within=r"torch\.(optim|distributed\.optim)\..*",
    ),
    Family("clip_grad_norm_", within=r"torch\.nn\.utils\.clip_grad\..*"),
    Family(
        "DistributedDataParallel",
        within=r"torch\.(nn\.parallel|distributed\.(fsdp|_composable|algorithms))\..*",
    ),
)


def families(tokens: Iterable[str]) -> tuple[Family, ...]:
    """The families that tokens name, by their own name or by a call of theirs (``softmin``)."""
    wanted = {_family(token) for token in tokens}
    return tuple(family for family in FAMILIES if family in wanted)


def _family(token: str) -> Family:
    name = token.rpartition(".")[2]  # "torch.optim" and "F.relu" are meant as they read
    named = [family for family in FAMILIES if family.token == name]
    meant = named or [family for family in FAMILIES if re.fullmatch(family.calls, plain(name))]
    if meant:
        return meant[0]
    known = ", ".join(sorted((family.token for family in FAMILIES), key=str.lower))
    raise UserError(f"no family of torch's functions is called {token!r}: there are {known}")


def relatives(family: Family) -> tuple[Family, ...]:
    """The families that do this one's job too, and theirs in turn."""
    near = families(family.relatives)
    return (*near, *(far for one in near for far in relatives(one)))


def tokens_for(step: Step, house: House) -> frozenset[str]:
    """The families that ``step`` must do without: its own list and those of all earlier steps."""
    found: set[str] = set()
    for earlier in house.steps:
        if earlier.number <= step.number:
            found |= _not_with(earlier.spec, earlier.spec.stat().st_mtime_ns)
    return frozenset(found)


@cache
def _not_with(spec: Path, _saved: int) -> frozenset[str]:
    """The tokens that one spec lists, read without importing it; read again once it was saved."""
    source = spec.read_text("utf-8")
    if "NOT_WITH" not in source:
        return frozenset()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and "NOT_WITH" in map(ast.unparse, node.targets):
            try:
                return frozenset(family.token for family in families(_literal(node.value)))
            except (UserError, ValueError) as error:
                raise UserError(f"{spec.name}: NOT_WITH: {error}") from None
    return frozenset()


def _literal(node: ast.expr) -> tuple[str, ...]:
    value = ast.literal_eval(node)
    if isinstance(value, tuple) and all(isinstance(token, str) for token in value):
        return value
    raise ValueError(f'a tuple of names is wanted, such as ("softmax",), not {value!r}')


def plain(name: str) -> str:
    """A call's name as families know it, whichever of torch's layers it comes from.

    >>> [plain(name) for name in ("aten::_softmax.int", "relu_", "LogSoftmaxBackward0")]
    ['softmax', 'relu', 'log_softmax']
    """
    name = re.sub(r"Backward\d*$", "", name.rpartition("::")[2].partition(".")[0])
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").removeprefix("special_")
