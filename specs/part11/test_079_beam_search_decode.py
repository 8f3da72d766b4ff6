"""079 · beam_search_decode. Lesson: 079_beam_search_decode.md.

Two models made by hand speak here. One looks up in a table which word follows the last one. The
other counts 3, 4, … up to the mean of the source's words, and then says the end.
"""

import itertools

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from kata.part06_transformer import run_transformer_forward
from kata.part11_decoding import beam_search_decode
from specs.harness import draw_weights, one_by_one
from specs.harness.check import assert_equal
from specs.harness.hand_made import END, PAD, START, counting_model, table_model

ANY = torch.tensor([[5, 7]])
# 3 is the best first word, but 4 6 is the best beginning.
GARDEN_PATH = {START: {3: 0.6, 4: 0.4}, 3: {5: 0.5, 6: 0.3, 7: 0.2}, 4: {6: 0.9, 7: 0.1}}
ON_AND_ON = {START: {3: 0.6, END: 0.4}, 3: {3: 0.6, END: 0.4}}
FOR_EVER = {START: {3: 1.0}, 3: {4: 1.0}, 4: {5: 1.0}, 5: {3: 1.0}}
# After two words the best has ended, with 0.96, and a beginning with 0.02 could go on for ever.
CLEAR = {START: {3: 0.98, 4: 0.02}, 3: {END: 0.98, 4: 0.02}, 4: {5: 1.0}, 5: {4: 1.0}}


@pytest.mark.parametrize(("beam_size", "words"), [(1, [3, 5]), (2, [4, 6])])
def test_second_best_beginning_by_hand(beam_size, words):
    """0.6 · 0.5 = 0.30 is all that comes of 3; of 4, kept in a beam of two, 0.4 · 0.9 = 0.36."""
    weights, config = table_model(GARDEN_PATH)
    answer = beam_search_decode(ANY, weights, config, beam_size, alpha=0.0)
    assert_equal(answer, [[*words, END]])


def test_scores_of_all_turns_are_added():
    """3 5 has 0.30 and 4 6 has 0.36; the end then has 0.9 and 0.5, which makes 0.27 and 0.18."""
    weights, config = table_model(GARDEN_PATH | {5: {END: 0.9, 7: 0.1}, 6: {END: 0.5, 7: 0.5}})
    answer = beam_search_decode(ANY, weights, config, beam_size=3, alpha=0.0, max_length=3)
    assert_equal(answer, [[3, 5, END]])


@pytest.mark.parametrize(("alpha", "words"), [(0.0, [END]), (0.6, [3, END])])
def test_long_sentence_is_excused_and_waited_for(alpha, words):
    """The end leads, ln 0.51 = −0.67 to ln 0.49 = −0.71; but −0.71 / (7/6)^0.6 is −0.65."""
    weights, config = table_model({START: {END: 0.51, 3: 0.49}})
    assert_equal(beam_search_decode(ANY, weights, config, 2, alpha), [words])


def test_sentence_that_has_far_to_go_is_waited_for():
    """At α = 2 ln 0.6 = −0.511 leads; ln 0.4 = −0.916 is −0.673 one word on, but −0.407 at four."""
    weights, config = table_model({START: {END: 0.6, 3: 0.4}, 3: {4: 1.0}, 4: {5: 1.0}})
    assert_equal(beam_search_decode(ANY, weights, config, 2, 2.0), [[3, 4, 5, END]])


@pytest.mark.parametrize(("chance", "words"), [(0.51, [3, END]), (0.52, [END])])
def test_alpha_of_the_paper_if_nothing_is_said(chance, words):
    """0.6: −0.650 beats −0.673; ln 0.48 / (7/6)^0.6 = −0.669 does not beat ln 0.52 = −0.654."""
    weights, config = table_model({START: {END: chance, 3: 1 - chance}})
    assert_equal(beam_search_decode(ANY, weights, config), [words])


def test_four_in_the_beam_if_nothing_is_said():
    """3, 4 and 5 lead nowhere. 6 ends with 0.18 · 0.8 = 0.144; 7, with 0.16, was fifth at first."""
    nowhere = dict.fromkeys((PAD, 3, 4, 5, 6), 0.2)
    table = {START: {3: 0.24, 4: 0.22, 5: 0.2, 6: 0.18, 7: 0.16}, 6: {END: 0.8, 3: 0.2}}
    weights, config = table_model(table | {3: nowhere, 4: nowhere, 5: nowhere})
    assert_equal(beam_search_decode(ANY, weights, config), [[6, END]])


def test_end_counts_only_among_the_best_of_its_turn():
    """One in the beam: 0.6 for 3 pushes out 0.4 for the end, three times over."""
    weights, config = table_model(ON_AND_ON, max_length=3)
    assert_equal(beam_search_decode(ANY, weights, config, beam_size=1), [[3, 3, 3]])


@pytest.mark.parametrize(("alpha", "words"), [(0.0, [END]), (0.6, [3, END])])
def test_finished_sentence_beats_a_likelier_one_that_is_broken_off(alpha, words):
    """3 3 has 0.81. The end has ln 0.1 = −2.30; 3 and the end have −2.41, or −2.20 by length."""
    weights, config = table_model({START: {3: 0.9, END: 0.1}, 3: {3: 0.9, END: 0.1}})
    assert_equal(beam_search_decode(ANY, weights, config, 2, alpha, max_length=2), [words])


