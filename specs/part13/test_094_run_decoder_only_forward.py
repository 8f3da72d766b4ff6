"""094 · run_decoder_only_forward. Lesson: 094_run_decoder_only_forward.md."""

from contextlib import suppress

import pytest
import torch

from kata.part07_weights import gather_parameters
from kata.part13_decoder_only import run_decoder_only_forward
from kata.weights import DecoderOnlyWeights
from specs.harness import draw, draw_decoder_only, draw_weights, torch_decoder_only
from specs.harness.check import assert_close
from specs.harness.draw_decoder_only import TINY

# Three texts of 5, 3 and 2 words; id 0 is padding, as TINY has it.
LONG, SHORT, PAIR = (
    torch.tensor([[3, 4, 5, 6, 2]]),
    torch.tensor([[7, 8, 2]]),
    torch.tensor([[9, 2]]),
)
TEXTS = torch.tensor([[3, 4, 5, 6], [7, 8, 2, 3], [9, 2, 9, 9]])
AGREED = {torch.float32: 1e-5, torch.float64: 1e-10}
SHALLOW = TINY._replace(num_layers=1)

# No layers: a word, its loudness taken off, is scored by the table that it came from.
TABLE = torch.tensor([[7.0, 1.0], [1.0, 7.0], [5.0, 5.0]])
BARE = DecoderOnlyWeights(TABLE, (), final_norm=torch.tensor([5.0, 10.0]))
SMALL = TINY._replace(
    vocab_size=3, d_model=2, num_heads=1, num_kv_heads=1, num_layers=0, norm_eps=0.0
)


def test_model_without_layers_by_hand():
    """(7, 1), loudness 5, becomes (7, 2): with the rows (7, 1), (1, 7), (5, 5) that is 51, 21, 45.

    (5, 5) becomes (5, 10): 45, 75, 75.
    """
    logits = run_decoder_only_forward(torch.tensor([[0, 2]]), BARE, SMALL._replace(pad_id=1))
    assert_close(logits, expected=[[[51.0, 21.0, 45.0], [45.0, 75.0, 75.0]]])


def test_final_norm_uses_the_epsilon_of_the_config():
    """With ε = 11 the root is 6 where it was 5: 51 · 5/6 = 42.5, 17.5, 37.5."""
    config = SMALL._replace(pad_id=1, norm_eps=11.0)
    logits = run_decoder_only_forward(torch.tensor([[0]]), BARE, config)
    assert_close(logits, expected=[[[42.5, 17.5, 37.5]]])


