"""A picture of the cross-attention: which English word each German word looks at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from specs.capstone.apprentice import Apprentice, greedy

EXAMPLE = ["three", "thousand", "six", "hundred", "eighty", "seven"]
STEP = "assemble_multi_head_attention_forward"


def draw_cross_attention(pupil: Apprentice, folder: Path) -> str:
    """Draw the example's attention into the folder, and say where; or why there is no picture."""
    try:
        from matplotlib import pyplot
    except ImportError:
        return "no picture: `pip install '.[plot]'` brings what it is drawn with"
    answer = pupil.says([EXAMPLE], greedy)[0]
    weights = cross_attention(pupil, EXAMPLE, answer)
    if weights is None:
        return f"no picture: your decoder does not call {STEP}"
    figure, axes = pyplot.subplots(figsize=(6, 5), layout="constrained")
    image = axes.imshow(weights.tolist(), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(EXAMPLE)), EXAMPLE, rotation=45, ha="right")
    axes.set_yticks(range(len(answer) + 1), [*answer, "</s>"])
    axes.set_xlabel("English word looked at")
    axes.set_ylabel("German word to be said")
    axes.set_title("Cross-attention of the last layer")
    figure.colorbar(image, label="share of attention")
    path = folder / "cross_attention.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return f"cross-attention of {' '.join(EXAMPLE)!r}: {path}"


def cross_attention(pupil: Apprentice, source: list[str], answer: list[str]) -> Tensor | None:
    """The last cross-attention's weights, averaged over heads: a row a German word."""
    from kata.part06_transformer import run_transformer_forward
    from kata.part08_objective import shift_targets_right_with_start_token

    source_ids, target_ids = pupil.task.packed([(source, answer)])
    with recorded() as seen, torch.no_grad():
        heard = shift_targets_right_with_start_token(target_ids, pupil.config.start_id)
        run_transformer_forward(source_ids, heard, pupil.weights, pupil.config)
    shape = (target_ids.shape[1], source_ids.shape[1])
    crossed = [weights for crossing, weights in seen if crossing and weights.shape[-2:] == shape]
    return crossed[-1][0].mean(dim=0) if crossed else None


@contextmanager
def recorded() -> Iterator[list[tuple[bool, Tensor]]]:
    """Note the weights of every call of multi-head attention, and whether it looks across."""
    module = sys.modules["kata.part06_transformer"]
    function = getattr(module, STEP, None)
    seen: list[tuple[bool, Tensor]] = []

    def noted(x: Tensor, memory: Tensor, *args: object, **kwargs: object) -> tuple[Tensor, Tensor]:
        output, weights = function(x, memory, *args, **kwargs)
        seen.append((memory is not x, weights))
        return output, weights

    if function is not None:
        setattr(module, STEP, noted)
    try:
        yield seen
    finally:
        if function is not None:
            setattr(module, STEP, function)
