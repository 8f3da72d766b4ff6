"""105 · encode_with_bpe. Lesson: 105_encode_with_bpe.md."""

import random
from itertools import pairwise

import pytest

from kata.part15_scaling_up import encode_with_bpe
from specs.harness.check import assert_equal

MERGES = [("a", "t"), ("c", "at"), ("h", "at")]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("cat", ["cat"]),
        ("chat", ["c", "hat"]),
        ("that", ["t", "hat"]),
        ("catch", ["cat", "c", "h"]),
        ("tack", ["t", "a", "c", "k"]),
    ],
)
def test_words_by_hand(word, pieces):
    """a·t first, then c·at or h·at; what no pair takes stays a single character."""
    assert_equal(encode_with_bpe(word, MERGES), pieces)


def test_pair_listed_first_is_glued_first():
    """In hug, u·g stands before h·u in the list: h·ug, which is listed too. From the left: hu·g."""
    merges = [("u", "g"), ("h", "u"), ("h", "ug")]
    assert_equal(encode_with_bpe("hug", merges), expected=["hug"])


@pytest.mark.parametrize(
    ("word", "merges", "pieces"),
    [
        ("abc", [("b", "c"), ("a", "b")], ["a", "bc"]),
        ("cdabcd", [("c", "d"), ("a", "b"), ("b", "cd")], ["cd", "ab", "cd"]),
    ],
)
def test_longest_piece_does_not_come_first(word, merges, pieces):
    """b·c is older than a·b: a·bc, though ab is longer than a. a·b is older than b·cd: ab·cd."""
    assert_equal(encode_with_bpe(word, merges), pieces)


def test_list_is_searched_again_from_its_top():
    """a·b makes an ab, and only now ab·c, which stands above it, is there to be glued."""
    merges = [("ab", "c"), ("a", "b")]
    assert_equal(encode_with_bpe("abc", merges), expected=["abc"])


def test_every_occurrence_is_glued():
    """x·ab is not listed, so three ab stand alone."""
    assert_equal(encode_with_bpe("abxabab", [("a", "b")]), expected=["ab", "x", "ab", "ab"])


def test_all_occurrences_come_before_the_next_look():
    """abab: both a·b at once. After one alone, ab·a would be on top of the list."""
    merges = [("ab", "a"), ("a", "b")]
    assert_equal(encode_with_bpe("abab", merges), expected=["ab", "ab"])


@pytest.mark.parametrize(
    ("run", "pieces"),
    [("aaa", ["aa", "a"]), ("aaaa", ["aa", "aa"]), ("aaaaa", ["aa", "aa", "a"])],
)
def test_run_is_glued_from_left_to_right(run, pieces):
    """No character is in two pieces."""
    assert_equal(encode_with_bpe(run, [("a", "a")]), pieces)


def test_glue_holds_whole_symbols_only():
    """b·a first: in ba·t no a stands alone. a·t is left at the end only."""
    merges = [("b", "a"), ("a", "t")]
    assert_equal(encode_with_bpe("batat", merges), expected=["ba", "t", "at"])


def test_pair_is_more_than_its_text():
    """b·c first. a·bc is not listed, though ab·c, which is, would make the same text."""
    merges = [("b", "c"), ("ab", "c")]
    assert_equal(encode_with_bpe("abc", merges), expected=["a", "bc"])


def test_pair_listed_twice_counts_where_it_stands_first():
    """a·b before b·c, though it comes again after it."""
    merges = [("a", "b"), ("b", "c"), ("a", "b")]
    assert_equal(encode_with_bpe("abc", merges), expected=["ab", "c"])


@pytest.mark.parametrize("word", ["ñañdú", "a t", " Ab ", "t…?", "x"])
def test_unseen_characters_stand_alone(word):
    """Nothing is lost, blanks neither, and nothing becomes an unknown token."""
    assert_equal(encode_with_bpe(word, MERGES), expected=list(word))


def test_empty_word_has_no_pieces():
    """No characters, no pieces."""
    assert_equal(encode_with_bpe("", MERGES), expected=[])


def test_without_merges_a_word_is_its_characters():
    """Nothing was learned."""
    assert_equal(encode_with_bpe("cat", []), expected=["c", "a", "t"])


def glued_by_hand(word, merges):
    """The same with indices, one symbol at a time."""
    symbols = list(word)
    while True:
        there = [merges.index(pair) for pair in pairwise(symbols) if pair in merges]
        if not there:
            return symbols
        left, right = merges[min(there)]
        place = 0
        while place + 1 < len(symbols):
            if symbols[place] == left and symbols[place + 1] == right:
                symbols[place : place + 2] = [left + right]
            place += 1


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_drawn_words_agree_with_plain_loops(seed):
    """Merges that build on each other, and words of twelve letters out of three."""
    dice = random.Random(seed)
    pieces, merges = list("abc"), []
    for _ in range(8):
        pair = (dice.choice(pieces), dice.choice(pieces))
        merges.append(pair)
        pieces.append("".join(pair))
    dice.shuffle(merges)
    word = "".join(dice.choices("abc", k=12))
    assert_equal(encode_with_bpe(word, merges), expected=glued_by_hand(word, merges))
