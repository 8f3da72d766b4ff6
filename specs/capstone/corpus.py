"""Sentence pairs from a folder: `train`, `val` and test files in two languages."""

from __future__ import annotations

import gzip
import random
import re
from dataclasses import dataclass
from pathlib import Path

from specs.harness.steps import UserError

WORD = re.compile(r"\w+|[^\w\s]")
Pair = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Corpus:
    """A parallel corpus: to train on, to choose the best weights by, and to test at last."""

    source: str  # the language translated from: "de"
    target: str
    train: list[Pair]
    val: list[Pair]
    test: list[Pair]
    test_targets: list[str]  # as they were written, for BLEU
    val_targets: list[str]


def read_corpus(folder: Path) -> Corpus:
    """Read a folder, or say in one line what is missing there."""
    if not folder.is_dir():
        raise UserError(f"--corpus {folder}: there is no such folder")
    languages = sorted({_language(path) for path in folder.iterdir() if _is_text(path, "train")})
    if len(languages) != 2:
        found = ", ".join(languages) or "none"
        raise UserError(
            f"--corpus {folder}: train.xx and train.yy, two languages are wanted, found {found}"
        )
    # Into English, if it is there.
    source, target = languages if languages[1] == "en" else languages[::-1]
    texts = {
        part: [_lines(folder, part, language) for language in (source, target)]
        for part in ("train", "val", "test")
    }
    for part, (sources, targets) in texts.items():
        if len(sources) != len(targets):
            raise UserError(
                f"--corpus {folder}: {part} has {len(sources)} lines in {source}"
                f" and {len(targets)} in {target}"
            )
    pairs = {part: _pairs(*both) for part, both in texts.items()}
    return Corpus(
        source, target, **pairs, test_targets=texts["test"][1], val_targets=texts["val"][1]
    )


def words(line: str) -> list[str]:
    """Take a sentence apart: lower-case words, and signs on their own."""
    return WORD.findall(line.lower())


def _pairs(sources: list[str], targets: list[str]) -> list[Pair]:
    return [(words(a), words(b)) for a, b in zip(sources, targets, strict=True)]


def _is_text(path: Path, part: str) -> bool:
    return path.name.startswith(part) and _language(path) != ""


def _language(path: Path) -> str:
    match = re.search(r"\.([a-z]{2})(?:\.gz)?$", path.name)
    return match[1] if match else ""


def _lines(folder: Path, part: str, language: str) -> list[str]:
    found = sorted(p for p in folder.iterdir() if _is_text(p, part) and _language(p) == language)
    if not found:
        raise UserError(f"--corpus {folder}: no file {part}*.{language} or {part}*.{language}.gz")
    opened = gzip.open if found[0].suffix == ".gz" else open
    with opened(found[0], "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def batches_of_like_lengths(pairs: list[Pair], tokens: int, seed: int) -> list[list[Pair]]:
    """Put sentences of like lengths together while rows times the longest fits the budget."""
    drawn = random.Random(seed)
    order = sorted(pairs, key=lambda pair: (len(pair[0]), len(pair[1]), drawn.random()))
    batches: list[list[Pair]] = [[]]
    longest = 0
    for pair in order:
        longest = max(longest, len(pair[0]), len(pair[1]) + 1)
        if batches[-1] and (len(batches[-1]) + 1) * longest > tokens:
            batches.append([])
            longest = max(len(pair[0]), len(pair[1]) + 1)
        batches[-1].append(pair)
    drawn.shuffle(batches)
    return batches
