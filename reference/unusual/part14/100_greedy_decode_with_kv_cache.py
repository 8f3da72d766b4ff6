"""Right but unusual versions of step 100."""

import torch

from kata.part01_tokens import pack_batch
from kata.part06_transformer import encode_source
from kata.part14_fast_decoding import allocate_kv_cache, decode_step_with_kv_cache


def words_in_lists(source_ids, weights, config, max_length=None):
    """What was said is kept in Python lists; finished rows are fed padding and not listened to."""
    limit = config.max_length if max_length is None else max_length
    said = [[] for _ in source_ids]
    with torch.no_grad():
        quiet = config._replace(dropout_rate=0)
        memory, mask = encode_source(source_ids, weights, quiet)
        cache = allocate_kv_cache(quiet, len(said), limit, memory.device, memory.dtype)
        newest = [config.start_id] * len(said)
        for _ in range(limit):
            fed = source_ids.new_tensor(newest).unsqueeze(1)
            scores = decode_step_with_kv_cache(fed, memory, mask, weights, quiet, cache)
            newest = scores[:, 0].max(-1).indices.tolist()
            for row, word in enumerate(newest):
                if config.end_id not in said[row]:
                    said[row].append(word)
            if all(config.end_id in words for words in said):
                break
    if limit == 0:
        return source_ids.new_empty(len(said), 0)
    return pack_batch(said, config.pad_id, source_ids.device)


@torch.inference_mode()
def each_sentence_alone(source_ids, weights, config, max_length=None):
    """One sentence after the other, each with a cache of its own, in inference mode."""
    limit = config.max_length if max_length is None else max_length
    answer = source_ids.new_full((len(source_ids), limit), config.pad_id)
    longest = 0
    for row, source in enumerate(source_ids.split(1)):
        memory, mask = encode_source(source, weights, config._replace(dropout_rate=0.0))
        cache = allocate_kv_cache(config, 1, limit, device=memory.device, dtype=memory.dtype)
        word = source.new_full((1, 1), config.start_id)
        for turn in range(limit):
            scores = decode_step_with_kv_cache(word, memory, mask, weights, config, cache)
            word = scores.argmax(-1)
            answer[row, turn] = word[0, 0]
            longest = max(longest, turn + 1)
            if int(word) == config.end_id:
                break
    return answer[:, :longest].clone()