def test_table_learns_from_being_scored_and_from_being_read():
    """Word 2 is scored: its row learns (7, 2), what word 0 came to; row 0 learns from being read.

    Read, (7, 1) goes through x / loudness: the slope is 0 along (7, 1), and 1/5 across it.
    """
    table = TABLE.clone().requires_grad_()
    weights = BARE._replace(token_embedding=table, final_norm=torch.tensor([5.0, 5.0]))
    run_decoder_only_forward(torch.tensor([[0]]), weights, SMALL._replace(pad_id=1))[
        0, 0, 2
    ].backward()
    # 5 · (5, 5) / 5, less its part along (7, 1): (5, 5) − 40/50 · (7, 1) = (−0.6, 4.2)
    assert_close(table.grad, expected=[[-0.6, 4.2], [0.0, 0.0], [7.0, 1.0]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_agrees_with_torch(dtype):
    """Two layers: torch's own functions, with the same weights, in float64."""
    weights = draw_weights.cast(draw_decoder_only.model(), dtype)
    logits = run_decoder_only_forward(TEXTS, weights, TINY)
    expected = torch_decoder_only.model(TEXTS, weights, TINY)
    assert_close(logits, expected, atol=AGREED[dtype])


@pytest.mark.parametrize(
    "size", draw.sizes("batch kv_heads length d_ff", repeats=2, pairs=3), ids=str
)
def test_agrees_with_torch_at_other_sizes(size):
    """No biases, another base and ε; padding is id 5, and 0 is a word."""
    heads = size.kv_heads * size.repeats
    config = SHALLOW._replace(
        d_model=heads * 2 * size.pairs,
        num_heads=heads,
        num_kv_heads=size.kv_heads,
        d_ff=size.d_ff,
        pad_id=5,
        rope_base=50.0,
        norm_eps=0.1,
    )
    weights = draw_decoder_only.model(config, bias=False)
    texts = draw.token_ids(size.batch, size.length, vocab_size=5)
    logits = run_decoder_only_forward(texts, weights, config)
    expected = torch_decoder_only.model(texts, weights, config)
    assert_close(logits, expected, atol=AGREED[logits.dtype])


def test_later_word_changes_no_earlier_answer():
    """Other words from the third place of four on: what is said at the first two stays."""
    weights = draw_decoder_only.model(SHALLOW)
    changed = torch.cat([TEXTS[:, :2], torch.tensor([[9, 3], [4, 10], [5, 6]])], dim=1)
    logits = run_decoder_only_forward(TEXTS, weights, SHALLOW)
    assert_close(run_decoder_only_forward(changed, weights, SHALLOW)[:, :2], logits[:, :2])


def test_word_is_known_by_its_place():
    """3, 4, 5 and 4, 3, 5 end on the same word after the same words: the answers differ."""
    weights = draw_decoder_only.model(SHALLOW)
    logits = run_decoder_only_forward(torch.tensor([[3, 4, 5], [4, 3, 5]]), weights, SHALLOW)
    assert not torch.allclose(logits[0, 2], logits[1, 2]), "the order of the words plays no part"


def alone(weights, config=TINY):
    """Run each of the three texts by itself, before padding comes: what is said there is free."""
    return [run_decoder_only_forward(text, weights, config) for text in (LONG, SHORT, PAIR)]


@pytest.mark.parametrize("pad_id", [0, 10])
def test_text_padded_on_the_left_gives_what_it_gives_alone(pad_id):
    """Texts of 5, 3 and 2 words end together: at the real words all is as it was."""
    config, weights = TINY._replace(pad_id=pad_id), draw_decoder_only.model()
    expected = torch.cat(alone(weights, config), dim=1)
    p = pad_id
    batch = torch.tensor([[3, 4, 5, 6, 2], [p, p, 7, 8, 2], [p, p, p, 9, 2]])
    logits = run_decoder_only_forward(batch, weights, config)
    assert_close(torch.cat([logits[:1], logits[1:2, 2:], logits[2:, 3:]], dim=1), expected)


def test_text_padded_on_the_right_gives_what_it_gives_alone():
    """The same texts begin together."""
    weights = draw_decoder_only.model(SHALLOW)
    expected = torch.cat(alone(weights, SHALLOW), dim=1)
    batch = torch.tensor([[3, 4, 5, 6, 2], [7, 8, 2, 0, 0], [9, 2, 0, 0, 0]])
    logits = run_decoder_only_forward(batch, weights, SHALLOW)
    assert_close(torch.cat([logits[:1], logits[1:2, :3], logits[2:, :2]], dim=1), expected)


def test_padding_between_two_words_is_not_heard():
    """3, padding, 4: with another row for padding in the table, 4 scores all other words alike."""
    weights, text = draw_decoder_only.model(SHALLOW), torch.tensor([[3, 0, 4]])
    table = weights.token_embedding.clone()
    table[0] += torch.arange(8.0)
    alone(weights, SHALLOW)
    before = run_decoder_only_forward(text, weights, SHALLOW)
    logits = run_decoder_only_forward(text, weights._replace(token_embedding=table), SHALLOW)
    assert_close(logits[:, 2, 1:], before[:, 2, 1:])


def test_padding_teaches_nothing():
    """What the real words teach is what they teach without padding, and nothing is NaN."""
    weights = draw_weights.cast(draw_decoder_only.model(), torch.float64)
    padded, plain = (draw_weights.trainable(weights) for _ in range(2))
    sum(logits.sin().sum() for logits in alone(plain)).backward()
    batch = torch.tensor([[3, 4, 5, 6, 2], [0, 0, 7, 8, 2], [0, 0, 0, 9, 2]])
    logits = run_decoder_only_forward(batch, padded, TINY)
    logits[batch != 0].sin().sum().backward()
    learned = [parameter.grad for parameter in gather_parameters(padded)]
    expected = [parameter.grad for parameter in gather_parameters(plain)]
    assert_close(learned, expected, atol=1e-10)


def test_text_may_be_as_long_as_max_length():
    """Nine words where nine are allowed: torch agrees."""
    text, weights = draw.token_ids(1, 9, vocab_size=10) + 1, draw_decoder_only.model(SHALLOW)
    logits = run_decoder_only_forward(text, weights, SHALLOW)
    assert_close(
        logits, torch_decoder_only.model(text, weights, SHALLOW), atol=AGREED[logits.dtype]
    )


def test_longer_text_is_not_cut_in_silence():
    """Ten words where nine are allowed: ten answers, or an error."""
    text, weights = torch.ones(1, 10, dtype=torch.int64), draw_decoder_only.model(SHALLOW)
    with suppress(IndexError, ValueError, RuntimeError):
        logits = run_decoder_only_forward(text, weights, SHALLOW)
        assert logits.shape == (1, 10, 11), f"ten words, answers {tuple(logits.shape)}"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_half(dtype):
    """The model without layers again: 51, 21 and 45 are exact."""
    weights = draw_weights.cast(BARE, dtype)
    logits = run_decoder_only_forward(torch.tensor([[0]]), weights, SMALL._replace(pad_id=1))
    assert_close(logits, expected=[[[51.0, 21.0, 45.0]]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_through_a_layer(dtype):
    """Torch's answer, as far as a half type can count."""
    weights = draw_weights.cast(draw_decoder_only.model(SHALLOW), dtype)
    logits = run_decoder_only_forward(TEXTS, weights, SHALLOW)
    expected = torch_decoder_only.model(TEXTS, weights, SHALLOW)
    rounding = 32 * torch.finfo(dtype).eps  # logits reach 10, and are rounded a dozen times
    assert_close(logits, expected, atol=rounding)
