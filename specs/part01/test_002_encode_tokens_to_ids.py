"""002 · encode_tokens_to_ids. Lesson: 002_encode_tokens_to_ids.md."""

import random

import pytest

from kata.part01_tokens import encode_tokens_to_ids
from specs.harness.check import assert_equal, rejects

VOCABULARY = {"<pad>": 0, "<unk>": 1, "cat": 2, "sat": 3}
NO_STRANGERS = {"cat": 0, "sat": 1}


def test_known_words_by_hand():
    """cat is 2 and sat is 3, one id for each word, in the order of the words."""
    assert_equal(encode_tokens_to_ids(["sat", "cat", "sat"], VOCABULARY), expected=[3, 2, 3])


def test_unseen_word_gets_the_unknown_id():
    """zebra is not listed, so it becomes <unk>, 1: not 0, which is padding, and not nothing."""
    assert_equal(encode_tokens_to_ids(["cat", "zebra"], VOCABULARY), expected=[2, 1])


def test_zero_is_an_id_like_any_other():
    """<pad> is listed under 0: falsy for Python, but known."""
    assert_equal(encode_tokens_to_ids(["<pad>", "cat"], VOCABULARY), expected=[0, 2])


def test_unknown_token_may_have_id_zero():
    """With <unk> under 0, zebra is 0."""
    assert_equal(encode_tokens_to_ids(["zebra", "cat"], {"<unk>": 0, "cat": 1}), expected=[0, 1])


def test_unknown_token_is_the_one_named():
    """?, listed under 5, stands for strangers here, and <unk> is a word like any other."""
    vocabulary = VOCABULARY | {"?": 5}
    ids = encode_tokens_to_ids(["zebra", "<unk>"], vocabulary, unknown_token="?")
    assert_equal(ids, expected=[5, 1])


def test_words_are_looked_up_as_they_are_written():
    """Cat is not cat, nor is cat with a blank before it, and one token is one word."""
    ids = encode_tokens_to_ids(["Cat", " cat", "sat cat", "cat"], VOCABULARY)
    assert_equal(ids, expected=[1, 1, 1, 2])


def test_nothing_is_put_around_the_sentence():
    """The vocabulary has a start and an end, but a sentence of one word has one id."""
    ids = encode_tokens_to_ids(["cat"], {"<s>": 0, "</s>": 1, "cat": 2, "<unk>": 3})
    assert_equal(ids, expected=[2])


def test_known_words_need_no_unknown_token():
    """Without <unk> in the vocabulary, listed words have their ids all the same."""
    assert_equal(encode_tokens_to_ids(["sat", "cat"], NO_STRANGERS), expected=[1, 0])


def test_unseen_word_without_an_unknown_token_is_rejected():
    """Nothing can stand in for zebra."""
    with rejects(KeyError, naming="zebra"):
        encode_tokens_to_ids(["cat", "zebra"], NO_STRANGERS)


@pytest.mark.parametrize("vocabulary", [VOCABULARY, NO_STRANGERS], ids=["with <unk>", "without"])
def test_no_words_give_no_ids(vocabulary):
    """An empty sentence is an empty list."""
    assert_equal(encode_tokens_to_ids([], vocabulary), expected=[])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_drawn_sentence_is_found_place_by_place(seed):
    """The words' ids are their places in a shuffled list, so the place says the id."""
    rng = random.Random(seed)
    listed = rng.sample(["<unk>", *"abcdefgh"], k=9)
    sentence = tuple(rng.choices("abcdefghXYZ", k=12))
    ids = encode_tokens_to_ids(sentence, {word: place for place, word in enumerate(listed)})
    places = [listed.index(word if word in listed else "<unk>") for word in sentence]
    assert_equal(ids, expected=places)
