"""What the capstone is built of: number words, corpora, batches, one line of progress."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reference.tests.laws import HOUSE
from specs.capstone.corpus import batches_of_like_lengths, read_corpus, words
from specs.capstone.number_words import in_english, in_german
from specs.harness.capstone import ranges, require_finished
from specs.harness.exam import reference_world
from specs.harness.steps import UserError


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (16, "sixteen", "sechzehn"),
        (21, "twenty one", "ein und zwanzig"),
        (40, "forty", "vierzig"),
        (101, "one hundred one", "ein hundert eins"),
        (612, "six hundred twelve", "sechs hundert zwölf"),
        (1000, "one thousand", "ein tausend"),
        (
            9876,
            "nine thousand eight hundred seventy six",
            "neun tausend acht hundert sechs und siebzig",
        ),
        (21001, "twenty one thousand one", "ein und zwanzig tausend eins"),
    ],
)
def test_numbers_are_said_in_two_languages(number: int, english: str, german: str) -> None:
    """German says the ones before the tens, and `eins` loses its s before another word."""
    assert " ".join(in_english(number)) == english
    assert " ".join(in_german(number)) == german


def test_no_two_numbers_sound_alike() -> None:
    """Every number has its own words in either language."""
    numbers = range(10_000)
    assert len({tuple(in_english(number)) for number in numbers}) == len(numbers)
    assert len({tuple(in_german(number)) for number in numbers}) == len(numbers)


def test_stub_in_the_kata_is_told(tmp_path: Path) -> None:
    """A kata without files lacks every step of the model, in one line."""
    last = max(step.number for step in HOUSE.steps if step.part <= "part11")
    with pytest.raises(UserError) as told:
        require_finished(HOUSE, tmp_path)
    assert f"{last} of {last} are missing: 001–{last:03d}" in str(told.value)
    assert "\n" not in str(told.value)


def test_finished_kata_is_let_in() -> None:
    """The reference holds no stub."""
    require_finished(HOUSE, HOUSE.reference)


def test_runs_of_numbers_are_drawn_together() -> None:
    """Neighbours become a range, a number alone stays alone."""
    assert ranges([1, 2, 3, 7, 9, 10]) == "001–003, 007, 009–010"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with a tiny corpus, partly gzipped."""
    for part in ("train", "val", "test_2016"):
        with gzip.open(tmp_path / f"{part}.de.gz", "wt", encoding="utf-8") as file:
            file.write("Ein Hund läuft.\nZwei Hunde!\n")
        (tmp_path / f"{part}.en").write_text("A dog runs.\nTwo dogs!\n", "utf-8")
    return tmp_path


def test_corpus_is_read_plain_and_gzipped(corpus: Path) -> None:
    """It translates into English, and takes sentences apart into words and signs."""
    found = read_corpus(corpus)
    assert (found.source, found.target) == ("de", "en")
    assert found.train[0] == (["ein", "hund", "läuft", "."], ["a", "dog", "runs", "."])
    assert found.test_targets == ["A dog runs.", "Two dogs!"]
    assert words("It's 2.") == ["it", "'", "s", "2", "."]


def test_missing_corpus_is_one_line(corpus: Path) -> None:
    """A folder that is missing, holds one language or lacks a part is told, with what is wanted."""
    with pytest.raises(UserError, match="there is no such folder"):
        read_corpus(corpus / "nowhere")
    (corpus / "val.en").unlink()
    with pytest.raises(UserError, match=r"no file val\*\.en or val\*\.en\.gz"):
        read_corpus(corpus)
    (corpus / "train.en").unlink()
    with pytest.raises(UserError, match=r"two languages are wanted, found de"):
        read_corpus(corpus)


def test_lines_must_pair_up(corpus: Path) -> None:
    """A translation with a line too few is told with both counts."""
    (corpus / "train.en").write_text("A dog runs.\n", "utf-8")
    with pytest.raises(UserError, match="train has 2 lines in de and 1 in en"):
        read_corpus(corpus)


def test_batches_hold_like_lengths_within_the_budget() -> None:
    """Rows times the longest, end token included, stay within the budget; nothing is lost."""
    pairs = [(["a"] * (1 + n % 7), ["b"] * (1 + n % 5)) for n in range(100)]
    batches = batches_of_like_lengths(pairs, tokens=40, seed=0)
    assert sorted(pair for batch in batches for pair in batch) == sorted(pairs)
    for batch in batches:
        longest = max(max(len(source), len(target) + 1) for source, target in batch)
        assert len(batch) * longest <= 40
    assert batches != batches_of_like_lengths(pairs, tokens=40, seed=1)


def test_progress_line_says_what_is_left() -> None:
    """Ten of forty steps in five seconds leave fifteen; 500 tokens in them are 100 a second."""
    with reference_world(HOUSE, HOUSE.steps[0]).entered():
        from kata.weights import StepRecord
        from specs.capstone.progress_line import ProgressLine

        line = ProgressLine("copy")
        line.tokens = 500
        record = StepRecord(step=10, loss=0.5, accuracy=0.75, learning_rate=0.001, tokens=50)
        told = line.told(record, 40, line.started + 5.0)
    assert told == (
        "copy  step 10/40  loss 0.500  accuracy 0.750  rate 0.00100  100 tokens/s  15 s left"
    )
