"""Right but unusual versions of step 074."""

import torch

from kata.part01_tokens import pack_batch
from kata.part06_transformer import decode_target, encode_source
from kata.part11_decoding import select_greedy_next_tokens


def each_sentence_alone(source_ids, weights, config, max_length=None):
    """One sentence after the other, its words in a Python list, packed in the end."""
    config = config._replace(dropout_rate=0.0)
    limit = config.max_length if max_length is None else max_length
    answers = []
    with torch.no_grad():
        for sentence in source_ids.unbind():
            memory, mask = encode_source(sentence.unsqueeze(0), weights, config)
            said = []
            while len(said) < limit and said[-1:] != [config.end_id]:
                heard = sentence.new_tensor([[config.start_id, *said]])
                scores = decode_target(heard, memory, mask, weights, config)[0, -1]
                said.append(int(scores.argmax()))
            answers.append(said)
    return pack_batch(answers, config.pad_id, source_ids.device)


@torch.inference_mode()
def room_made_beforehand(source_ids, weights, config, max_length=None):
    """A table of padding is filled column by column, in inference mode, and cut in the end."""
    config = config._replace(dropout_rate=0)
    room = config.max_length if max_length is None else max_length
    rows = source_ids.shape[0]
    table = source_ids.new_full((rows, room + 1), config.pad_id)
    table[:, 0] = config.start_id
    going = torch.ones(rows, dtype=torch.bool, device=source_ids.device)
    memory, mask = encode_source(source_ids, weights, config)
    place = 0
    for place in range(1, room + 1):
        scores = decode_target(table[:, :place], memory, mask, weights, config)
        words = select_greedy_next_tokens(scores)
        table[:, place] = torch.where(going, words, table[:, place])
        going = going & words.ne(config.end_id)
        if not going.any():
            break
    return table[:, 1 : place + 1].clone()


def only_the_unfinished_go_on(source_ids, weights, config, max_length=None):
    """Rows that have ended leave the batch: what is left over gets smaller and smaller."""
    limit = config.max_length if max_length is None else max_length
    said = [[] for _ in source_ids]
    open_rows = list(range(len(said)))
    with torch.no_grad():
        silent = config._replace(dropout_rate=0.0)
        memory, mask = encode_source(source_ids, weights, silent)
        while open_rows and len(said[open_rows[0]]) < limit:
            heard = source_ids.new_tensor([[config.start_id, *said[row]] for row in open_rows])
            scores = decode_target(heard, memory[open_rows], mask[open_rows], weights, silent)
            for row, word in zip(open_rows, scores[:, -1].max(-1)[1].tolist(), strict=True):
                said[row].append(word)
            open_rows = [row for row in open_rows if said[row][-1] != config.end_id]
    width = max(map(len, said))
    filled = [words + [config.pad_id] * (width - len(words)) for words in said]
    return source_ids.new_tensor(filled)
