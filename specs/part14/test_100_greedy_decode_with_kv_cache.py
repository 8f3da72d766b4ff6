"""100 · greedy_decode_with_kv_cache. Lesson: 100_greedy_decode_with_kv_cache.md.

The model made by hand counts 3, 4, … up to the mean of the source's words, and then says the end.
"""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from kata.part11_decoding import greedy_decode
from kata.part14_fast_decoding import greedy_decode_with_kv_cache
from specs.harness import draw_weights
from specs.harness.check import assert_equal, rejects
from specs.harness.hand_made import END, PAD, counting_model
from specs.harness.live_bytes import measured

UP_TO_SEVEN = torch.tensor([[7]])
SOURCES = torch.tensor([[5, 3, 7, PAD, PAD], [4, PAD, PAD, PAD, PAD], [9, 8, 3, 6, 10]])


def test_counting_by_hand():
    """Up to 4, to 3, to (5 + 6 + 4)/3 = 5. Behind its end each row is padded, here with 7."""
    weights, config = counting_model()
    source = torch.tensor([[4, 7, 7], [3, 7, 7], [5, 6, 4]])
    expected = [[3, 4, END, 7], [3, END, 7, 7], [3, 4, 5, END]]
    answer = greedy_decode_with_kv_cache(source, weights, config._replace(pad_id=7))
    assert_equal(answer, expected)


def test_next_source_is_another_one():
    """One model is asked for 5 and then for 3: it counts to 5, and then to 3."""
    weights, config = counting_model()
    answers = [
        greedy_decode_with_kv_cache(torch.tensor([[number]]), weights, config) for number in (5, 3)
    ]
    assert_equal(answers, [[[3, 4, 5, END]], [[3, END]]])


@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_max_length_counts_the_words_said(length):
    """3, 4, 5, 6, 7: the start token takes up no room."""
    answer = greedy_decode_with_kv_cache(UP_TO_SEVEN, *counting_model(), max_length=length)
    assert_equal(answer, torch.tensor([[3, 4, 5, 6, 7][:length]], dtype=torch.int64))


def test_without_a_max_length_that_of_the_config_counts():
    """Room for four words."""
    answer = greedy_decode_with_kv_cache(UP_TO_SEVEN, *counting_model(max_length=4))
    assert_equal(answer, [[3, 4, 5, 6]])


def test_more_words_than_the_model_has_places_for_are_an_error():
    """Five are asked for, and four may be heard; 074 says so too."""
    with rejects(ValueError, naming=4):
        greedy_decode_with_kv_cache(UP_TO_SEVEN, *counting_model(max_length=4), max_length=5)


# With these seeds the models say many different words, padding too, and end at different turns.
@pytest.mark.parametrize(("layers", "seed"), [(1, 1363), (2, 386)])
def test_tokens_are_those_of_the_slow_way(layers, seed):
    """Whole models in float64, token for token."""
    config = draw_weights.TINY._replace(num_layers=layers, max_length=9)
    weights = draw_weights.cast(
        draw_weights.transformer(config, tied=False, seed=seed), torch.float64
    )
    answer = greedy_decode_with_kv_cache(SOURCES, weights, config)
    assert_equal(answer, greedy_decode(SOURCES, weights, config))


def test_ids_are_those_of_the_config():
    """Padding is 3, start and end are one id."""
    config = draw_weights.TINY._replace(pad_id=3, start_id=6, end_id=6)
    weights = draw_weights.transformer(config, tied=False, seed=236)
    answer = greedy_decode_with_kv_cache(SOURCES, weights, config)
    assert_equal(answer, greedy_decode(SOURCES, weights, config))


def test_dropout_is_off():
    """With every number dropped nobody could count."""
    weights, config = counting_model()
    config = config._replace(dropout_rate=1.0)
    assert_equal(greedy_decode_with_kv_cache(UP_TO_SEVEN, weights, config)[:, :2], [[3, 4]])


def test_encoder_drops_nothing_either():
    """A drawn model whose encoder counts, too."""
    config = draw_weights.TINY
    weights = draw_weights.transformer(config, tied=False, seed=386)
    answer = greedy_decode_with_kv_cache(SOURCES, weights, config._replace(dropout_rate=1.0))
    assert_equal(answer, greedy_decode(SOURCES, weights, config))


def test_no_graph_is_built():
    """The weights take gradients; while decoding, nothing is kept for a way back."""
    config = draw_weights.TINY
    weights = draw_weights.trainable(draw_weights.transformer(config))
    kept = []
    with saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        greedy_decode_with_kv_cache(SOURCES, weights, config, max_length=2)
    assert not kept, "a gradient graph was built, which nobody needs while decoding"


def walks(source, max_length):
    """Decode and count: how often was each stack walked through?"""
    weights, config = counting_model()
    greedy_decode_with_kv_cache(source, weights, config, max_length)
    return weights.encoder_layers.walks, weights.decoder_layers.walks


def test_source_is_read_once():
    """For five words the encoder is asked no more often than for one."""
    once, often = walks(UP_TO_SEVEN, 1), walks(UP_TO_SEVEN, 5)
    assert often[0] == once[0], "the source is encoded again for every word"


def test_nothing_is_decoded_behind_the_last_end():
    """Up to 3, and the end: two turns, be there room for two words or for six."""
    two, six = walks(torch.tensor([[3]]), 2), walks(torch.tensor([[3]]), 6)
    assert six[1] == two[1], "decoding goes on after every sentence has ended"


def products(max_length):
    """How many numbers are multiplied inside matrix products?"""
    with measured(greedy_decode_with_kv_cache) as meter:
        greedy_decode_with_kv_cache(UP_TO_SEVEN, *counting_model(), max_length=max_length)
    return meter.multiplications


def test_one_token_goes_through_the_decoder():
    """The fourth turn costs what the third did, and one key and value more: 2 · 13 products."""
    third, fourth = products(3) - products(2), products(4) - products(3)
    more = fourth - third
    assert more <= 26, f"turn 4 takes {more} products more than turn 3: old words are sent again"
