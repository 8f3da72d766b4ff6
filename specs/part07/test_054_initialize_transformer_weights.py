"""054 · initialize_transformer_weights. Lesson: 054_initialize_transformer_weights.md."""

from math import sqrt

import pytest
import torch

from kata.part07_weights import initialize_transformer_weights
from kata.weights import TransformerConfig
from specs.harness import draw
from specs.harness.check import assert_close, assert_equal
from specs.harness.storages import computed, shared
from specs.harness.values import leaves, tensors

CONFIG = TransformerConfig(
    vocab_size=200,
    d_model=64,
    num_heads=4,
    d_ff=86,
    num_layers=2,
    max_length=9,
    dropout_rate=0.1,
    pad_id=0,
    start_id=1,
    end_id=2,
)
SIDES = ["encoder_layers", "decoder_layers"]


def model(seed=0, **kwargs):
    """A model drawn by a generator of its own."""
    return initialize_transformer_weights(CONFIG, torch.Generator().manual_seed(seed), **kwargs)


def test_table_has_standard_deviation_one_over_root_d():
    """1/√64 = 1/8: eight times what is measured is 1, to a decimal."""
    deviation = model().token_embedding.detach().std().item()
    assert_close(round(deviation * 8, 1), expected=1.0)


def test_table_is_centred():
    """The mean of 12800 numbers strays by 1/8 / √12800 = 0.001: 0.02 is far out."""
    mean = model().token_embedding.detach().mean().item()
    assert abs(mean) < 0.02, "the embedding table is not centred on 0"


def test_two_thirds_of_the_table_lie_within_one_deviation():
    """0.683 of normal numbers do, and 0.577 of evenly spread ones: 0.7, to a decimal."""
    share = (model().token_embedding.detach().abs() < 1 / 8).double().mean().item()
    assert_close(round(share, 1), expected=0.7)


def test_table_has_far_out_numbers():
    """One in 80 lies beyond 2.5 deviations. Evenly spread numbers end at 1.73, cut ones at 2."""
    farthest = model().token_embedding.detach().abs().max().item()
    assert farthest > 2.5 / 8, "no number of the table lies far out, as some normal ones do"


@pytest.mark.parametrize("size", draw.sizes("vocab_size d_model"), ids=str)
def test_table_has_a_row_for_each_word(size):
    """``(vocab_size, d_model)``, whichever is larger."""
    config = CONFIG._replace(**vars(size), num_heads=1, num_layers=1)
    weights = initialize_transformer_weights(config, torch.Generator().manual_seed(0))
    assert_equal(tuple(weights.token_embedding.shape), (size.vocab_size, size.d_model))


def test_padding_has_a_row_like_any_other():
    """64 numbers drawn with deviation 1/8 are not all 0, not even in the row of the padding id."""
    row = model().token_embedding.detach()[CONFIG.pad_id]
    assert row.abs().max() > 0.01, "the row of padding is not drawn"


def test_word_goes_out_by_the_row_it_came_in_by():
    """The output's rows hold the table's numbers."""
    weights = model()
    same = torch.equal(weights.output_projection.weight, weights.token_embedding)
    assert same, "the output projection holds other numbers than the embedding table"


def test_output_is_the_table_itself():
    """The very same tensor: what is learned for one is learned for the other."""
    weights = model()
    same = weights.output_projection.weight is weights.token_embedding
    assert same, "the output projection's weight is another tensor than the embedding table"


def test_output_has_no_bias():
    """Section 3.4 shares a matrix and speaks of no bias."""
    assert model().output_projection.bias is None, "the output projection has a bias"


@pytest.mark.parametrize("num_layers", [0, 1, 3])
def test_both_stacks_are_as_high_as_asked_for(num_layers):
    """N layers for the encoder, N for the decoder."""
    config = CONFIG._replace(num_layers=num_layers, d_model=4, num_heads=1, d_ff=3)
    weights = initialize_transformer_weights(config, torch.Generator().manual_seed(0))
    heights = [len(weights.encoder_layers), len(weights.decoder_layers)]
    assert_equal(heights, expected=[num_layers, num_layers])


