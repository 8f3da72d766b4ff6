"""001 · build_vocabulary. Lesson: 001_build_vocabulary.md."""

import random

import pytest

from kata.part01_tokens import build_vocabulary
from specs.harness.check import assert_equal, rejects

SENTENCES = [["the", "cat", "saw", "the", "dog"], ["a", "dog", "saw", "the", "end"]]
SPECIAL = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3}


def drawn_sentences(seed: int) -> list[list[str]]:
    """Draw six sentences from fifteen words: many words are equally frequent, some occur once."""
    rng = random.Random(seed)
    words = [first + second for first in "bZaé<" for second in "yX"] + list("pqrst")
    return [rng.choices(words, k=rng.randint(0, 6)) for _ in range(6)]


def test_two_sentences_by_hand():
    """the: 3, dog and saw: 2, a, cat and end: 1; they follow the four special tokens."""
    words = {"the": 4, "dog": 5, "saw": 6, "a": 7, "cat": 8, "end": 9}
    assert_equal(build_vocabulary(SENTENCES), expected=SPECIAL | words)


def test_equally_frequent_words_stand_in_code_point_order():
    """Each word occurs once: Z is code point 90, a 97, z 122 and é 233."""
    sentence = ["été", "zoo", "pear", "apple", "Zoo", "fig", "plum", "kiwi"]
    ids = build_vocabulary([sentence], special_tokens=())
    in_order = ["Zoo", "apple", "fig", "kiwi", "pear", "plum", "zoo", "été"]
    assert_equal(sorted(ids, key=ids.get), expected=in_order)


def test_word_as_frequent_as_asked_is_kept():
    """dog and saw occur exactly twice and stay; a, cat and end occur once and go."""
    ids = build_vocabulary(SENTENCES, min_frequency=2)
    assert_equal(ids, expected=SPECIAL | {"the": 4, "dog": 5, "saw": 6})


def test_every_occurrence_counts():
    """b: 3 times in one sentence, against a: once in each of two sentences."""
    ids = build_vocabulary([["b", "b", "b", "a"], ["a"]])
    assert_equal(ids, expected=SPECIAL | {"b": 4, "a": 5})


def test_special_token_in_the_corpus_keeps_its_one_id():
    """<pad> is 0 although it is the most frequent word, and cat is 4 without a gap."""
    ids = build_vocabulary([["<pad>", "cat", "<pad>"]])
    assert_equal(ids, expected=SPECIAL | {"cat": 4})


def test_special_tokens_stay_in_the_order_given():
    """end is a special token here: first because it is given first."""
    ids = build_vocabulary([["cat", "cat", "<s>"]], special_tokens=["end", "<s>", "<>"])
    assert_equal(ids, expected={"end": 0, "<s>": 1, "<>": 2, "cat": 3})


def test_special_token_need_not_be_frequent():
    """<unk> occurs once, where twice is asked for: it has its place all the same."""
    ids = build_vocabulary([["<unk>", "cat", "cat"]], min_frequency=2)
    assert_equal(ids, expected=SPECIAL | {"cat": 4})


def test_word_is_kept_as_it_is_written():
    """Capitals, blanks, digits, an accent of its own, nothing at all: seven different words."""
    words = ["the", "The", "e\u0301t", "New York", "42", " ", ""]
    in_order = ["", " ", "42", "New York", "The", "e\u0301t", "the"]
    ids = build_vocabulary([words], special_tokens=())
    assert_equal(sorted(ids, key=ids.get), expected=in_order)


def test_sentences_are_read_once():
    """An iterator is empty when it is read again."""
    once = iter([("cat", "cat"), ("dog",)])
    assert_equal(build_vocabulary(once), expected=SPECIAL | {"cat": 4, "dog": 5})


@pytest.mark.parametrize("sentences", [[], [[], []]], ids=["no sentence", "empty sentences"])
def test_without_words_the_special_tokens_remain(sentences):
    """Nothing to count leaves the four."""
    assert_equal(build_vocabulary(sentences), expected=SPECIAL)


@pytest.mark.parametrize("min_frequency", [0, -7])
def test_frequency_below_one_is_rejected(min_frequency):
    """Every word of a corpus occurs at least once."""
    with rejects(ValueError, naming=min_frequency):
        build_vocabulary(SENTENCES, min_frequency=min_frequency)


def test_special_token_given_twice_is_rejected():
    """<s> cannot have two ids."""
    with rejects(ValueError, naming="<s>"):
        build_vocabulary(SENTENCES, special_tokens=("<s>", "<pad>", "<s>"))


@pytest.mark.parametrize("min_frequency", [1, 2, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_drawn_words_rank_as_a_stable_sort_ranks_them(seed, min_frequency):
    """Sort by code point, then by count: a stable sort leaves equal counts in code-point order."""
    sentences = drawn_sentences(seed)
    words = [word for sentence in sentences for word in sentence]
    ranked = sorted(sorted(set(words)), key=words.count, reverse=True)
    kept = [word for word in ranked if words.count(word) >= min_frequency]
    ids = build_vocabulary(sentences, min_frequency, special_tokens=("<0>",))
    assert_equal(ids, expected=dict(zip(["<0>", *kept], range(1 + len(kept)), strict=True)))
