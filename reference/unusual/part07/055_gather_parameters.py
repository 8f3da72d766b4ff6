"""Right but unusual versions of step 055."""

import torch
from torch import nn
from torch.utils._pytree import tree_leaves


def flattened_by_pytree(weights):
    """torch's own pytree flattens any nest of containers."""
    leaves = [leaf for leaf in tree_leaves(weights) if isinstance(leaf, torch.Tensor)]
    learning = [leaf for leaf in leaves if leaf.requires_grad]
    return [
        leaf
        for place, leaf in enumerate(learning)
        if not any(leaf is earlier for earlier in learning[:place])
    ]


def keys_of_a_dict(weights):
    """Tensors hash by identity, and a dict keeps the first of each key, in order."""

    def flat(part):
        if isinstance(part, torch.Tensor):
            return [part] if part.requires_grad else []
        return [leaf for inner in part or () for leaf in flat(inner)]

    return list(dict.fromkeys(flat(weights)))


def pile_of_what_is_left(weights):
    """No recursion: what is still to be looked at lies on a pile, with the next on top."""
    found, seen, pile = [], set(), [weights]
    while pile:
        part = pile.pop()
        if isinstance(part, tuple):
            pile.extend(reversed(part))
        elif part is not None and part.requires_grad and id(part) not in seen:
            seen.add(id(part))
            found.append(part)
    return found


def list_handed_from_part_to_part(weights):
    """A list of what is found so far goes into each part, and comes out longer."""

    def walk(part, found):
        if isinstance(part, torch.Tensor):
            new = part.requires_grad and all(part is not earlier for earlier in found)
            return [*found, part] if new else found
        for inner in part or ():
            found = walk(inner, found)
        return found

    return walk(weights, [])


class _Walker:
    """Walks by the names of the fields; called like a function."""

    def __call__(self, weights):
        found = {}
        self._walk(weights, found)
        return list(found.values())

    def _walk(self, part, found):
        match part:
            case torch.Tensor(requires_grad=True):
                found.setdefault(id(part), part)
            case tuple() if hasattr(part, "_fields"):
                for name in part._fields:
                    self._walk(getattr(part, name), found)
            case tuple():
                for inner in part:
                    self._walk(inner, found)


walker = _Walker()


class _Holder(nn.Module):
    """A module that has the parts of a container for its own."""

    def __init__(self, part):
        super().__init__()
        for place, inner in enumerate(part):
            if isinstance(inner, tuple):
                self.add_module(str(place), _Holder(inner))
            elif inner is not None:
                self.register_buffer(str(place), inner)


def buffers_of_a_module(weights):
    """Modules hold the tensors as buffers, and their names are put in order."""
    places = {}
    for name, buffer in _Holder(weights).named_buffers(remove_duplicate=False):
        places[tuple(map(int, name.split(".")))] = buffer
    in_order = (places[place] for place in sorted(places))
    return list(dict.fromkeys(leaf for leaf in in_order if leaf.requires_grad))