@pytest.mark.parametrize("side", SIDES)
def test_a_stack_is_a_tuple(side):
    """Like all containers of weights: nobody can put a layer in or take one out."""
    assert isinstance(getattr(model(), side), tuple), f"the {side} are no tuple"


def test_every_layer_has_its_own_numbers():
    """Two layers, two sides: for each, which of the four is the first with its query matrix."""
    weights = model()
    layers = (*weights.encoder_layers, *weights.decoder_layers)
    throws = [layer.self_attention.query.weight.tolist() for layer in layers]
    assert_equal([throws.index(throw) for throw in throws], expected=[0, 1, 2, 3])


def test_only_table_and_output_share_storage():
    """2 · 16 tensors, 2 · 26 tensors and the table: 85 pieces of memory for 86 names."""
    assert_equal(shared(model()), expected=["output_projection.weight"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_every_tensor_is_a_leaf(dtype):
    """Nothing computed: a gradient stays only in a tensor that stands at the beginning."""
    assert_equal(computed(model(dtype=dtype)), expected=[])


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("side", SIDES)
def test_matrices_of_the_layers_are_evenly_spread(side, layer):
    """√(6 / (64 + 86)) = 1/5: none beyond it, some near it, deviation 0.2/√3, to a decimal."""
    matrix = getattr(model(), side)[layer].feed_forward.expand.weight.detach()
    farthest, ratio = matrix.abs().max().item() * 5, matrix.std().item() * 5 * sqrt(3)
    assert farthest < 1 + 1e-6, f"layer {layer} of the {side} goes beyond ±0.2"
    assert_close([round(farthest, 1), round(ratio, 1)], expected=[1.0, 1.0])


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("side", SIDES)
def test_no_matrix_is_drawn_smaller_for_a_high_stack(side, layer):
    """What attention hands on comes near √(6 / (64 + 64)) = 0.217: no depth stands in the rule."""
    matrix = getattr(model(), side)[layer].self_attention.output.weight.detach()
    assert_close(round(matrix.abs().max().item() / sqrt(6 / 128), 1), expected=1.0)


@pytest.mark.parametrize("side", SIDES)
def test_norms_change_nothing_yet(side):
    """Gains 1 and biases 0, in the last layer too."""
    norm = getattr(model(), side)[-1].feed_forward_norm
    assert_close(tuple(norm), expected=(torch.ones(64), torch.zeros(64)))


@pytest.mark.parametrize("side", SIDES)
def test_biases_are_zero(side):
    """In the last layer too."""
    bias = getattr(model(), side)[-1].feed_forward.expand.bias
    assert_close(bias, expected=torch.zeros(86))


def test_same_seed_gives_the_same_model():
    """Two generators with seed 3: every one of 86 tensors is the same, number by number."""
    first, second = model(3), model(3)
    pairs = zip(leaves(first), tensors(second), strict=False)
    other = [path for (path, tensor), twin in pairs if not torch.equal(tensor, twin)]
    assert other == [], "with the same seed some tensors differ"


def test_next_model_is_another_one():
    """A generator goes on where it stopped."""
    generator = torch.Generator().manual_seed(0)
    first = initialize_transformer_weights(CONFIG, generator).token_embedding
    second = initialize_transformer_weights(CONFIG, generator).token_embedding
    assert not torch.equal(first, second), "two models in a row are equal"


def test_without_a_generator_torch_draws():
    """Torch's default generator moves on, so that the next model is another one."""
    before = torch.get_rng_state()
    initialize_transformer_weights(CONFIG)
    assert not torch.equal(before, torch.get_rng_state()), "the default generator stood still"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_type_is_the_one_asked_for(dtype):
    """In every type the table has the standard deviation 1/8, to a decimal."""
    deviation = model(dtype=dtype).token_embedding.detach().double().std().item()
    assert_close(round(deviation * 8, 1), expected=1.0)
