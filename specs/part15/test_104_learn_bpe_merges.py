"""104 · learn_bpe_merges. Lesson: 104_learn_bpe_merges.md."""

import random
import re
from itertools import pairwise

import pytest

from kata.part15_scaling_up import learn_bpe_merges
from specs.harness.check import assert_equal

WORDS = {"cat": 3, "hat": 2, "chat": 1}


def test_three_rounds_by_hand():
    """a·t: 6 times. Then c·at: 3, h·at: 3 (hat twice, chat once). At last c·hat, once only."""
    assert_equal(learn_bpe_merges(WORDS, 10), expected=[("a", "t"), ("c", "at"), ("h", "at")])


@pytest.mark.parametrize("num_merges", [0, 1, 2])
def test_no_more_rounds_than_asked_for(num_merges):
    """The first of the three above."""
    expected = [("a", "t"), ("c", "at")][:num_merges]
    assert_equal(learn_bpe_merges(WORDS, num_merges), expected)


def test_each_word_counts_as_often_as_it_occurs():
    """x·y stands in one word that occurs 4 times, a·b in three words that occur once each."""
    words = {"ab": 1, "abc": 1, "dab": 1, "xy": 4}
    assert_equal(learn_bpe_merges(words, 1), expected=[("x", "y")])


def test_pair_may_occur_twice_in_one_word():
    """a·b twice in one word, and x·y as often in two."""
    words = {"abcab": 1, "xy": 1, "zxy": 1}
    assert_equal(learn_bpe_merges(words, 10), expected=[("a", "b"), ("x", "y")])


def test_pair_that_occurs_twice_is_the_last_to_be_taken():
    """a·b occurs once: what is met once is no pattern."""
    assert_equal(learn_bpe_merges({"ab": 1, "cd": 2}, 10), expected=[("c", "d")])


@pytest.mark.parametrize(
    ("run", "merges"),
    [
        ("aaa", []),
        ("aaaa", [("a", "a")]),
        ("aaabaa", [("a", "a")]),
        ("aaaaaaaa", [("a", "a"), ("aa", "aa")]),
    ],
)
def test_run_is_counted_without_overlap(run, merges):
    """aaa holds aa once, aaaa twice: aa·a, aa·aa. Eight hold it 4 times, and then aa·aa twice."""
    assert_equal(learn_bpe_merges({run: 1}, 10), merges)


def test_run_is_glued_from_left_to_right():
    """aaa becomes aa·a, not a·aa."""
    assert_equal(learn_bpe_merges({"aaa": 2}, 10), expected=[("a", "a"), ("aa", "a")])


def test_glue_holds_whole_symbols_only():
    """b·a first: bat is then ba·t, in which no a stands alone; a·t is left in at alone."""
    words = {"ba": 5, "bat": 2, "at": 3}
    assert_equal(learn_bpe_merges(words, 10), expected=[("b", "a"), ("a", "t"), ("ba", "t")])


def test_equally_frequent_pairs_stand_in_order():
    """All occur twice: by the left symbol first, Z before a before é, then by the right one."""
    words = {"éa": 2, "zb": 2, "ay": 2, "ab": 2, "Zc": 2}
    in_order = [("Z", "c"), ("a", "b"), ("a", "y"), ("z", "b"), ("é", "a")]
    assert_equal(learn_bpe_merges(words, 10), in_order)


def test_words_end_without_a_mark():
    """b ends seven words, but that is no pair; and words do not touch each other."""
    assert_equal(learn_bpe_merges({"ab": 2, "b": 5}, 10), expected=[("a", "b")])


def test_blank_is_a_character_like_any_other():
    """a·blank and blank·b occur twice each; the blank stands before all letters."""
    assert_equal(learn_bpe_merges({"a b": 2}, 10), expected=[(" ", "b"), ("a", " b")])


@pytest.mark.parametrize("words", [{}, {"a": 9, "b": 9}, {"": 3}], ids=["none", "short", "empty"])
def test_without_a_pair_nothing_is_glued(words):
    """A word of one character has no neighbours."""
    assert_equal(learn_bpe_merges(words, 10), expected=[])


def counted_anew(words, num_merges):
    """The plain way: words with a blank between symbols, and all is counted afresh each round."""
    texts = {" ".join(word): count for word, count in words.items()}
    merges = []
    for _ in range(num_merges):
        pairs = {pair for text in texts for pair in pairwise(text.split())}
        glue = {pair: re.compile(rf"(?<!\S){pair[0]} {pair[1]}(?!\S)") for pair in pairs}
        counts = {
            pair: sum(len(glue[pair].findall(text)) * count for text, count in texts.items())
            for pair in pairs
        }
        best = sorted(pairs, key=lambda pair: (-counts[pair], pair))[:1]
        if not best or counts[best[0]] < 2:
            break
        merges += best
        texts = {glue[best[0]].sub("".join(best[0]), text): n for text, n in texts.items()}
    return merges


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_drawn_words_agree_with_a_plain_recount(seed):
    """25 words of three letters: runs, ties and repeats in plenty."""
    dice = random.Random(seed)
    spelled = ["".join(dice.choices("abc", k=dice.randint(1, 9))) for _ in range(25)]
    words = {word: dice.randint(1, 3) for word in spelled}
    assert_equal(learn_bpe_merges(words, 12), expected=counted_anew(words, 12))
