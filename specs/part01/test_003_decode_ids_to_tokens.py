"""003 · decode_ids_to_tokens. Lesson: 003_decode_ids_to_tokens.md."""

import random
import sys
from functools import total_ordering

import pytest

from kata.part01_tokens import decode_ids_to_tokens
from specs.harness.check import assert_equal, rejects

VOCABULARY = {"<pad>": 0, "<s>": 1, "</s>": 2, "cat": 3, "sat": 4}


@total_ordering
class Element:
    """One number out of a tensor: it compares as an int does, but a dict does not find it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self.number == other

    def __lt__(self, other: int) -> bool:
        return self.number < other

    def __repr__(self) -> str:
        return f"tensor({self.number})"

    def __format__(self, spec: str) -> str:
        return format(self.number, spec)

    __hash__ = object.__hash__  # as for tensors: every element is a key of its own
    item = __index__


class Vector:
    """What this spec needs of a 1-D tensor, without the two seconds that loading torch takes."""

    def __init__(self, numbers: list[int]) -> None:
        self.tolist = numbers.copy

    def __len__(self) -> int:
        return len(self.tolist())

    def __getitem__(self, place: int) -> Element:
        return Element(self.tolist()[place])


def one_dimensional(ids: list[int]) -> object:
    """Make a real 1-D tensor if torch is loaded already, a stand-in otherwise."""
    return sys.modules["torch"].tensor(ids) if "torch" in sys.modules else Vector(ids)


def test_sentence_by_hand():
    """3 is cat and 4 is sat, one word for each id, in the order of the ids."""
    assert_equal(decode_ids_to_tokens([4, 3, 4], VOCABULARY), expected=["sat", "cat", "sat"])


def test_ids_count_and_not_the_order_of_the_vocabulary():
    """sat is written first but listed under 1."""
    assert_equal(decode_ids_to_tokens([0, 1], {"sat": 1, "cat": 0}), expected=["cat", "sat"])


@pytest.mark.parametrize(("ids", "words"), [([3, 2, 4, 2], ["cat"]), ([2, 4], [])], ids=str)
def test_reading_stops_before_the_first_end(ids, words):
    """Of cat </s> sat </s>, cat is left; of </s> sat, nothing."""
    assert_equal(decode_ids_to_tokens(ids, VOCABULARY, end_id=2), expected=words)


def test_what_follows_the_end_is_not_looked_at():
    """99 and -5 are no ids, but they stand behind the end."""
    assert_equal(decode_ids_to_tokens([3, 2, 99, -5], VOCABULARY, end_id=2), expected=["cat"])


@pytest.mark.parametrize("end_id", [0, -1])
def test_end_may_be_any_id(end_id):
    """0 is falsy for Python, and -1 names no token, but each of them ends the sentence."""
    ids = decode_ids_to_tokens([3, end_id, 4], VOCABULARY, end_id=end_id)
    assert_equal(ids, expected=["cat"])


def test_end_ends_even_if_it_is_to_be_skipped():
    """2 is both: reading stops there, so sat is not read."""
    tokens = decode_ids_to_tokens([3, 2, 4], VOCABULARY, end_id=2, skip_ids=(2,))
    assert_equal(tokens, expected=["cat"])


def test_without_an_end_id_everything_is_read():
    """</s> is a token like any other."""
    tokens = decode_ids_to_tokens([1, 3, 2, 4, 0], VOCABULARY)
    assert_equal(tokens, expected=["<s>", "cat", "</s>", "sat", "<pad>"])


@pytest.mark.parametrize("skip_ids", [(1, 0), [0, 1], {0, 1}], ids=["tuple", "list", "set"])
def test_skipped_ids_leave_no_token(skip_ids):
    """Of <s> cat <pad> sat <pad>, the two words are left."""
    tokens = decode_ids_to_tokens([1, 3, 0, 4, 0], VOCABULARY, skip_ids=skip_ids)
    assert_equal(tokens, expected=["cat", "sat"])


def test_skipped_ids_need_not_be_in_the_vocabulary():
    """-100 and 99 name no token, and need none."""
    tokens = decode_ids_to_tokens([-100, 3, 99, 4], VOCABULARY, skip_ids=(-100, 99))
    assert_equal(tokens, expected=["cat", "sat"])


@pytest.mark.parametrize("outside", [5, -1, -100])
def test_id_that_names_no_token_is_rejected(outside):
    """The ids are 0 to 4; -1 is not the last of them."""
    with rejects(IndexError, naming=outside):
        decode_ids_to_tokens([3, outside, 2], VOCABULARY, end_id=2)


def test_tensor_is_read_like_a_list():
    """<s> is skipped, sat is 4, cat is 3, and </s> ends."""
    ids = one_dimensional([1, 4, 3, 2, 3])
    tokens = decode_ids_to_tokens(ids, VOCABULARY, end_id=2, skip_ids=(1,))
    assert_equal(tokens, expected=["sat", "cat"])


def test_no_ids_give_no_tokens():
    """An empty sentence is an empty list."""
    assert_equal(decode_ids_to_tokens([], VOCABULARY, end_id=2), expected=[])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_drawn_words_come_back(seed):
    """Words written down by their places in a shuffled list are read back as the words."""
    rng = random.Random(seed)
    listed = rng.sample("abcdefgh", k=8)
    words = rng.choices(listed, k=12)
    vocabulary = {word: listed.index(word) for word in "abcdefgh"}
    places = tuple(listed.index(word) for word in words)
    assert_equal(decode_ids_to_tokens(places, vocabulary), expected=words)
