"""Wrong versions of step 097, one slip each."""

import torch


def length_stays(cache, keys, values):
    """The length is not moved on: the next token writes over this one."""
    length = cache.length
    _append(cache, keys, values)
    cache.length = length


def length_counts_one(cache, keys, values):
    """The length goes up by one, however many positions came."""
    length = cache.length
    _append(cache, keys, values)
    cache.length = length + 1


def written_at_the_front(cache, keys, values):
    """Written from place 0 on, over what was there."""
    _check(cache, keys, values)
    cache.keys[:, :, : keys.shape[2]] = keys.detach()
    cache.values[:, :, : keys.shape[2]] = values.detach()
    cache.length += keys.shape[2]


def clamped_at_the_end(cache, keys, values):
    """In a full cache the last places are written over."""
    room, new = cache.keys.shape[2], keys.shape[2]
    cache.length = min(cache.length, max(room - new, 0))
    _append(cache, keys, values)


def oldest_thrown_out(cache, keys, values):
    """In a full cache the oldest tokens make room for the new ones."""
    over = cache.length + keys.shape[2] - cache.keys.shape[2]
    if over > 0:
        cache.keys.copy_(cache.keys.roll(-over, dims=2))
        cache.values.copy_(cache.values.roll(-over, dims=2))
        cache.length -= over
    _append(cache, keys, values)


def lost_without_an_error(cache, keys, values):
    """More positions than are free are taken without an error: some are lost."""
    _check_shapes(cache, keys, values)
    free = cache.keys.shape[2] - cache.length
    _append(cache, keys[:, :, :free], values[:, :, :free])


def keys_before_the_check(cache, keys, values):
    """The keys are written before the values are looked at: half an entry stays behind."""
    _check(cache, keys, torch.empty_like(keys))
    cache.keys[:, :, cache.length : cache.length + keys.shape[2]] = keys.detach()
    _append(cache, keys, values)


def length_before_the_check(cache, keys, values):
    """The length is moved on before anything is checked."""
    start = cache.length
    cache.length += keys.shape[2]
    if cache.length <= cache.keys.shape[2]:
        cache.length = start
    _append(cache, keys, values)


def shapes_not_checked(cache, keys, values):
    """Keys and values of other shapes are broadcast into the cache."""
    start, new = cache.length, keys.shape[-2]
    if start + new > cache.keys.shape[2]:
        raise ValueError(f"{new} do not fit behind {start} of {cache.keys.shape[2]}")
    cache.keys[:, :, start : start + new] = keys.detach()
    cache.values[:, :, start : start + new] = values.detach()
    cache.length += new


def concatenated(cache, keys, values):
    """New tensors are made, with torch.cat say: everything is copied for each token."""
    _check(cache, keys, values)
    start, end = cache.length, cache.length + keys.shape[2]
    for name, given in (("keys", keys), ("values", values)):
        old = getattr(cache, name)
        parts = [old[:, :, :start], given.detach().to(old.dtype), old[:, :, end:]]
        setattr(cache, name, torch.cat(parts, dim=2))
    cache.length = end


def graph_kept(cache, keys, values):
    """The graph of the keys and values is kept: it grows with every token."""
    _check(cache, keys, values)
    start, end = cache.length, cache.length + keys.shape[2]
    cache.keys[:, :, start:end] = keys
    cache.values[:, :, start:end] = values
    cache.length = end


def values_are_keys(cache, keys, values):
    """The keys are written to both."""
    _check(cache, keys, values)
    _append(cache, keys, keys)


def _check(cache, keys, values):
    _check_shapes(cache, keys, values)
    new, start, room = keys.shape[-2], cache.length, cache.keys.shape[2]
    if start + new > room:
        raise ValueError(f"{new} do not fit behind {start} of {room}")


def _check_shapes(cache, keys, values):
    wanted = (*cache.keys.shape[:2], keys.shape[-2], cache.keys.shape[3])
    for name, given in (("keys", keys), ("values", values)):
        if given.shape != wanted:
            raise ValueError(f"{name} must have shape {wanted}, got {tuple(given.shape)}")


def _append(cache, keys, values):
    _check(cache, keys, values)
    start, end = cache.length, cache.length + keys.shape[2]
    cache.keys[:, :, start:end] = keys.detach()
    cache.values[:, :, start:end] = values.detach()
    cache.length = end
