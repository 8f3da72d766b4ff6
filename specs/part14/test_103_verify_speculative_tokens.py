"""103 · verify_speculative_tokens. Lesson: 103_verify_speculative_tokens.md.

Chance is taken out of chance: a mode stands in for ``torch.rand`` and ``torch.multinomial``, goes
through all that they could draw, and adds up the probabilities. The sums are exact.
"""

import itertools

import pytest
import torch
from torch.overrides import TorchFunctionMode

from kata.part14_fast_decoding import verify_speculative_tokens
from specs.harness.boundary import is_inside
from specs.harness.check import assert_close, assert_equal
from specs.harness.values import kind_of

GRID = 4  # torch.rand draws 1/8, 3/8, 5/8 or 7/8: enough where every p / q is a multiple of 1/4


class Draws(TorchFunctionMode):
    """Draws what it is told to, and the first there is when it is told no more."""

    def __init__(self, told, rand=None):
        super().__init__()
        self.told, self.chances, self.rand = list(told), [], rand

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Answer for the two that draw; let everything else through."""
        name = getattr(func, "__name__", "")
        if name not in ("rand", "multinomial"):
            return func(*args, **(kwargs or {}))
        if not is_inside():
            raise RuntimeError("the judge does not draw here")
        return self.drawn_evenly(args, kwargs or {}) if name == "rand" else self.drawn_from(args[0])

    def drawn_evenly(self, args, kwargs):
        """Numbers from 0 to 1."""
        size = kwargs.get("size", args[0] if args and not isinstance(args[0], int) else args)
        count = torch.Size(size).numel()
        shares = [1 / GRID] * GRID
        drawn = [
            (self.choose(shares) + 0.5) / GRID if self.rand is None else self.rand
            for _ in range(count)
        ]
        return torch.tensor(drawn, dtype=kwargs.get("dtype")).reshape(size)

    def drawn_from(self, weights):
        """One word."""
        row = weights.detach().flatten().double()
        if row.sum() <= 0 or row.min() < 0:
            raise RuntimeError("invalid multinomial distribution")
        word = self.choose((row / row.sum()).tolist())
        return torch.full((*weights.shape[:-1], 1), word)

    def choose(self, shares):
        """Note how likely each choice is, and make one."""
        turn = len(self.chances)
        possible = [choice for choice, share in enumerate(shares) if share > 0]
        choice = self.told[turn] if turn < len(self.told) else possible[0]
        self.chances.append((choice, possible, shares[choice]))
        return choice


def tensors(draft, target, tokens):
    """The arguments; without a guess the draft has no rows."""
    rows = torch.tensor(draft).reshape(len(tokens), len(target[0]))
    return rows, torch.tensor(target), torch.tensor(tokens, dtype=torch.int64)


def ids(answer):
    """What came back, as a tuple: a row of ids."""
    assert isinstance(answer, torch.Tensor), f"a tensor is to come back, not {kind_of(answer)}"
    assert answer.dim() == 1, f"a row of ids is to come back, not shape {tuple(answer.shape)}"
    return tuple(answer.tolist())


def outcomes(draft, target, tokens):
    """Everything that may come back, with its probability."""
    found, queue = [], [()]
    while queue:
        told = queue.pop()
        with Draws(told) as draws:
            answer = verify_speculative_tokens(*tensors(draft, target, tokens))
        made = [choice for choice, _, _ in draws.chances]
        for turn in range(len(told), len(made)):
            queue += [(*made[:turn], other) for other in draws.chances[turn][1][1:]]
        chance = torch.tensor([share for _, _, share in draws.chances]).double().prod().item()
        found.append((ids(answer), chance))
    return found


def table(pairs):
    """Add up what is said twice; in order, and without what never happens."""
    sums = {}
    for said, chance in pairs:
        sums[said] = sums.get(said, 0.0) + chance
    return {said: sums[said] for said in sorted(sums) if sums[said] > 1e-12}


def test_accepted_with_p_over_q_by_hand():
    """Word 0: 0.25 / 0.5 = 1/2, then word 2. If not, all of max(p − q, 0) is on word 1."""
    answer = outcomes([[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]], [0])
    assert_close(table(answer), {(0, 2): 0.5, (1,): 0.5})


def test_never_rejected_where_the_target_likes_it_better():
    """p ≥ q: always kept; what follows is drawn from the last row, 1/4 and 3/4."""
    answer = outcomes([[0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75]], [0])
    assert_close(table(answer), {(0, 0): 0.25, (0, 1): 0.75})


def test_replaced_from_what_is_left_over():
    """p − q = (−½, ⅜, ⅛): three quarters of the replacements are word 1, a quarter word 2."""
    answer = outcomes([[0.5, 0.25, 0.25]], [[0.0, 0.625, 0.375], [1.0, 0.0, 0.0]], [0])
    assert_close(table(answer), {(1,): 0.75, (2,): 0.25})


def test_nothing_is_kept_behind_the_first_rejected():
    """Word 0 is impossible for the target at the first place; the second guess would be perfect."""
    draft = [[1.0, 0.0], [0.0, 1.0]]
    answer = outcomes(draft, [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert_close(table(answer), {(1,): 1.0})


def test_each_guess_is_drawn_for_by_itself():
    """1/2 and 1/2: a quarter of the time both are kept, and not half of the time."""
    half = [0.5, 0.5]
    sure = [1.0, 0.0]
    answer = outcomes([sure, sure], [half, half, sure], [0, 0])
    assert_close(table(answer), {(0, 0, 0): 0.25, (0, 1): 0.25, (1,): 0.5})


@pytest.mark.parametrize("drawn", [0.0, 0.75])
def test_impossible_word_is_never_kept(drawn):
    """torch.rand may draw exactly 0: even then p = 0 is not enough."""
    with Draws([], rand=drawn):
        answer = verify_speculative_tokens(*tensors([[0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]], [0]))
    assert_equal(answer, [1])


SURE = (
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [1, 0],
)


def test_draws_from_the_generator():
    """The outcome is sure, 1, 0, 2, but something is drawn, and not from everybody's generator."""
    answer = verify_speculative_tokens(*tensors(*SURE), generator=torch.Generator())
    assert_equal(answer, [1, 0, 2])


