"""Right but unusual versions of step 014."""

import torch


def any_difference_is_true(token_ids, pad_id):
    """The bits in which an id differs from the padding id, as a bool."""
    return torch.bitwise_xor(token_ids, pad_id).bool().unflatten(0, (-1, 1, 1))


def not_in_the_set_of_padding(token_ids, pad_id):
    """``isin`` asks whether an id is in the set of the one padding id."""
    pads = torch.tensor([pad_id], device=token_ids.device)
    return torch.isin(token_ids, pads, invert=True).view(len(token_ids), 1, 1, -1)


def list_of_lists(token_ids, pad_id):
    """Plain Python looks at one id after the other."""
    rows = [[[[token != pad_id for token in row]]] for row in token_ids.tolist()]
    return torch.tensor(rows, dtype=torch.bool, device=token_ids.device)


def holes_in_a_full_mask(token_ids, pad_id):
    """All True at first; padding is set to False in place."""
    mask = torch.ones_like(token_ids, dtype=torch.bool)
    mask[token_ids == pad_id] = False
    return mask[:, None, None]


def vmap_over_sentences(token_ids, pad_id):
    """``vmap`` makes the mask (1, 1, T) of one sentence after the other."""
    return torch.vmap(lambda sentence: sentence.ne(pad_id).expand(1, 1, -1))(token_ids)


def written_where_it_is_told(token_ids, pad_id):
    """The comparison writes into a mask that was made before, through ``out=``."""
    mask = token_ids.new_empty(token_ids.shape, dtype=torch.bool)
    torch.ne(token_ids, pad_id, out=mask)
    return mask.as_strided((len(mask), 1, 1, mask.size(1)), (mask.stride(0), 0, 0, 1))
