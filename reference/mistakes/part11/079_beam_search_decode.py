"""Wrong versions of step 079, one slip each."""

import torch

from kata.part01_tokens import pack_batch
from kata.part02_embeddings import (
    add_positional_encoding,
    build_sinusoidal_positional_encoding,
    lookup_token_embeddings,
    scale_embeddings,
)
from kata.part03_attention import (
    build_causal_mask,
    build_padding_mask,
    combine_padding_and_causal_masks,
)
from kata.part06_transformer import (
    apply_final_output_projection,
    decode_target,
    encode_source,
    stack_decoder_layers,
)
from kata.part11_decoding import (
    choose_best_hypothesis,
    expand_beam_hypotheses,
    select_top_hypotheses,
)
from kata.weights import Hypothesis


def beam_of_copies(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The search goes in single file, as greedy decoding does: one hypothesis, or copies of it."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, copies=beam_size)


def finished_ones_go_on(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """A hypothesis that has said the end stays in the beam, and goes on behind it."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, is_end=lambda *_: False
    )


def stops_at_the_first_end(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Whoever finishes first wins: better ones that finish later have no chance."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        stop=lambda finished, *_: bool(finished),
    )


def judged_as_if_done(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Live ones are judged by less than the length that they may reach, and given up too soon."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, stop=_no_better_so_far
    )


def never_stops_early(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The search goes on although no live hypothesis can win any more."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        stop=lambda _, alive, *__: not alive,
    )


def live_ones_compete(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """At the last place a live hypothesis may win although others have finished."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        choose=lambda finished, alive, alpha: choose_best_hypothesis(finished + alive, [], alpha),
    )


def last_place_lost(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The start token counts towards max_length: the search ends one word too soon."""
    max_length = config.max_length if max_length is None else max_length
    return _decode(source_ids, weights, config, beam_size, alpha, max(max_length - 1, 1))


def length_of_the_config(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The config's max_length counts, whatever max_length was asked for."""
    return _decode(source_ids, weights, config, beam_size, alpha, None)


def no_length_penalty(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Alpha is not used: bare log-probabilities are compared."""
    return _decode(source_ids, weights, config, beam_size, 0.0, max_length)


def alpha_of_1(source_ids, weights, config, beam_size=4, alpha=1.0, max_length=None):
    """Alpha is 1 by default; the paper has 0.6."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length)


def ends_from_twice_as_many(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """An end counts although it is only among the best 2k of its turn, not among the best k."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, twice=True)


def scores_not_added(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Only the newest word's score counts: what a beginning has cost is forgotten."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        before=lambda alive: [each._replace(log_prob=0.0) for each in alive],
    )


def best_of_each_alone(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Each hypothesis goes on with its own best word: they never compete for a place."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, compete=False)


def first_position(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The scores at the first position are read at every turn, not those at the last."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, position=0)


def newest_word_alone(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Only the newest word is fed back in: what was said before it is forgotten."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, newest=True)


def first_row_for_all(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The first sentence is searched, and its answer given to all."""
    answer = _decode(source_ids[:1], weights, config, beam_size, alpha, max_length)
    return answer.expand(len(source_ids), -1)


def source_padding_heard(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The source's padding is not masked in cross-attention."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, mask_of=torch.ones_like
    )


def start_token_returned(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The start token comes back in front of the answer."""
    answer = _decode(source_ids, weights, config, beam_size, alpha, max_length)
    return torch.cat([answer.new_full((len(answer), 1), config.start_id), answer], dim=1)


def end_left_out(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The end token is left out of the answer: padding stands in its place."""
    answer = _decode(source_ids, weights, config, beam_size, alpha, max_length)
    return answer.masked_fill(answer == config.end_id, config.pad_id)


def filled_with_zero(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Shorter answers are filled with 0, whatever the padding id is."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, fill=0)


def dropout_left_on(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Dropout stays at the rate of the config."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, rate=config.dropout_rate
    )


def graph_built(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """A gradient graph is built while searching: torch.no_grad() is missing."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, grad=torch.is_grad_enabled()
    )


def words_on_the_cpu(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The words fed back in are made on the CPU, wherever the sentences are."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, device="cpu")


def answer_on_the_cpu(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The answer is packed on the CPU, wherever the sentences are."""
    answer = _decode(source_ids, weights, config, beam_size, alpha, max_length)
    return torch.tensor(answer.tolist())


def ends_of_the_last_turn_alone(
    source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None
):
    """Only the last turn's ends are remembered: those that finished before are forgotten."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, remember=False)


def sentences_share_the_list(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """What has finished for one sentence stays on the list when the next one is searched."""
    return _decode(source_ids, weights, config, beam_size, alpha, max_length, shared=[])


def judged_one_word_on(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Live ones are judged by the length that comes next, not by the longest they may reach."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        stop=lambda finished, alive, alpha, _: _none_can_win(
            finished, alive, alpha, len(alive[0].token_ids) + 1 if alive else 1
        ),
    )


def judged_by_the_room_of_the_config(
    source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None
):
    """How long a live one may become is read from the config, whatever max_length was asked for."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        stop=lambda finished, alive, alpha, _: _none_can_win(
            finished, alive, alpha, config.max_length
        ),
    )


def padding_hidden_in_the_target(
    source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None
):
    """A padding id that the model has said is masked: later words do not hear it."""
    return _decode(
        source_ids, weights, config, beam_size, alpha, max_length, score=_with_padding_mask
    )


def stops_at_k_ends(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """The search stops when beam_size have finished, whether or not a live one can still win."""
    return _decode(
        source_ids,
        weights,
        config,
        beam_size,
        alpha,
        max_length,
        stop=lambda finished, alive, *_: not alive or len(finished) >= beam_size,
    )


def _is_end(hypothesis, config):
    return hypothesis.token_ids[-1] == config.end_id


def _none_can_win(finished, alive, alpha, max_length):
    dreams = [each._replace(token_ids=(0,) * max_length) for each in alive]
    return choose_best_hypothesis(finished + dreams, [], alpha) in finished


def _no_better_so_far(finished, alive, alpha, max_length):
    return choose_best_hypothesis(finished + alive, [], alpha) in finished


def _decode(
    source_ids,
    weights,
    config,
    beam_size,
    alpha,
    max_length,
    rate=0.0,
    grad=False,
    fill=None,
    **slip,
):
    max_length = config.max_length if max_length is None else max_length
    config = config._replace(dropout_rate=rate)
    with torch.set_grad_enabled(grad):
        sentences = [
            _search(row[None], weights, config, beam_size, alpha, max_length, **slip)
            for row in source_ids
        ]
    return pack_batch(sentences, config.pad_id if fill is None else fill, source_ids.device)


def _search(
    source_ids,
    weights,
    config,
    beam_size,
    alpha,
    max_length,
    copies=1,
    is_end=_is_end,
    stop=_none_can_win,
    choose=choose_best_hypothesis,
    twice=False,
    before=list,
    compete=True,
    position=-1,
    newest=False,
    mask_of=lambda mask: mask,
    device=None,
    remember=True,
    shared=None,
    score=decode_target,
):
    memory, mask = encode_source(source_ids, weights, config)
    alive = [Hypothesis((), 0.0)] * copies
    finished = [] if shared is None else shared
    for _ in range(max_length):
        heard = [(config.start_id, *each.token_ids)[-1 if newest else 0 :] for each in alive]
        target_ids = torch.tensor(heard, device=device or source_ids.device)
        memories = memory.expand(len(alive), -1, -1)
        log_probs = score(target_ids, memories, mask_of(mask), weights, config)
        candidates = expand_beam_hypotheses(before(alive), log_probs[:, position])
        if not compete:
            vocab = config.vocab_size
            turns = [candidates[at : at + vocab] for at in range(0, len(candidates), vocab)]
            count = beam_size if len(turns) == 1 else 1
            candidates = [each for turn in turns for each in select_top_hypotheses(turn, count)]
        best = select_top_hypotheses(candidates, 2 * beam_size if twice else beam_size)
        if not remember:
            finished = []
        finished += [each for each in best if is_end(each, config)]
        alive = [each for each in best if not is_end(each, config)][:beam_size]
        if stop(finished, alive, alpha, max_length):
            break
    return choose(finished, alive, alpha).token_ids


def _with_padding_mask(target_ids, memory, mask, weights, config):
    x = scale_embeddings(lookup_token_embeddings(target_ids, weights.token_embedding))
    positions = build_sinusoidal_positional_encoding(
        x.shape[1], config.d_model, device=x.device, dtype=x.dtype
    )
    target_mask = combine_padding_and_causal_masks(
        build_padding_mask(target_ids, config.pad_id),
        build_causal_mask(x.shape[1], target_ids.device),
    )
    x = stack_decoder_layers(
        add_positional_encoding(x, positions),
        memory,
        weights.decoder_layers,
        config.num_heads,
        target_mask,
        mask,
    )
    return apply_final_output_projection(x, weights.output_projection)
