"""Part 15 · Training at Scale.

A real corpus has more words than a table has rows, more sentences than memory holds, and takes more
hours than one machine has. Words are cut into pieces that occur often: the pieces are learned once
(104), then every word is spelled with them (105). Sentences of like length travel together, as many
as a budget of tokens allows (106). A gradient that explodes is cut to length before it does harm
(107). A batch that is too large for memory goes through in small portions (108), or is shared out
among many machines, which then agree on one gradient (110). And in the end the last few models are
mixed into one that is better than any of them (109).

Sections 5.1, 5.2 and 6.1 of the paper tell how its authors did it, in a few words each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import compress, pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from kata.part09_adam import zero_gradients


def learn_bpe_merges(word_counts: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Find out which neighbours meet most often, glue them together, and look again.

    Each word begins as its characters; no mark stands for its end. In every round the pair of
    neighbouring symbols that occurs most often, each word counted ``word_counts[word]`` times,
    becomes one symbol wherever it stands, and is the next entry of the list returned. Where a pair
    overlaps itself it is taken from left to right: ``aaaa`` holds ``aa`` twice, ``aaa`` once. Of
    pairs that occur equally often the first in order of ``(left, right)`` is taken. The search
    ends after ``num_merges`` rounds, or earlier, when no pair occurs at least twice.

    Section 5.1 of the paper; section 3.2 of Sennrich, Haddow and Birch, "Neural Machine Translation
    of Rare Words with Subword Units", without its end-of-word mark.
    """
    spelled = {word: list(word) for word in word_counts}
    merges: list[tuple[str, str]] = []
    while len(merges) < num_merges:
        counts: Counter[tuple[str, str]] = Counter()
        for word, symbols in spelled.items():
            for pair in _pairs(symbols):
                counts[pair] += word_counts[word]
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        spelled = {word: _merge(symbols, best) for word, symbols in spelled.items()}
    return merges


