"""051 · run_transformer_forward. Lesson: 051_run_transformer_forward.md."""

from functools import reduce
from itertools import product
from math import log, sqrt

import pytest
import torch

from kata.part06_transformer import run_transformer_forward
from kata.weights import LayerNormWeights, LinearWeights
from specs.harness import draw, draw_weights, torch_layers
from specs.harness.check import assert_close, rejects
from specs.harness.draw_weights import TINY
from specs.harness.dropped import assert_dropped, distinct_rows

# Id 0 is padding, 1 starts a sentence and 2 ends it, as TINY has it; 3 to 10 are words.
SOURCES = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0], [9, 2, 0, 0, 0]])
TARGETS = torch.tensor([[1, 10, 3, 7], [1, 4, 4, 9], [1, 6, 5, 8]])
AGREED = {torch.float32: 1e-5, torch.float64: 1e-10}
SHALLOW = TINY._replace(num_layers=1)


def always(first, *rest):
    """Build a norm that says these numbers, whatever it hears: its gain is 0."""
    bias = torch.tensor([first, *rest])
    return LayerNormWeights(torch.zeros_like(bias), bias)


def test_the_table_that_words_came_in_by_scores_them_by_hand():
    """The last norm says (1, 0) at every place, so each word scores the first number of its row.

    0, ln 3, ln 4 and the bias ln 2 for the first: 2 + 3 + 4 = 9.
    """
    config = SHALLOW._replace(vocab_size=3, d_model=2, num_heads=1)
    table = torch.tensor([[0.0, 5.0], [log(3), 6.0], [log(4), 7.0]])
    layer = draw_weights.decoder_layer(2, 12)._replace(feed_forward_norm=always(1.0, 0.0))
    weights = draw_weights.transformer(config)._replace(
        token_embedding=table,
        decoder_layers=(layer,),
        output_projection=LinearWeights(table, torch.tensor([log(2), 0.0, 0.0])),
    )
    ids = torch.tensor([[1, 2]])
    log_probs = run_transformer_forward(ids, ids, weights, config)
    assert_close(log_probs, expected=[[[log(2 / 9), log(3 / 9), log(4 / 9)]] * 2])


def test_tied_weights_learn_from_being_scored():
    """The last norm says (1, 0) and ignores all else: row v learns ([v is right] − p(v)) · (1, 0).

    Three words of equal score: 2/3 for the right one, −1/3 for the others.
    """
    config = SHALLOW._replace(vocab_size=3, d_model=2, num_heads=1)
    table = torch.tensor([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]], requires_grad=True)
    layer = draw_weights.decoder_layer(2, 12)._replace(feed_forward_norm=always(1.0, 0.0))
    weights = draw_weights.transformer(config)._replace(
        token_embedding=table, decoder_layers=(layer,), output_projection=LinearWeights(table)
    )
    ids = torch.tensor([[1]])
    run_transformer_forward(ids, ids, weights, config)[0, 0, 2].backward()
    assert_close(table.grad, expected=[[-1 / 3, 0.0], [-1 / 3, 0.0], [2 / 3, 0.0]])


def torch_answer(source_ids, target_ids, weights, config):
    """Answer with torch's own layers, in float64; positions by the paper's formula."""
    source_mask = (source_ids != config.pad_id)[:, None, None]
    length = target_ids.shape[1]
    stairs = torch.ones(length, length, dtype=torch.bool).tril()
    heads, layers = config.num_heads, weights.encoder_layers
    memory = torch_layers.encode(embedded(source_ids, weights), layers, heads, source_mask)
    x, layers = embedded(target_ids, weights), weights.decoder_layers
    x = torch_layers.decode(x, memory, layers, heads, stairs, source_mask)
    return torch_layers.linear(x, weights.output_projection).log_softmax(dim=-1)


