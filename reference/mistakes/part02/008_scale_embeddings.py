"""008 · scale_embeddings, the ways it goes wrong."""

import math


def divided(embeddings):
    """The embeddings are divided by √D instead of multiplied."""
    return embeddings / math.sqrt(embeddings.size(-1))


def times_the_width(embeddings):
    """The embeddings are multiplied by D, the root is missing."""
    return embeddings * embeddings.size(-1)


def half_the_width(embeddings):
    """The factor is D/2: d ** 1 / 2 takes the power before the division."""
    return embeddings * embeddings.size(-1) ** 1 / 2


def whole_root(embeddings):
    """The root is cut to a whole number."""
    return embeddings * math.isqrt(embeddings.size(-1))


def root_of_the_length(embeddings):
    """The width is read from the second dimension, which holds the length."""
    return embeddings * math.sqrt(embeddings.size(min(1, embeddings.dim() - 1)))


def root_of_the_batch(embeddings):
    """The width is read from the first dimension, which holds the batch."""
    return embeddings * math.sqrt(len(embeddings))


def not_scaled(embeddings):
    """The embeddings come back as they were, not scaled at all."""
    return embeddings.clone()


def unit_length(embeddings):
    """Each row is brought to length √D, instead of being multiplied by it."""
    lengths = embeddings.norm(dim=-1, keepdim=True)
    return embeddings / lengths * math.sqrt(embeddings.size(-1))


def in_place(embeddings):
    """The embeddings given are themselves changed."""
    embeddings *= math.sqrt(embeddings.size(-1))
    return embeddings


def detached(embeddings):
    """The answer is cut off from the embeddings, so nothing can learn."""
    return embeddings.detach() * math.sqrt(embeddings.size(-1))


def always_float32(embeddings):
    """The answer is float32, whatever the type of the embeddings."""
    return embeddings.float() * math.sqrt(embeddings.size(-1))


def float32_on_the_way(embeddings):
    """Float64 embeddings pass through float32: half their digits are lost, large ones overflow."""
    return (embeddings.float() * math.sqrt(embeddings.size(-1))).to(embeddings.dtype)
