"""Right but unusual versions of step 013."""

import torch


def _fixed(embeddings, encoding):
    """The rows that are needed, without a gradient."""
    rows, width = encoding.shape
    if embeddings.shape[1] > rows or embeddings.shape[2] != width:
        raise ValueError(
            f"embeddings {tuple(embeddings.shape)} need at least {embeddings.shape[1]} rows of "
            f"width {embeddings.shape[2]}, the encoding has {rows} of width {width}"
        )
    return encoding.detach()[: embeddings.shape[1]]


def added_in_place_to_a_copy(embeddings, encoding):
    """A copy of the embeddings, to which the rows are added in place."""
    output = embeddings.clone()
    output += _fixed(embeddings, encoding)
    return output


def token_after_token(embeddings, encoding):
    """One position of all sentences at a time, stacked again."""
    rows = _fixed(embeddings, encoding).to(embeddings)
    tokens = zip(embeddings.unbind(1), rows, strict=True)
    return torch.stack([token + row for token, row in tokens], dim=1)


def summed_in_the_wider_type(embeddings, encoding):
    """Torch promotes the sum to the wider of both types; it is cast back at the end."""
    return torch.add(_fixed(embeddings, encoding), embeddings).to(embeddings.dtype)


def without_gradients_cast_first(embeddings, encoding):
    """The rows are cast and spread over the batch under ``no_grad``, as a view of stride 0."""
    with torch.no_grad():
        rows = _fixed(embeddings, encoding.type_as(embeddings)).expand_as(embeddings)
    return embeddings + rows


class _Stamped(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, embeddings, rows):
        return embeddings + rows.to(embeddings.dtype)

    @staticmethod
    def backward(_ctx, gradient):
        return gradient, None


def own_function(embeddings, encoding):
    """An ``autograd.Function`` that hands the gradient to the embeddings alone."""
    return _Stamped.apply(embeddings, _fixed(embeddings, encoding))


def vmap_over_sentences(embeddings, encoding):
    """``vmap`` adds the rows to one sentence after the other."""
    rows = _fixed(embeddings, encoding).to(dtype=embeddings.dtype)
    return torch.vmap(lambda sentence: sentence + rows)(embeddings)
