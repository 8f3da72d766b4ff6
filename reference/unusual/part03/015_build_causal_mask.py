"""Right but unusual versions of step 015."""

import torch
from torch import nn

_kept = {}


def query_against_key(length, device=None):
    """A column of places is compared with a row of places."""
    places = torch.arange(length, device=device)
    return places.unsqueeze(1) >= places


def list_of_lists(length, device=None):
    """Plain Python writes i + 1 times True, then False."""
    rows = [[True] * (i + 1) + [False] * (length - i - 1) for i in range(length)]
    return torch.tensor(rows, device=device)


def window_over_a_step(length, device=None):
    """One line of True, then False; each row is a window into it, one place further left."""
    line = torch.arange(1 - length, length, device=device) <= 0
    return line.unfold(0, length, 1).flip(0)


def taken_from_a_torch_module(length, device=None):
    """``nn.Transformer`` makes its mask of 0 and −∞, and 0 is what may be seen."""
    return nn.Transformer.generate_square_subsequent_mask(length, device=device) == 0


def cut_from_one_that_is_kept(length, device=None):
    """A view into a large mask that is kept for each device, as models keep buffers."""
    home = torch.empty(0, device=device).device
    if home not in _kept or len(_kept[home]) < length:
        _kept[home] = torch.ones(2 * length, 2 * length, dtype=torch.bool, device=home).tril_()
    return _kept[home][:length, :length]


def on_the_device_for_a_while(length, device=None):
    """The device is torch's default for as long as the mask is made."""
    with torch.get_default_device() if device is None else torch.device(device):
        return torch.vmap(torch.le, in_dims=(None, 0))(torch.arange(length), torch.arange(length))
