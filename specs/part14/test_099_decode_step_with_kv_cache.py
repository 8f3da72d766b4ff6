"""099 · decode_step_with_kv_cache. Lesson: 099_decode_step_with_kv_cache.md."""

from math import nan

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from kata.part06_transformer import encode_source, run_transformer_forward
from kata.part14_fast_decoding import decode_step_with_kv_cache
from kata.weights import DecoderCache, KVCache
from specs.harness import draw, draw_weights
from specs.harness.check import assert_close, assert_equal, rejects
from specs.harness.hand_made import END, PAD, START, counting_model

CHANGES = ("cache",)

CONFIG = draw_weights.TINY
SOURCES = torch.tensor([[5, 3, 7, PAD, PAD], [4, PAD, PAD, PAD, PAD], [9, 8, 3, 6, 10]])
TARGETS = torch.tensor([[START, 7, 3, 3, 9, 4], [START, 4, PAD, 8, 5, 5], [START, 10, 6, 3, 7, 8]])


def model(dtype=torch.float64):
    """A drawn model of two layers, and what its encoder makes of three sentences."""
    weights = draw_weights.cast(draw_weights.transformer(seed=7), dtype)
    return weights, *encode_source(SOURCES, weights, CONFIG)


def empty_cache(config=CONFIG, batch=3, room=9, dtype=torch.float64):
    """A cache with nothing in it; NaN on every free place."""
    shape = batch, config.num_heads, room, config.d_model // config.num_heads
    rooms = [torch.full((2, *shape), nan, dtype=dtype) for _ in range(config.num_layers)]
    return DecoderCache([KVCache(keys, values, 0) for keys, values in rooms], [])


@pytest.mark.parametrize("parts", [(1, 1, 1, 1, 1, 1), (3, 1, 2), (6,), (1, 5)], ids=str)
def test_scores_are_those_of_the_whole_model(parts):
    """Token by token, or several at once: to ten digits what 051 makes of the six together."""
    weights, memory, mask = model()
    cache = empty_cache()
    steps = [
        decode_step_with_kv_cache(tokens, memory, mask, weights, CONFIG, cache)
        for tokens in TARGETS.split(parts, dim=1)
    ]
    expected = run_transformer_forward(SOURCES, TARGETS, weights, CONFIG)
    assert_close(torch.cat(steps, dim=1), expected)


def test_counting_by_hand():
    """Up to (5 + 6 + 4)/3 = 5: after the start 3, then 4, then 5, then the end."""
    weights, config = counting_model()
    memory, mask = encode_source(torch.tensor([[5, 6, 4]]), weights, config)
    cache = empty_cache(config, batch=1, dtype=memory.dtype)
    tokens = torch.tensor([[START], [3], [4], [5]])
    scores = [
        decode_step_with_kv_cache(token[None], memory, mask, weights, config, cache)
        for token in tokens
    ]
    assert_equal([each.argmax().item() for each in scores], [3, 4, 5, END])


def step(cache, tokens=TARGETS[:, :1], memory_is=1.0, config=CONFIG):
    """Send tokens through the drawn model; ``memory_is`` turns what it is told of the memory."""
    weights, memory, mask = model()
    return decode_step_with_kv_cache(tokens, memory * memory_is, mask, weights, config, cache)


def test_memory_is_read_once():
    """Its keys and values are in the cache: at the second step the memory itself may be NaN."""
    cache = empty_cache()
    step(cache)
    answer = step(cache, TARGETS[:, 1:2], memory_is=nan)
    expected = run_transformer_forward(SOURCES, TARGETS[:, :2], model()[0], CONFIG)[:, 1:]
    assert_close(answer, expected)


def test_keys_and_values_of_the_memory_lie_in_the_cache():
    """Layer by layer, cut into heads: five source words fill a room of five, two steps or one."""
    cache, (weights, memory, _) = empty_cache(), model()
    step(cache)
    step(cache, TARGETS[:, 1:2])
    kept = [(layer.keys, layer.values, layer.length) for layer in cache.cross_attention]
    attentions = [layer.cross_attention for layer in weights.decoder_layers]
    expected = [(heads(memory, each.key), heads(memory, each.value), 5) for each in attentions]
    assert_close(kept, expected)


def heads(memory, projection):
    """Project, and cut into two heads of four features."""
    projected = torch.nn.functional.linear(memory, *projection)
    return projected.reshape(3, 5, 2, 4).transpose(1, 2)


def test_another_cache_is_another_translation():
    """What was read for one source is not kept for the next."""
    step(empty_cache(), memory_is=-1.0)
    expected = run_transformer_forward(SOURCES, TARGETS[:, :1], model()[0], CONFIG)
    assert_close(step(empty_cache()), expected)


def test_every_layer_keeps_every_token():
    """Two tokens, then one: three places taken in both layers."""
    cache = empty_cache()
    step(cache, TARGETS[:, :2])
    step(cache, TARGETS[:, 2:3])
    assert_equal([layer.length for layer in cache.self_attention], [3, 3])


@pytest.mark.parametrize(("room", "longest"), [(2, 9), (9, 2)], ids=["cache", "config"])
def test_too_many_tokens_are_an_error(room, longest):
    """Room for two, or a config for two: the third is refused, and nothing has changed."""
    cache, config = empty_cache(room=room), CONFIG._replace(max_length=longest)
    step(cache, TARGETS[:, :2], config=config)
    before = [layer.keys.clone() for layer in cache.self_attention]
    with rejects(ValueError, naming=2):
        step(cache, TARGETS[:, 2:3], config=config)
    assert_equal([layer.length for layer in cache.self_attention], [2, 2])
    assert_close([layer.keys for layer in cache.self_attention], before)


def test_dropout_is_off():
    """With every number dropped the scores would all be alike."""
    answer = step(empty_cache(), config=CONFIG._replace(dropout_rate=1.0))
    assert_close(answer, step(empty_cache()))


def test_no_graph_is_built():
    """The weights take gradients; while decoding, nothing is kept for a way back."""
    weights, memory, mask = model()
    kept, cache = [], empty_cache()
    with saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        decode_step_with_kv_cache(
            TARGETS, memory, mask, draw_weights.trainable(weights), CONFIG, cache
        )
    assert not kept, "a gradient graph was built, which nobody needs while decoding"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_other_precisions(dtype):
    """Half weights and a half cache make half scores; a single word has ln 1 = 0."""
    config = CONFIG._replace(vocab_size=1)
    weights = draw_weights.cast(draw_weights.transformer(config), dtype)
    memory = draw.floats(2, 4, 8).to(dtype)
    mask, tokens = torch.ones(2, 1, 1, 4, dtype=torch.bool), torch.zeros(2, 1, dtype=torch.int64)
    cache = empty_cache(config, batch=2, dtype=dtype)
    answer = decode_step_with_kv_cache(tokens, memory, mask, weights, config, cache)
    assert_close(answer, [[[0.0]], [[0.0]]])
