"""101 · reorder_kv_cache. Lesson: 101_reorder_kv_cache.md."""

import pytest
import torch

from kata.part06_transformer import encode_source, run_transformer_forward
from kata.part11_decoding import (
    beam_search_decode,
    choose_best_hypothesis,
    expand_beam_hypotheses,
    select_top_hypotheses,
)
from kata.part14_fast_decoding import (
    allocate_kv_cache,
    decode_step_with_kv_cache,
    reorder_kv_cache,
)
from kata.weights import DecoderCache, Hypothesis, KVCache
from specs.harness import draw_weights
from specs.harness.check import assert_close, assert_equal

FREE_GRADIENTS = ("cache",)  # decoding has no gradients; a copy may cut them off


def layer(*rows, length=1, places=2):
    """A cache whose row i holds one number where it is taken; its values are ten times that."""
    keys = torch.tensor(rows)[:, None, None, None].expand(-1, 1, places, 1).clone()
    keys[:, :, length:] = 0.0
    return KVCache(keys, 10 * keys, length)


def cache():
    """Three hypotheses, two layers; of the memory two source words."""
    told = [layer(1.0, 2.0, 3.0), layer(4.0, 5.0, 6.0)]
    read = [layer(7.0, 8.0, 9.0, length=2), layer(-1.0, -2.0, -3.0, length=2)]
    return DecoderCache(told, read)


def rows(layers):
    """What each layer's rows hold: keys, values."""
    return [(each.keys[:, 0, 0, 0].tolist(), each.values[:, 0, 0, 0].tolist()) for each in layers]


def test_three_change_places():
    """Row 0 is what row 2 was, 1 is 0, 2 is 1. The other way round it would be 2, 3, 1."""
    answer = reorder_kv_cache(cache(), torch.tensor([2, 0, 1]))
    expected = [([3.0, 1.0, 2.0], [30.0, 10.0, 20.0]), ([6.0, 4.0, 5.0], [60.0, 40.0, 50.0])]
    assert_equal(rows(answer.self_attention), expected)


def test_memory_goes_with_them():
    """Hypotheses of different sources may stand in one batch."""
    answer = reorder_kv_cache(cache(), torch.tensor([2, 0, 1]))
    expected = [([9.0, 7.0, 8.0], [90.0, 70.0, 80.0]), ([-3.0, -1.0, -2.0], [-30.0, -10.0, -20.0])]
    assert_equal(rows(answer.cross_attention), expected)


def test_one_may_have_two_heirs_and_another_none():
    """Rows 1, 1, 0."""
    answer = reorder_kv_cache(cache(), torch.tensor([1, 1, 0]))
    assert_equal(
        [keys for keys, _ in rows(answer.self_attention)], [[2.0, 2.0, 1.0], [5.0, 5.0, 4.0]]
    )


@pytest.mark.parametrize("indices", [[2], [0, 0, 1, 1, 2]], ids=str)
def test_rows_may_become_fewer_or_more(indices):
    """As many as there are indices."""
    answer = reorder_kv_cache(cache(), torch.tensor(indices))
    assert_equal(rows(answer.self_attention)[0][0], [[1.0, 2.0, 3.0][index] for index in indices])


def test_length_and_room_stay():
    """One token of two; two source words of two."""
    answer = reorder_kv_cache(cache(), torch.tensor([2, 0, 1]))
    layers = [*answer.self_attention, *answer.cross_attention]
    assert_equal(
        [(each.length, each.keys.shape[2]) for each in layers], [(1, 2), (1, 2), (2, 2), (2, 2)]
    )


def test_cache_that_has_read_nothing_yet():
    """No cross-attention before, none afterwards."""
    old = DecoderCache(cache().self_attention, [])
    answer = reorder_kv_cache(old, torch.tensor([1]))
    assert_equal(answer.cross_attention, [])
    assert answer.cross_attention is not old.cross_attention, "Both caches have one list."


def test_nothing_is_shared_with_the_old_cache():
    """Whatever is written to the new one, the old one keeps its rows, even if none has moved."""
    old = cache()
    new = reorder_kv_cache(old, torch.tensor([0, 1, 2]))
    for each in [*new.self_attention, *new.cross_attention]:
        each.keys.zero_()
        each.values.zero_()
        each.length = 0
    new.cross_attention.clear()
    layers = [*old.self_attention, *old.cross_attention]
    assert_equal(
        (rows(layers), [each.length for each in layers]), (rows(layers_of(cache())), [1, 1, 2, 2])
    )


def layers_of(cache):
    """All layers."""
    return [*cache.self_attention, *cache.cross_attention]


def test_heirs_of_one_row_go_their_own_ways():
    """Rows 1, 1, 1: what the first of them says next, the others do not."""
    answer = layers_of(reorder_kv_cache(cache(), torch.tensor([1, 1, 1])))
    rooms = [room for each in answer for room in (each.keys, each.values)]
    same = [room[0].data_ptr() == room[1].data_ptr() for room in rooms]
    assert not any(same), "Two rows have one memory: a token written to one is in both."


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Rows are moved, and no number changes."""
    old = draw_weights.cast(cache(), dtype)
    answer = reorder_kv_cache(old, torch.tensor([2, 0, 1]))
    assert_equal(rows(answer.self_attention)[0][0], [3.0, 1.0, 2.0])


def search(source_ids, weights, config, beam_size, alpha):
    """Beam search over a cache, to the last place: every hypothesis goes on from its own notes."""
    memory, mask = encode_source(source_ids, weights, config)
    notes = allocate_kv_cache(config, 1, config.max_length, dtype=memory.dtype)
    alive, finished, newest = [Hypothesis((), 0.0)], [], [config.start_id]
    while alive and len(alive[0].token_ids) < config.max_length:
        n = len(alive)
        scores = decode_step_with_kv_cache(
            torch.tensor(newest)[:, None], memory.expand(n, -1, -1), mask, weights, config, notes
        )
        best = select_top_hypotheses(expand_beam_hypotheses(alive, scores[:, -1]), beam_size)
        finished += [each for each in best if each.token_ids[-1] == config.end_id]
        parents = [each.token_ids for each in alive]
        alive = [each for each in best if each.token_ids[-1] != config.end_id]
        newest = [each.token_ids[-1] for each in alive]
        moved = [parents.index(each.token_ids[:-1]) for each in alive]
        notes = reorder_kv_cache(notes, torch.tensor(moved, dtype=torch.int64))
    return choose_best_hypothesis(finished, alive, alpha)


# With these seeds hypotheses change places, and whoever mixes up their notes says something else.
@pytest.mark.parametrize("seed", [42, 245, 350])
def test_beam_search_over_the_cache(seed):
    """079's sentence, and 051's score of it to ten digits, in float64."""
    config = draw_weights.TINY._replace(max_length=7)
    weights = draw_weights.cast(
        draw_weights.transformer(config, tied=False, seed=seed), torch.float64
    )
    source = torch.tensor([[5, 3, 7, 9]])
    best = search(source, weights, config, beam_size=3, alpha=0.6)
    [expected] = beam_search_decode(source, weights, config, beam_size=3, alpha=0.6).tolist()
    assert_equal([*best.token_ids], expected)
    heard = torch.tensor([[config.start_id, *expected[:-1]]])
    scores = run_transformer_forward(source, heard, weights, config)[0]
    assert_close(best.log_prob, sum(scores[range(len(expected)), expected].tolist()))
