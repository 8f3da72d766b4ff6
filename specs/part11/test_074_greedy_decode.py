"""074 · greedy_decode. Lesson: 074_greedy_decode.md.

Two models made by hand speak here. One looks up in a table which word follows the last one. The
other counts 3, 4, … up to the mean of the source's words, and then says the end.
"""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from kata.part06_transformer import run_transformer_forward
from kata.part11_decoding import greedy_decode
from specs.harness import draw_weights, one_by_one
from specs.harness.check import assert_equal
from specs.harness.hand_made import END, PAD, START, counting_model, table_model

ANY = torch.tensor([[5, 7]])
THREE_FOUR = {START: {3: 0.6, 4: 0.4}, 3: {4: 0.9, 5: 0.1}}  # 4 is followed by the end
FOR_EVER = {START: {3: 1.0}, 3: {4: 1.0}, 4: {5: 1.0}, 5: {3: 1.0}}


def test_best_word_each_time_by_hand():
    """After the start 3 beats 4, after 3 comes 4, after 4 the end, which is part of the answer."""
    weights, config = table_model(THREE_FOUR)
    assert_equal(greedy_decode(ANY, weights, config), [[3, 4, END]])


def test_end_may_come_at_once():
    """Nothing to say is an answer too."""
    weights, config = table_model({START: {END: 0.7, 3: 0.3}})
    assert_equal(greedy_decode(ANY, weights, config), [[END]])


def test_words_are_never_taken_back():
    """4 and 6 would have 0.4 · 1; but 3 is best at first, and all that comes of it is 0.6 · 0.5."""
    weights, config = table_model(
        {START: {3: 0.6, 4: 0.4}, 3: {5: 0.5, 6: 0.3, 7: 0.2}, 4: {6: 1.0}}
    )
    assert_equal(greedy_decode(ANY, weights, config), [[3, 5, END]])


def test_sentences_end_each_at_its_own_time():
    """Up to 4, to 3, to (5 + 6 + 4)/3 = 5. Behind its end each row is padded, here with 7."""
    weights, config = counting_model()
    source = torch.tensor([[4, 7, 7], [3, 7, 7], [5, 6, 4]])
    expected = [[3, 4, END, 7], [3, END, 7, 7], [3, 4, 5, END]]
    assert_equal(greedy_decode(source, weights, config._replace(pad_id=7)), expected)


@pytest.mark.parametrize("length", [1, 2, 5, 0])
def test_max_length_counts_the_words_said(length):
    """3, 4, 5, 3, 4: the start token takes up no room, and 0 is a length like any other."""
    weights, config = table_model(FOR_EVER)
    answer = greedy_decode(ANY, weights, config, max_length=length)
    assert_equal(answer, [[3, 4, 5, 3, 4][:length]])


def test_without_a_max_length_that_of_the_config_counts():
    """Room for four words: the start and the first three are what the model hears at last."""
    weights, config = table_model(FOR_EVER, max_length=4)
    assert_equal(greedy_decode(ANY, weights, config), [[3, 4, 5, 3]])


def test_padding_said_by_the_model_is_a_word():
    """After the start it says the pad id, and goes on: only the end ends a sentence."""
    weights, config = table_model({START: {PAD: 1.0}, PAD: {3: 1.0}})
    assert_equal(greedy_decode(ANY, weights, config), [[PAD, 3, END]])


def test_ids_are_those_of_the_config():
    """Padding is 6 now, start and end are both 7: 3 follows 7, and the 7 behind it is the end."""
    weights, config = table_model({7: {3: 1.0}, 3: {7: 1.0}})
    config = config._replace(pad_id=6, start_id=7, end_id=7)
    assert_equal(greedy_decode(ANY, weights, config), [[3, 7]])


def test_dropout_is_off():
    """With every number dropped the table could not be read."""
    weights, config = table_model(THREE_FOUR)
    answer = greedy_decode(ANY, weights, config._replace(dropout_rate=1.0))
    assert_equal(answer, [[3, 4, END]])


def test_no_graph_is_built():
    """The weights take gradients; while decoding, nothing is kept for a way back."""
    weights, config = table_model(THREE_FOUR)
    kept = []
    with saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        greedy_decode(ANY, draw_weights.trainable(weights), config)
    assert not kept, "a gradient graph was built, which nobody needs while decoding"


def walks(max_length):
    """Decode and count: how often was each stack walked through?"""
    weights, config = table_model(THREE_FOUR)
    greedy_decode(ANY, weights, config, max_length)
    return weights.encoder_layers.walks, weights.decoder_layers.walks


def test_source_is_read_once():
    """For three words the encoder is asked no more often than for one."""
    assert walks(3)[0] == walks(1)[0], "the source is encoded again for every word"


def test_nothing_is_decoded_behind_the_last_end():
    """Room for six words or for three: after three all have ended."""
    assert walks(6)[1] == walks(3)[1], "decoding goes on after every sentence has ended"


def test_each_row_is_what_the_sentence_gives_alone():
    """A whole model: all that was said counts, each word at its place, pad ids that it says too."""
    weights, config = one_by_one.model()
    expected = [
        one_by_one.said(run_transformer_forward, sentence, weights, config)
        for sentence in one_by_one.ALONE
    ]
    assert_equal(greedy_decode(one_by_one.SOURCES, weights, config), expected)
