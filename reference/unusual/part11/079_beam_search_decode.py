"""Right but unusual versions of step 079."""

import torch

from kata.part06_transformer import decode_target, encode_source, run_transformer_forward
from kata.weights import Hypothesis


def twice_as_many_candidates(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Of the 2k best candidates k that have not ended live on; ends count among the k best."""
    limit = config.max_length if max_length is None else max_length
    config = config._replace(dropout_rate=0.0)
    answers = []
    with torch.no_grad():
        for row in source_ids.split(1):
            memory, mask = encode_source(row, weights, config)
            alive, done = [((), 0.0)], []
            while alive and len(alive[0][0]) < limit:
                heard = row.new_tensor([[config.start_id, *ids] for ids, _ in alive])
                count = len(alive)
                scores = decode_target(
                    heard, memory.repeat(count, 1, 1), mask.repeat(count, 1, 1, 1), weights, config
                )[:, -1]
                grown = [
                    ((*ids, word), before + score)
                    for (ids, before), words in zip(alive, scores.tolist(), strict=True)
                    for word, score in enumerate(words)
                    if score > float("-inf")
                ]
                grown = sorted(grown, key=lambda one: (-one[1], one[0]))[: 2 * beam_size]
                done += [one for one in grown[:beam_size] if one[0][-1] == config.end_id]
                alive = [one for one in grown if one[0][-1] != config.end_id][:beam_size]
                if done and alive:
                    hope = max(score for _, score in alive) / _penalty(limit, alpha)
                    if hope <= max(score / _penalty(len(ids), alpha) for ids, score in done):
                        break
            pool = done or alive
            best = max(pool, key=lambda one: one[1] / _penalty(len(one[0]), alpha))
            answers.append(list(best[0]))
    return _padded(answers, source_ids, config)


@torch.no_grad()
def tensors_and_back_pointers(source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None):
    """Scores of all continuations lie in one flat tensor; row and word are quotient and rest."""
    limit = config.max_length if max_length is None else max_length
    config = config._replace(dropout_rate=0.0)
    answers = []
    for row in source_ids:
        memory, mask = encode_source(row.unsqueeze(0), weights, config)
        said = row.new_full((1, 1), config.start_id)
        totals = memory.new_zeros(1, dtype=torch.float64)
        best, best_score, longest = None, float("-inf"), None
        for turn in range(1, limit + 1):
            memories = memory.expand(len(said), *memory.shape[1:])
            scores = decode_target(said, memories, mask, weights, config)[:, -1]
            flat = (totals.unsqueeze(1) + scores).flatten()
            kept = flat.sort(descending=True, stable=True)
            totals, places = kept.values[:beam_size], kept.indices[:beam_size]
            words = places % scores.size(1)
            said = torch.cat((said[places // scores.size(1)], words[:, None]), dim=1)
            ended = words == config.end_id
            if ended.any() and totals[ended][0].item() / _penalty(turn, alpha) > best_score:
                best_score = totals[ended][0].item() / _penalty(turn, alpha)
                best = said[ended][0, 1:].tolist()
            said, totals = said[~ended], totals[~ended]
            if not len(said) or totals[0].item() / _penalty(limit, alpha) <= best_score:
                break
            longest = said[0, 1:].tolist()
        answers.append(best or longest)
    return _padded(answers, source_ids, config)


def whole_model_for_each_hypothesis(
    source_ids, weights, config, beam_size=4, alpha=0.6, max_length=None
):
    """No batch, no memory: every hypothesis goes through the whole model by itself."""
    limit = config.max_length if max_length is None else max_length
    silent = config._replace(dropout_rate=0.0)
    answers = []
    for row in source_ids:
        live, ended = {(): 0.0}, {}
        for _ in range(limit):
            grown = {}
            for ids, before in live.items():
                heard = torch.tensor([[config.start_id, *ids]], device=row.device)
                with torch.no_grad():
                    scores = run_transformer_forward(row[None], heard, weights, silent)[0, -1]
                for word, score in enumerate(scores.tolist()):
                    grown[(*ids, word)] = before + score
            kept = sorted(grown.items(), key=lambda one: (-one[1], one[0]))[:beam_size]
            ended.update({ids: score for ids, score in kept if ids[-1] == config.end_id})
            live = {ids: score for ids, score in kept if ids[-1] != config.end_id}
            reached = max(map(_scored(alpha), ended.items()), default=float("-inf"))
            if all(score / _penalty(limit, alpha) <= reached for score in live.values()):
                break
        pool = [Hypothesis(*one) for one in (ended or live).items()]
        answers.append(list(max(pool, key=_scored(alpha)).token_ids))
    return _padded(answers, source_ids, silent)


def _scored(alpha):
    return lambda one: one[1] / _penalty(len(one[0]), alpha)


def _penalty(length, alpha):
    return (5 / 6 + length / 6) ** alpha


def _padded(answers, source_ids, config):
    longest = max(len(words) for words in answers)
    rows = [words + [config.pad_id] * (longest - len(words)) for words in answers]
    return torch.tensor(rows, dtype=torch.int64, device=source_ids.device)
