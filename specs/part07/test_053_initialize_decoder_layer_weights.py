"""053 · initialize_decoder_layer_weights. Lesson: 053_initialize_decoder_layer_weights.md."""

from math import sqrt
from operator import attrgetter

import pytest
import torch

from kata.part07_weights import initialize_decoder_layer_weights
from kata.weights import TransformerConfig
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal
from specs.harness.storages import computed, shared, spread
from specs.harness.values import tensors

CONFIG = TransformerConfig(
    vocab_size=11,
    d_model=48,
    num_heads=4,
    d_ff=102,
    num_layers=2,
    max_length=9,
    dropout_rate=0.1,
    pad_id=0,
    start_id=1,
    end_id=2,
)
BOUNDS = [
    ("self_attention.query", 0.25),  # √(6 / (48 + 48)) = √(1/16)
    ("self_attention.key", 0.25),
    ("self_attention.value", 0.25),
    ("self_attention.output", 0.25),
    ("cross_attention.query", 0.25),
    ("cross_attention.key", 0.25),
    ("cross_attention.value", 0.25),
    ("cross_attention.output", 0.25),
    ("feed_forward.expand", 0.2),  # √(6 / (48 + 102)) = √(1/25)
    ("feed_forward.contract", 0.2),
]
NORMS = ["self_attention_norm", "cross_attention_norm", "feed_forward_norm"]
BIASES = [*(name for name, _ in BOUNDS), *NORMS]


def layer(seed=0, **kwargs):
    """A layer drawn by a generator of its own."""
    return initialize_decoder_layer_weights(CONFIG, torch.Generator().manual_seed(seed), **kwargs)


@pytest.mark.parametrize(("name", "bound"), BOUNDS)
def test_no_number_lies_outside_the_bound(name, bound):
    """±√(6 / (d_in + d_out)): ±1/4 in both attentions, ±1/5 in the feed-forward network."""
    matrix = attrgetter(name)(layer()).weight.detach()
    farthest = matrix.abs().max().item() / bound
    assert farthest <= 1 + 1e-6, f"{name} goes out to {farthest:.1f} times ±{bound}"


@pytest.mark.parametrize(("name", "bound"), BOUNDS)
def test_numbers_come_close_to_the_bound_on_both_sides(name, bound):
    """Of 2304 or more, some lie in the outermost twentieth: all missing it has chance 10^−50."""
    matrix = attrgetter(name)(layer()).weight.detach()
    reached = min(matrix.max().item(), -matrix.min().item()) / bound
    assert reached > 0.95, f"{name} reaches out to {reached:.1f} times ±{bound} only"


@pytest.mark.parametrize(("name", "bound"), BOUNDS)
def test_numbers_are_spread_evenly(name, bound):
    """Evenly within ±b means standard deviation b/√3: the ratio of the two is 1, to a decimal."""
    matrix = attrgetter(name)(layer()).weight.detach()
    ratio = matrix.std().item() / (bound / sqrt(3))
    assert_close(round(ratio, 1), expected=1.0)


@pytest.mark.parametrize("name", BIASES)
def test_biases_are_zero(name):
    """Nothing is known yet that would favour one output: ten biases, and those of three norms."""
    bias = attrgetter(name)(layer()).bias
    assert_close(bias, expected=torch.zeros(bias.shape))


@pytest.mark.parametrize("name", NORMS)
def test_gains_are_one(name):
    """A norm starts as a norm and nothing else."""
    assert_close(attrgetter(name)(layer()).gain, expected=torch.ones(48))


def test_rows_are_outputs():
    """The network goes from 48 to 102 and back: matrices (102, 48) and (48, 102)."""
    expand, contract = layer().feed_forward
    assert_equal([tuple(expand.weight.shape), tuple(contract.weight.shape)], [(102, 48), (48, 102)])


@pytest.mark.parametrize("size", draw.sizes("d_model d_ff"), ids=str)
def test_bound_follows_the_sizes(size):
    """√(6 / (d_model + d_ff)), whichever of the two is larger."""
    config = CONFIG._replace(d_model=size.d_model, d_ff=size.d_ff, num_heads=1)
    weights = initialize_decoder_layer_weights(config, torch.Generator().manual_seed(0))
    bound = sqrt(6 / (size.d_model + size.d_ff)) * (1 + 1e-6)
    assert weights.feed_forward.expand.weight.abs().max() <= bound, "a number lies outside"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_every_tensor_is_a_leaf(dtype):
    """Nothing computed: a gradient stays only in a tensor that stands at the beginning."""
    assert_equal(computed(layer(dtype=dtype)), expected=[])


def test_no_two_tensors_share_storage():
    """Ten matrices, thirteen biases and three gains are 26 pieces of memory."""
    assert_equal(shared(layer()), expected=[])


def test_every_number_has_a_place_of_its_own():
    """One zero spread out over a bias is a single number: 48 of 4 bytes each take 192 bytes."""
    assert_equal(spread(layer()), expected=[])


def test_each_matrix_has_its_own_numbers():
    """Two attentions of four projections are eight throws, not one or four throws copied."""
    weights = layer()
    attentions = (*weights.self_attention, *weights.cross_attention)
    throws = {tuple(linear.weight.flatten().tolist()) for linear in attentions}
    assert_equal(len(throws), expected=8)


def test_same_seed_gives_the_same_layer():
    """Two generators with seed 3 draw the same numbers."""
    assert_equal(tensors(layer(3))[0], expected=tensors(layer(3))[0])


def test_next_layer_is_another_one():
    """A generator goes on where it stopped."""
    generator = torch.Generator().manual_seed(0)
    first = initialize_decoder_layer_weights(CONFIG, generator).feed_forward.expand.weight
    second = initialize_decoder_layer_weights(CONFIG, generator).feed_forward.expand.weight
    assert not torch.equal(first, second), "two layers in a row are equal"


def test_without_a_generator_torch_draws():
    """Torch's default generator moves on, so that the next layer is another one."""
    before = torch.get_rng_state()
    initialize_decoder_layer_weights(CONFIG)
    assert not torch.equal(before, torch.get_rng_state()), "the default generator stood still"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_type_is_the_one_asked_for(dtype):
    """In every type the numbers have the standard deviation of ±1/4, to a decimal."""
    matrix = layer(dtype=dtype).cross_attention.query.weight.detach().double()
    ratio = matrix.std().item() / (0.25 / sqrt(3))
    assert_close(round(ratio, 1), expected=1.0)