@pytest.mark.parametrize("length", [1, 5])
def test_max_length_counts_the_words_said(length):
    """No end in sight: 3, 4, 5, 3, 4, as far as there is room."""
    weights, config = table_model(FOR_EVER)
    answer = beam_search_decode(ANY, weights, config, beam_size=1, max_length=length)
    assert_equal(answer, [[3, 4, 5, 3, 4][:length]])


def test_without_a_max_length_that_of_the_config_counts():
    """Room for four words."""
    weights, config = table_model(FOR_EVER, max_length=4)
    assert_equal(beam_search_decode(ANY, weights, config, beam_size=1), [[3, 4, 5, 3]])


def test_each_row_is_searched_alone():
    """Up to 3, and up to (5 + 3)/2 = 4. Padding is 7 here, and fills the shorter answer."""
    weights, config = counting_model()
    source = torch.tensor([[3, 7], [5, 3]])
    expected = [[3, END, 7], [3, 4, END]]
    assert_equal(beam_search_decode(source, weights, config._replace(pad_id=7)), expected)


def test_padding_said_by_the_model_is_a_word():
    """After the start it says the pad id, and goes on: only the end ends a sentence."""
    weights, config = table_model({START: {PAD: 1.0}, PAD: {3: 1.0}})
    assert_equal(beam_search_decode(ANY, weights, config), [[PAD, 3, END]])


def test_ids_are_those_of_the_config():
    """Start and end are both 7: 3 follows 7, and the 7 behind it is the end."""
    weights, config = table_model({7: {3: 1.0}, 3: {7: 1.0}})
    config = config._replace(pad_id=6, start_id=7, end_id=7)
    assert_equal(beam_search_decode(ANY, weights, config), [[3, 7]])


def test_dropout_is_off():
    """With every number dropped the table could not be read."""
    weights, config = table_model(GARDEN_PATH)
    answer = beam_search_decode(ANY, weights, config._replace(dropout_rate=1.0))
    assert_equal(answer, [[4, 6, END]])


def test_no_graph_is_built():
    """The weights take gradients; while decoding, nothing is kept for a way back."""
    weights, config = table_model(GARDEN_PATH)
    kept = []
    with saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        beam_search_decode(ANY, draw_weights.trainable(weights), config)
    assert not kept, "a gradient graph was built, which nobody needs while decoding"


def walks(max_length, alpha):
    """Search and count: how often was the decoder walked through?"""
    weights, config = table_model(CLEAR, max_length=100)
    beam_search_decode(ANY, weights, config, 2, alpha, max_length)
    return weights.decoder_layers.walks


@pytest.mark.parametrize("alpha", [0.6, 2.0])
def test_search_stops_when_no_live_one_can_win(alpha):
    """3 and the end have 0.96, the live one 0.02. In six words it cannot win, in 100 it could.

    At α = 2 ln 0.96 / (7/6)² is −0.0297. Divided by (69/6)² ln 0.02 is −0.0296, at 64 words.
    """
    stopped = walks(6, alpha) == walks(2, alpha)
    assert stopped, "the search goes on although no live hypothesis can still win"


def test_beam_of_one_says_the_best_word_each_time():
    """A whole model: all that was said counts, each word at its place, pad ids that it says too."""
    weights, config = one_by_one.model()
    expected = [
        one_by_one.said(run_transformer_forward, sentence, weights, config)
        for sentence in one_by_one.ALONE
    ]
    assert_equal(beam_search_decode(one_by_one.SOURCES, weights, config, 1, 0.0), expected)


def best_of_all(source_ids, weights, config, alpha):
    """Score every sentence that ends in time, and pick the best."""
    words, found = [word for word in range(config.vocab_size) if word != config.end_id], []
    for length in range(1, config.max_length + 1):
        sentences = [(*b, config.end_id) for b in itertools.product(words, repeat=length - 1)]
        said = torch.tensor(sentences)
        heard = torch.nn.functional.pad(said[:, :-1], (1, 0), value=config.start_id)
        sources = source_ids.expand(len(said), -1)
        log_probs = run_transformer_forward(sources, heard, weights, config)
        scores = log_probs.gather(2, said[..., None]).sum(dim=(1, 2)) / ((5 + length) / 6) ** alpha
        found += zip(scores.tolist(), sentences, strict=True)
    return list(max(found)[1])


@pytest.mark.parametrize(("seed", "alpha"), [(592, 0.6), (412, 2.0)])
def test_beam_that_holds_everything_finds_the_best_of_all(seed, alpha):
    """Of five words three at most are said, in 5³ = 125 ways: a beam of 125 leaves nobody out."""
    config = draw_weights.TINY._replace(num_layers=1, max_length=3, vocab_size=5)
    weights = draw_weights.transformer(config, tied=False, seed=seed)
    source = torch.tensor([[4, 3]])
    expected = best_of_all(source, weights, config, alpha)
    assert_equal(beam_search_decode(source, weights, config, 125, alpha), [expected])