def embedded(ids, weights):
    """Look the ids up, times √D, and add sine and cosine in turns."""
    table = weights.token_embedding.double()
    place = torch.arange(ids.shape[1], dtype=torch.float64)[:, None]
    column = torch.arange(table.shape[1])
    angle = place / 10000 ** (column // 2 * 2 / table.shape[1]).double()
    waves = torch.where(column % 2 == 0, angle.sin(), angle.cos())
    return table[ids] * sqrt(table.shape[1]) + waves


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_agrees_with_torch(dtype):
    """Two layers each side, padded sources: torch's own layers, carrying the same weights."""
    weights = draw_weights.cast(draw_weights.transformer(), dtype)
    log_probs = run_transformer_forward(SOURCES, TARGETS, weights, TINY)
    expected = torch_answer(SOURCES, TARGETS, weights, TINY)
    assert_close(log_probs, expected, rtol=0.0, atol=AGREED[dtype])


@pytest.mark.parametrize(("sources", "targets"), [(3, 2), (1, 3), (3, 1)])
def test_batches_that_differ_are_an_error(sources, targets):
    """One sentence would be spread over three without a word: the message names both numbers."""
    weights = draw_weights.transformer()
    with rejects(ValueError, naming=(sources, targets)):
        run_transformer_forward(SOURCES[:sources], TARGETS[:targets], weights, TINY)


@pytest.mark.parametrize(("source", "target"), [(10, 3), (3, 10)], ids=["source", "target"])
def test_a_sentence_over_max_length_is_an_error(source, target):
    """Ten tokens where nine are allowed: nothing is cut off, and the message names both."""
    ids = torch.ones(1, source, dtype=torch.int64), torch.ones(1, target, dtype=torch.int64)
    with rejects(ValueError, naming=(10, 9)):
        run_transformer_forward(*ids, draw_weights.transformer(), TINY)


@pytest.mark.parametrize(("source", "target"), [(-1, 3), (3, -1)], ids=["source", "target"])
def test_an_id_below_zero_is_an_error(source, target):
    """Plain indexing would read -1 as the last word: nothing is wrapped round."""
    ids = torch.tensor([[source]]), torch.tensor([[target]])
    with rejects(IndexError):
        run_transformer_forward(*ids, draw_weights.transformer(SHALLOW), SHALLOW)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
def test_sentences_may_be_as_long_as_max_length(dtype):
    """Nine tokens each where nine are allowed, whatever integers they are: torch agrees."""
    ids, weights = draw.token_ids(1, 9, vocab_size=10) + 1, draw_weights.transformer(SHALLOW)
    log_probs = run_transformer_forward(ids.to(dtype), ids.to(dtype), weights, SHALLOW)
    expected = torch_answer(ids, ids, weights, SHALLOW)
    assert_close(log_probs, expected, rtol=0.0, atol=AGREED[log_probs.dtype])


def only_the_norms(x, layers):
    """Apply the three norms of each decoder layer, one after the other."""
    norms = [layer[1::2] for layer in layers]
    return reduce(torch_layers.norm, sum(norms, ()), x)


@pytest.mark.parametrize("learning", [True, False], ids=["learning", "no_grad"])
def test_at_rate_1_every_place_says_the_same(learning):
    """Embeddings, positions and all sub-layers are dropped: the decoder's norms are left, of 0."""
    weights, config = draw_weights.transformer(), TINY._replace(dropout_rate=1.0)
    with torch.set_grad_enabled(learning):
        log_probs = run_transformer_forward(SOURCES, TARGETS, weights, config)
    x = only_the_norms(torch.zeros(3, 4, 8), weights.decoder_layers)
    assert_close(log_probs, torch_layers.linear(x, weights.output_projection).log_softmax(dim=-1))


# A model of width 4 that hides dropout at some places, behind sub-layers that add nothing and norms
# that say one thing whatever they hear: then its rows differ in as many ways as the others allow.
NOTHING = LinearWeights(torch.zeros(4, 4))
NARROW = SHALLOW._replace(d_model=4)
ENCODER, DECODER = draw_weights.encoder_layer(4, 4), draw_weights.decoder_layer(4, 4)


def silent(layer):
    """Let a layer's sub-layers add nothing."""
    nothing = {name: type(part)(*[NOTHING] * len(part)) for name, part in layer._asdict().items()}
    return layer._replace(**{name: nothing[name] for name in nothing if "norm" not in name})


def ways(encoder_layer, decoder_layer):
    """Run one pair of words 300 times, and count the answers that differ."""
    return distinct_rows(answers(encoder_layer, decoder_layer, 0.5))


def answers(encoder_layer, decoder_layer, rate):
    """Run one pair of words 300 times."""
    source, target = torch.tensor([[3]]).expand(300, 1), torch.tensor([[1]]).expand(300, 1)
    weights, config = narrow(encoder_layer, decoder_layer), NARROW._replace(dropout_rate=rate)
    generator = torch.Generator().manual_seed(0)
    return run_transformer_forward(source, target, weights, config, generator)


def narrow(encoder_layer, decoder_layer):
    """Draw a model of these two layers."""
    return draw_weights.transformer(NARROW)._replace(
        encoder_layers=(encoder_layer,), decoder_layers=(decoder_layer,)
    )


LOOKING = silent(DECODER)._replace(
    self_attention_norm=always(1.0, 2.0, 3.0, 4.0), cross_attention=DECODER.cross_attention
)


def test_what_is_left_of_the_target_is_made_louder():
    """At rate 1/4 each of its 4 numbers is gone or 4/3 of itself: 16 rows are possible."""
    weights, layer = narrow(ENCODER, silent(DECODER)), silent(DECODER)
    word = embedded(torch.tensor([[1]]), weights)[0, 0]
    kept = torch.tensor(list(product([0.0, 4 / 3], repeat=4)), dtype=torch.float64)
    logits = torch_layers.linear(only_the_norms(kept * word, [layer]), weights.output_projection)
    assert_dropped(answers(ENCODER, layer, 0.25), logits.log_softmax(dim=-1))


def test_the_target_is_dropped_number_by_number_and_once():
    """The decoder adds nothing to the target's 4 numbers: 16 ways to drop them, no more."""
    count = ways(ENCODER, silent(DECODER))
    assert 8 < count <= 16, f"{count} ways: dropping the target's 4 numbers has 16"


def test_the_source_is_dropped_number_by_number_and_once():
    """The decoder sees the memory through 16 ways to drop what it saw: 16 · 16 are possible."""
    count = ways(silent(ENCODER), LOOKING)
    assert 64 < count <= 256, f"{count} ways: the source's 4 numbers and the 4 seen have 256"


def test_source_and_target_are_dropped_apart():
    """The source's numbers, the target's and those seen: 4096 ways, and 256 if two drop alike."""
    count = ways(silent(ENCODER), silent(DECODER)._replace(cross_attention=DECODER.cross_attention))
    assert count > 256, (
        f"{count} ways: the source's 4 numbers, the target's and the 4 seen have 4096"
    )


def test_the_encoder_layers_are_dropped_too():
    """With two sub-layers more that drop 4 numbers each there are far more ways than 256."""
    count = ways(ENCODER, LOOKING)
    assert count > 256, f"{count} ways: the encoder's sub-layers drop nothing"


def test_chance_comes_from_the_generator():
    """The same seed, the same answer; another seed, another one."""
    weights, config = draw_weights.transformer(SHALLOW), SHALLOW._replace(dropout_rate=0.5)
    chance = [torch.Generator().manual_seed(seed) for seed in (0, 0, 1)]
    first, again, other = (
        run_transformer_forward(SOURCES, TARGETS, weights, config, each) for each in chance
    )
    assert_close(again, first)
    assert not torch.allclose(other, first), "another seed gives the same answer"


def test_each_call_drops_numbers_of_its_own():
    """A generator goes on where it stopped: hundreds of numbers dropped alike have no chance."""
    weights, config = draw_weights.transformer(SHALLOW), SHALLOW._replace(dropout_rate=0.5)
    generator = torch.Generator().manual_seed(0)
    first, second = (
        run_transformer_forward(SOURCES, TARGETS, weights, config, generator) for _ in range(2)
    )
    assert not torch.equal(first, second), "two calls in a row drop the same numbers"


def test_without_a_generator_torch_draws():
    """Torch's default generator moves on, so that the next call drops other numbers."""
    weights, config = draw_weights.transformer(SHALLOW), SHALLOW._replace(dropout_rate=0.5)
    before = torch.get_rng_state()
    run_transformer_forward(SOURCES, TARGETS, weights, config)
    assert not torch.equal(before, torch.get_rng_state()), "the default generator stood still"


def test_one_token_each():
    """One word in, the start token, and one row of log-probabilities: they add up to 1."""
    ids = torch.tensor([[3]]), torch.tensor([[1]])
    log_probs = run_transformer_forward(*ids, draw_weights.transformer(SHALLOW), SHALLOW)
    assert_close(log_probs.exp().sum(dim=-1), expected=[[1.0]])


def test_a_source_of_padding_alone_is_an_answer_too():
    """Nobody to hear, and nothing to see: each row's probabilities add up to 1 all the same."""
    ids = torch.tensor([[0, 0]]), torch.tensor([[1, 3]])
    log_probs = run_transformer_forward(*ids, draw_weights.transformer(SHALLOW), SHALLOW)
    assert_close(log_probs.exp().sum(dim=-1), expected=[[1.0, 1.0]])


def test_half_precision_stays_half():
    """A bfloat16 model makes bfloat16 log-probabilities: sums of 1, as far as it can count."""
    weights = draw_weights.cast(draw_weights.transformer(SHALLOW), torch.bfloat16)
    log_probs = run_transformer_forward(SOURCES, TARGETS, weights, SHALLOW)
    assert_close(log_probs.exp().sum(dim=-1), torch.ones(3, 4))


def test_a_later_word_changes_no_earlier_answer():
    """Other words from the third place of four on: what is said at the first two stays."""
    weights = draw_weights.transformer()
    targets = torch.cat([TARGETS[:, :2], torch.tensor([[5, 2], [3, 3], [9, 10]])], dim=1)
    log_probs = run_transformer_forward(SOURCES, TARGETS, weights, TINY)
    changed = run_transformer_forward(SOURCES, targets, weights, TINY)
    assert_close(changed[:, :2], log_probs[:, :2])


@pytest.mark.parametrize(("pad_id", "word"), [(0, 5), (4, 0)])
def test_padding_of_the_source_changes_nothing_whatever_its_id(pad_id, word):
    """Three pads behind a sentence or none: the same. With another pad id, 0 is a word."""
    config, weights = SHALLOW._replace(pad_id=pad_id), draw_weights.transformer(SHALLOW)
    source = torch.tensor([[3, word, 8, 2]])
    padded = torch.cat([source, torch.full((1, 3), pad_id)], dim=1)
    alone = run_transformer_forward(source, TARGETS[:1], weights, config)
    assert_close(run_transformer_forward(padded, TARGETS[:1], weights, config), alone)


def test_a_sentence_padded_in_a_batch_gives_what_it_gives_alone():
    """Sources of 5, 3 and 2 tokens, targets of 4, 2 and 3: real rows only, the rest is free."""
    weights = draw_weights.transformer()
    targets = torch.tensor([[1, 10, 3, 7], [1, 4, 0, 0], [1, 6, 5, 0]])
    first = run_transformer_forward(SOURCES[:1], targets[:1], weights, TINY)
    second = run_transformer_forward(SOURCES[1:2, :3], targets[1:2, :2], weights, TINY)
    third = run_transformer_forward(SOURCES[2:, :2], targets[2:, :3], weights, TINY)
    batch = run_transformer_forward(SOURCES, targets, weights, TINY)
    real = torch.cat([batch[0], batch[1, :2], batch[2, :3]])
    assert_close(real, torch.cat([first[0], second[0], third[0]]))


def test_tied_weights_learn_from_being_read_too():
    """Torch's gradient, from source, target and output together, in one table."""
    weights, judged = (draw_weights.trainable(draw_weights.transformer(SHALLOW)) for _ in range(2))
    gold = torch.tensor([[10, 3, 7, 2], [4, 4, 9, 2], [6, 5, 8, 2]])[..., None]
    run_transformer_forward(SOURCES, TARGETS, weights, SHALLOW).gather(2, gold).sum().backward()
    torch_answer(SOURCES, TARGETS, judged, SHALLOW).gather(2, gold).sum().backward()
    learned = weights.token_embedding.grad
    assert_close(learned, judged.token_embedding.grad, atol=AGREED[learned.dtype])


@pytest.mark.parametrize("size", draw.sizes("batch heads source target d_k d_ff", count=3), ids=str)
def test_agrees_with_torch_at_other_sizes(size):
    """No bias at the output; every source has padding of its own, id 5 here, and 0 is a word."""
    config = SHALLOW._replace(
        d_model=size.heads * size.d_k, num_heads=size.heads, d_ff=size.d_ff, pad_id=5
    )
    weights = draw_weights.transformer(config, bias=False)
    real = draw.visible(size.batch, size.source)
    sources = draw.token_ids(size.batch, size.source, vocab_size=5).where(real, 5)
    targets = draw.token_ids(size.batch, size.target, vocab_size=5, seed=1)
    log_probs = run_transformer_forward(sources, targets, weights, config)
    expected = torch_answer(sources, targets, weights, config)
    assert_close(log_probs, expected, rtol=0.0, atol=AGREED[log_probs.dtype])
