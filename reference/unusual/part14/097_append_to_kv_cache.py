"""Right but unusual versions of step 097."""

import torch


def with_index_copy(cache, keys, values):
    """The places are numbered, and index_copy_ writes there, with the graph switched off."""
    batch, heads, capacity, d_k = cache.keys.shape
    if keys.dim() != 4:
        raise ValueError(f"the keys must have four axes, got {tuple(keys.shape)}")
    new = keys.size(2)
    for name, given in {"values": values, "keys": keys}.items():
        if tuple(given.shape) != (batch, heads, new, d_k):
            raise ValueError(f"{name}: {tuple(given.shape)} is not {(batch, heads, new, d_k)}")
    if new > capacity - cache.length:
        raise ValueError(f"cache of {capacity} holds {cache.length}, {new} more are too many")
    places = torch.arange(cache.length, cache.length + new, device=cache.keys.device)
    with torch.no_grad():
        cache.keys.index_copy_(2, places, keys)
        cache.values.index_copy_(2, places, values)
    cache.length += new


def one_position_at_a_time(cache, keys, values):
    """A loop over the new positions, through a narrowed view."""
    pairs = [("keys", cache.keys, keys), ("values", cache.values, values)]
    for name, room, given in pairs:
        fits = given.ndim == 4 and all(given.shape[axis] == room.shape[axis] for axis in (0, 1, 3))
        if not fits or given.shape[2] != keys.shape[2]:
            raise ValueError(f"{name} of shape {tuple(given.shape)} for {tuple(room.shape)}")
    if cache.length + keys.shape[2] > cache.keys.shape[2]:
        raise ValueError(f"{keys.shape[2]} do not fit into {cache.keys.shape[2]}")
    for index in range(keys.shape[2]):
        for _, room, given in pairs:
            room.detach().select(2, cache.length).copy_(given[:, :, index].detach())
        cache.length += 1


def told_by_shape_alone(cache, keys, values):
    """The error shows what was given as torch shows it, and not whose it is."""
    start, end = cache.length, cache.length + keys.shape[-2]
    for given in (keys, values):
        if given.shape != (*cache.keys.shape[:2], keys.shape[-2], cache.keys.shape[3]):
            raise ValueError(f"{given.shape} for {cache.keys.shape}")
    if end > cache.keys.shape[2]:
        raise ValueError(f"{end - start} more behind {start} of {cache.keys.shape[2]}")
    cache.keys.data[:, :, start:end] = keys.data
    cache.values.data[:, :, start:end] = values.data
    cache.length = end