def test_replacement_is_drawn_from_the_generator_too():
    """Word 0 is impossible for the target, and word 1 takes its place."""
    given = tensors([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [0])
    answer = verify_speculative_tokens(*given, generator=torch.Generator())
    assert_equal(answer, [1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_precisions(dtype):
    """Probabilities in half and in double; the ids are int64, where the probabilities are."""
    draft, target, tokens = tensors(*SURE)
    assert_equal(verify_speculative_tokens(draft.to(dtype), target.to(dtype), tokens), [1, 0, 2])


# How likely each of two words is after each; row 2 begins. Every p / q is n/4, or above 1.
TARGET = [[0.25, 0.75], [0.5, 0.5], [0.125, 0.875]]
DRAFT = [[1.0, 0.0], [1 / 3, 2 / 3], [0.5, 0.5]]
# Three words, one guess.
WIDE_TARGET = [[0.125, 0.25, 0.625]] * 4
WIDE_DRAFT = [[0.25, 0.5, 0.25]] * 4


def chain(rows, words):
    """How likely a model of such rows says these words, one after the other."""
    chance, last = 1.0, -1
    for word in words:
        chance, last = chance * rows[last][word], word
    return chance


@pytest.mark.parametrize(
    ("target", "draft", "guesses"),
    [(TARGET, DRAFT, 1), (TARGET, DRAFT, 2), (WIDE_TARGET, WIDE_DRAFT, 1), (TARGET, DRAFT, 0)],
    ids=["one guess", "two guesses", "three words", "no guess"],
)
def test_joint_distribution_is_the_targets(target, draft, guesses):
    """Whatever the draft guesses: all K + 1 words together are as likely as the target has them.

    What comes back short is filled up with words that the target itself draws.
    """
    vocab, found = range(len(target[0])), []
    for guess in itertools.product(vocab, repeat=guesses):
        seen, guessed = [-1, *guess], chain(draft, guess)
        rows = [draft[word] for word in seen[:-1]], [target[word] for word in seen]
        for said, chance in outcomes(*rows, guess) if guessed else ():
            for rest in itertools.product(vocab, repeat=guesses + 1 - len(said)):
                alone = chain(target, said + rest) / chain(target, said)
                found.append((said + rest, guessed * chance * alone))
    words = itertools.product(vocab, repeat=guesses + 1)
    assert_close(table(found), table((each, chain(target, each)) for each in words))
