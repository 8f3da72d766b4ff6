"""084 · flash_attention_forward. Lesson: 084_flash_attention_forward.md."""

from math import exp, inf, log

import pytest
import torch
from torch.nn import functional

from kata.part12_flash_attention import flash_attention_forward
from specs.harness import draw
from specs.harness.check import assert_close, rejects
from specs.harness.live_bytes import measured

QUERY = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # d_k = 4, so scores are halved
KEYS = torch.tensor([[log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
VALUES = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
TILES = pytest.mark.parametrize("sizes", [(3, 2), (2, 4), (128, 128)], ids=str)
CAUSAL = pytest.mark.parametrize("case", [False, True], ids=["all", "causal"])


def test_two_keys_in_two_tiles_by_hand():
    """Scores ln 3 and 0: output (3, 2), and ln (3 + 1) = ln 4."""
    answer = flash_attention_forward(QUERY, KEYS, VALUES, query_block=1, key_block=1)
    assert_close(answer, expected=([[3.0, 2.0]], [log(4)]))


def test_every_query_sees_every_key_unless_told_otherwise():
    """Two equal queries, nothing said of causal: (3, 2) for both."""
    answer = flash_attention_forward(QUERY.expand(2, 4), KEYS, VALUES)
    assert_close(answer, expected=([[3.0, 2.0]] * 2, [log(4)] * 2))


def test_causal_by_hand():
    """Query 0 sees key 0 alone: (4, 0) and ln 3. Query 1 sees both: (3, 2) and ln 4."""
    answer = flash_attention_forward(QUERY.expand(2, 4), KEYS, VALUES, True, 1, 1)
    assert_close(answer, expected=([[4.0, 0.0], [3.0, 2.0]], [log(3), log(4)]))


def test_last_query_sees_every_key():
    """One query, two keys, causal: it stands at the end, where the newest token stands."""
    answer = flash_attention_forward(QUERY, KEYS, VALUES, causal=True)
    assert_close(answer, expected=([[3.0, 2.0]], [log(4)]))


@pytest.mark.parametrize("query_block", [1, 2, 3])
def test_query_before_every_key_gets_zeros(query_block):
    """Three queries, two keys: query 0 sees none, query 1 one, query 2 both."""
    answer = flash_attention_forward(QUERY.expand(3, 4), KEYS, VALUES, True, query_block, 1)
    expected = ([[0.0, 0.0], [4.0, 0.0], [3.0, 2.0]], [-inf, log(3), log(4)])
    assert_close(answer, expected)


def test_query_before_every_key_has_gradient_zero():
    """It moves nothing and nothing moves it: 0, not NaN, through output and log-sum-exp alike."""
    queries = QUERY.repeat(3, 1).requires_grad_()
    output, log_sum_exp = flash_attention_forward(queries, KEYS, VALUES, True, 2, 1)
    (output[0].sum() + log_sum_exp[0]).backward()
    assert_close(queries.grad, torch.zeros(3, 4))


def test_last_tile_is_not_filled_up():
    """Three equal keys in tiles of two, all values 3: the output is 3, and the log-sum-exp ln 3."""
    keys, values = torch.zeros(3, 4), torch.full((3, 1), 3.0)
    answer = flash_attention_forward(QUERY, keys, values, query_block=2, key_block=2)
    assert_close(answer, expected=([[3.0]], [log(3)]))


def test_scores_far_from_zero():
    """Scores −64000 and −64008, then 8000 and 8001: the output knows their differences only."""
    queries, keys = torch.tensor([[-1.0], [0.125]]), torch.tensor([[64000.0], [64008.0]])
    values = torch.tensor([[1.0], [2.0]])
    answer = flash_attention_forward(queries, keys, values, False, 1, 1)
    output = [[1 + exp(-8) / (1 + exp(-8))], [1 + 1 / (1 + exp(-1))]]
    assert_close(answer, expected=(output, [-64000 + log(1 + exp(-8)), 8001 + log(1 + exp(-1))]))


def test_small_shares_are_not_lost_in_half_precision():
    """One key at 0 and 64 at −7, four at a time: 1 + 64 e⁻⁷ = 1.06; in bfloat16 for ever 1."""
    keys, values = torch.tensor([[0.0]] + [[-7.0]] * 64), torch.tensor([[1.0]] + [[0.0]] * 64)
    query, keys, values = torch.ones(1, 1).bfloat16(), keys.bfloat16(), values.bfloat16()
    output, _ = flash_attention_forward(query, keys, values, key_block=4)
    assert_close(output, expected=[[1 / (1 + 64 * exp(-7))]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_log_sum_exp_of_halves_stays_float32(dtype):
    """Four equal keys at 256: in bfloat16 256 + ln 4 would be 258, and weights only half of 1/4."""
    queries, keys = torch.full((1, 1), 16.0, dtype=dtype), torch.full((4, 1), 16.0, dtype=dtype)
    output, log_sum_exp = flash_attention_forward(queries, keys, keys / 2, False, 1, 3)
    assert_close(output, expected=[[8.0]])
    assert_close(log_sum_exp, expected=[256 + log(4)], rtol=1e-6)


@TILES
@CAUSAL
def test_tiles_of_any_size_give_torchs_answer(sizes, case):
    """Four queries and five keys, each louder than the last, to ten digits in float64."""
    queries, keys = draw.floats(4, 4).double().abs(), draw.floats(5, 4, seed=1).double()
    keys, values = keys.sort(dim=0).values, draw.floats(5, 3, seed=2).double()
    visible = torch.ones(4, 5, dtype=torch.bool).tril(1 if case else 5)
    answer = flash_attention_forward(queries, keys, values, case, *sizes)
    scores = (queries @ keys.mT / 2).masked_fill(~visible, -inf)
    output = functional.scaled_dot_product_attention(queries, keys, values, visible)
    assert_close(answer, expected=(output, torch.logsumexp(scores, dim=-1)))


@pytest.mark.parametrize("size", draw.sizes("batch heads queries more d_k d_v"), ids=str)
def test_equals_torch_and_so_do_its_gradients(size):
    """Values and gradients in float64; causal is a mask whose last row is all True."""
    lead, length = (size.batch, size.heads), size.queries + size.more
    queries = draw.floats(*lead, size.queries, size.d_k).double().requires_grad_()
    keys = draw.floats(*lead, length, size.d_k, seed=1).double().requires_grad_()
    values = draw.floats(*lead, length, size.d_v, seed=2).double().requires_grad_()
    visible = torch.ones(size.queries, length, dtype=torch.bool).tril(size.more)
    output, _ = flash_attention_forward(queries, keys, values, True, 4, 5)
    expected = functional.scaled_dot_product_attention(queries, keys, values, visible)
    assert_close(output, expected)
    sent_back = draw.floats(*lead, size.d_v, size.queries, seed=3).double().mT
    grads = torch.autograd.grad(output, (queries, keys, values), sent_back)
    assert_close(grads, torch.autograd.grad(expected, (queries, keys, values), sent_back))


def test_keys_may_be_shared_by_the_heads():
    """Two heads ask the same keys: each gets (4, 0) and (3, 2)."""
    answer = flash_attention_forward(QUERY.expand(2, 2, 4), KEYS, VALUES, True, 1, 1)
    assert_close(answer, expected=([[[4.0, 0.0], [3.0, 2.0]]] * 2, [[log(3), log(4)]] * 2))


def test_queries_may_be_shared_by_the_heads():
    """Three queries ask in two heads; where they see no key, each head has a row of zeros."""
    keys, values = KEYS.expand(2, 2, 4), VALUES.expand(2, 2, 2)
    answer = flash_attention_forward(QUERY.expand(3, 4), keys, values, True, 1, 1)
    output = [[0.0, 0.0], [4.0, 0.0], [3.0, 2.0]]
    assert_close(answer, expected=([output] * 2, [[-inf, log(3), log(4)]] * 2))


def test_memory_does_not_grow_with_the_square():
    """256 queries and keys in tiles of 16: what is new at once is under a tenth of 256 × 256."""
    queries, keys, values = (draw.floats(256, 3, seed=seed) for seed in range(3))
    with measured(flash_attention_forward) as meter:
        flash_attention_forward(queries, keys, values, True, 16, 16)
    share = meter.peak / (256 * 256 * queries.element_size())
    assert share < 0.1, f"{share:.4f} of a table of scores was alive at once, 0.1 is too much"


def test_tiles_are_of_128_by_128_unless_told_otherwise():
    """130 queries and keys of width 1: no new tensor holds more than 16384 numbers."""
    queries = draw.floats(130, 1)
    with measured(flash_attention_forward) as meter:
        flash_attention_forward(queries, queries, queries)
    assert meter.largest <= 16384, f"a new tensor holds {meter.largest} numbers, a tile has 16384"


@pytest.mark.parametrize("sizes", [(64, 2), (2, 64)], ids=str)
def test_each_side_of_a_tile_is_as_long_as_was_asked_for(sizes):
    """64 queries and keys of width 1, tiles of 64 × 2: no new tensor is larger than 128."""
    queries = draw.floats(64, 1)
    with measured(flash_attention_forward) as meter:
        flash_attention_forward(queries, queries, queries, False, *sizes)
    assert meter.largest <= 128, f"a new tensor holds {meter.largest} numbers, a tile has 128"


@pytest.mark.parametrize(
    ("length", "sizes", "tiles"),
    [(8, (2, 2), 10), (8, (4, 2), 6), (8, (2, 4), 6), (4, (2, 2), 3), (12, (2, 2), 18)],
    ids=str,
)
def test_hidden_tiles_cost_nothing(length, sizes, tiles):
    """Eight queries, causal: of 4 × 4 tiles 2 wide 10 may be looked at, each for two products."""
    queries, keys = draw.floats(2, 8, 3), draw.floats(2, length, 3, seed=1)
    values = draw.floats(2, length, 5, seed=2)
    with measured(flash_attention_forward) as meter:
        flash_attention_forward(queries, keys, values, True, *sizes)
    most = 2 * tiles * sizes[0] * sizes[1] * (3 + 5)
    assert meter.multiplications <= most, f"{meter.multiplications} multiplications, {most} do"


@pytest.mark.parametrize("sizes", [(0, 1), (-2, 1), (1, 0), (1, -2)], ids=str)
def test_tile_without_rows_or_columns_is_an_error(sizes):
    """The one that is below 1 is named."""
    with rejects(ValueError, naming=min(sizes)):
        flash_attention_forward(QUERY, KEYS, VALUES, False, *sizes)


def test_values_without_keys_are_an_error():
    """Five values for two keys: cut into tiles, the last three would be lost without a word."""
    with rejects(ValueError, naming=(2, 5)):
        flash_attention_forward(QUERY, KEYS, torch.ones(5, 2))