def _pairs(symbols: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the neighbours in a word; in a run of one symbol, no two pairs share a symbol."""
    last = None
    for pair in pairwise(symbols):
        last = None if pair == last else pair
        if last is not None:
            yield pair


def _merge(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Make every occurrence of a pair one symbol, from left to right."""
    merged: list[str] = []
    for symbol in symbols:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def encode_with_bpe(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Spell a word with the pieces that were learned, the oldest glue first.

    The word begins as its characters. Of all neighbours that ``merges`` lists, those that stand
    first in the list become one symbol, from left to right wherever they occur; then look again,
    until no listed pair is left. A pair that is listed twice counts where it stands first.

    Joined together, the pieces are the word: what was never seen stays as single characters. The
    empty word has no pieces.

    Section 5.1 of the paper; section 3.2 of Sennrich, Haddow and Birch.
    """
    ranks: dict[tuple[str, str], int] = {}
    for rank, pair in enumerate(merges):
        ranks.setdefault(pair, rank)
    symbols = list(word)
    while known := ranks.keys() & set(pairwise(symbols)):
        symbols = _merge(symbols, min(known, key=ranks.__getitem__))
    return symbols


def batch_by_token_count(lengths: list[int], max_tokens: int) -> list[list[int]]:
    """Send sentences of like length on their way together, as many as the bus has seats.

    Padding takes a seat too: a batch needs ``rows × longest`` tokens, and may take ``max_tokens``,
    exactly that many included. Sentences line up by length, the shortest first, those of equal
    length in the order given; each batch takes the next one as long as it fits. Returns the batches
    as lists of indices into ``lengths``, every index once.

    A sentence of more than ``max_tokens`` tokens, or of less than one, raises ``ValueError`` with
    its index.

    Section 5.1 of the paper: "batched together by approximate sequence length".
    """
    for index, length in enumerate(lengths):
        if not 1 <= length <= max_tokens:
            raise ValueError(
                f"sentence {index} has {length} tokens: a batch takes 1 to {max_tokens}"
            )
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batches and (len(batches[-1]) + 1) * lengths[index] <= max_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def clip_gradients_by_global_norm(parameters: list[Tensor], max_norm: float) -> float:
    """Keep a gradient's direction and cut its length, as a leash does with a dog.

    All gradients together are one long vector. Where its norm is greater than ``max_norm``, every
    gradient is multiplied, in place, by ``max_norm / norm``; a shorter one stays as it is. The norm
    is taken in float32 or wider, over the parameters that have a gradient; without any it is 0.
    Returns the norm as it was before. Not with ``clip_grad_norm_``.

    A norm that is infinite or NaN, or a ``max_norm`` that is not above 0, raises ``ValueError``,
    and no gradient has changed.

    Not in the paper. Section 3.2 of Pascanu, Mikolov and Bengio, "On the difficulty of training
    recurrent neural networks", algorithm 1.
    """
    if not max_norm > 0:  # nor is NaN
        raise ValueError(f"max_norm is to be above 0, got {max_norm}")
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = math.hypot(*(_norm(gradient) for gradient in gradients))  # √(a² + b² + c² + …)
    if not math.isfinite(norm):
        raise ValueError(f"the norm of the gradients is {norm}: a finite one is wanted")
    if norm:
        for gradient in gradients:
            gradient.mul_(min(1.0, max_norm / norm))
    return norm


def _norm(gradient: Tensor) -> Tensor:
    """The length of one gradient, in float32 or wider."""
    wide = torch.promote_types(gradient.dtype, torch.float32)
    return torch.linalg.vector_norm(gradient, dtype=wide)


def accumulate_gradients(
    micro_batches: Iterable[Any],
    parameters: list[Tensor],
    compute_loss: Callable[[Any], tuple[Tensor, int]],
) -> tuple[float, int]:
    """Carry a load that is too heavy in one go up the stairs in several, and weigh it at the top.

    ``compute_loss(micro_batch)`` gives the *summed* loss over the tokens of a micro-batch, a
    scalar with a graph, and how many tokens these are. Afterwards each parameter's ``grad`` is, up
    to rounding, that of the mean loss over all tokens of all micro-batches, just as if they had
    been one batch. Returns that mean loss, and the number of tokens. Without a single token the
    mean is 0, not NaN.

    Works in place on the gradients: old ones are cleared first, and a parameter that nobody used
    has none. ``micro_batches`` is any iterable, gone through once, and only one graph is alive at a
    time: that is what saves the memory.

    Section 5.1 of the paper has batches of 25000 tokens: this is how they fit a small machine.
    """
    zero_gradients(parameters)
    total, tokens = 0.0, 0
    for micro_batch in micro_batches:
        loss, count = compute_loss(micro_batch)
        loss.backward()
        total += loss.item()
        tokens += count
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad /= max(tokens, 1)
    return total / max(tokens, 1), tokens


def average_checkpoints(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Ask several witnesses and take the middle: what each got wrong by chance cancels out.

    A state maps names to tensors, as ``state_dict`` gives it. Each floating-point entry of the
    result is the mean over all states, summed in float32 or wider and returned in the dtype in
    which it was stored. Other entries, counters say, are copied from the last state. Every tensor
    is new and without a graph, and the states stay as they were; but names that share one tensor in
    every state share one in the result too.

    No state at all, a state with other names or a tensor of another shape than in the first:
    ``ValueError``.

    Section 6.1 of the paper: the base model is the average of the last 5 checkpoints, the big one
    of the last 20.
    """
    if not states:
        raise ValueError("there are 0 checkpoints to average, at least 1 is wanted")
    first = states[0]
    for number, state in enumerate(states):
        if odd := first.keys() ^ state.keys():
            raise ValueError(f"checkpoints 0 and {number} do not both have {sorted(odd)}")
        for name, tensor in state.items():
            if tensor.shape != first[name].shape:
                expected, got = tuple(first[name].shape), tuple(tensor.shape)
                raise ValueError(f"{name} is {got} in checkpoint {number}, expected {expected}")
    average: dict[str, Tensor] = {}
    known: dict[tuple[object, ...], Tensor] = {}  # by where each state keeps the tensor
    for name in first:
        tensors = [state[name].detach() for state in states]
        places = tuple((tensor.data_ptr(), tensor.shape, tensor.stride()) for tensor in tensors)
        if places not in known:
            known[places] = _mean(tensors)
        average[name] = known[places]
    return average


def _mean(tensors: list[Tensor]) -> Tensor:
    """The mean of floating-point tensors; of others, a copy of the last."""
    last = tensors[-1]
    if not last.is_floating_point():
        return last.clone()
    total = torch.zeros_like(last, dtype=torch.promote_types(last.dtype, torch.float32))
    for tensor in tensors:
        total += tensor
    return (total / len(tensors)).to(last.dtype)


def average_gradients_across_workers(parameters: list[Tensor], token_count: int) -> None:
    """Let all workers agree on one gradient, and let each speak for as many tokens as it saw.

    Every worker calls this after its own backward pass, with the same parameters in the same order.
    Worker r holds gradients ``g_r`` of its mean loss over ``token_count = n_r`` tokens; afterwards
    every worker holds ``Σ n_r g_r / Σ n_r``, the gradient of the mean over all tokens of all
    workers. Each gradient is scaled before it is summed, as a sum in float16 soon overflows.

    Works in place on the gradients. One that is missing on some workers counts as zeros there; one
    that is missing on all stays ``None``. If nobody has a token, the gradients are zeros. The
    workers talk through the default process group of ``torch.distributed``: gloo for tensors on the
    CPU, nccl for those on a GPU. A worker that has died is torch's own error, at the latest when
    the ``timeout`` given to ``init_process_group`` is over. Not with ``DistributedDataParallel``.

    Without a process group: ``RuntimeError`` that names ``torchrun``.

    Section 5.2 of the paper, whose models were trained on 8 GPUs.
    """
    if not dist.is_initialized():
        raise RuntimeError(
            "there is no process group: start the workers with torchrun, "
            "and let each of them call torch.distributed.init_process_group"
        )
    held = [parameter.grad is not None for parameter in parameters]
    facts = parameters[0].new_tensor([token_count, *held], dtype=torch.int64)
    dist.all_reduce(facts)
    all_tokens, *holders = facts.tolist()
    for parameter in compress(parameters, holders):  # those that anybody has a gradient of
        own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        share = (own * (token_count / max(all_tokens, 1))).contiguous()
        dist.all_reduce(share)
        parameter.grad = share
