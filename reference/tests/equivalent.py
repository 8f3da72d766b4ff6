"""Mutants that no spec can kill, each with the reason why it is no slip."""


def _changed(line: str, old: str, new: str) -> str:
    """How a mutant is told: the line, an arrow, and the line with one thing changed."""
    return f"{line} → {line.replace(old, new)}"


EQUIVALENT: dict[int, dict[str, str]] = {
    7: {
        _changed(
            "strays = rows[(rows < 0) | (rows >= vocab_size)]", ">=", ">"
        ): "on the CPU the lookup itself then raises an IndexError that names the id",
    },
    12: {
        _changed(
            "angles = compute_position_angles(positions, inverse_frequencies)",
            "positions, inverse_frequencies",
            "inverse_frequencies, positions",
        ): "a product does not care which of its factors comes first",
    },
    50: {
        _changed(
            "below_best = logits - logits.detach().amax(dim=-1, keepdim=True)", "detach", "clone"
        ): "a shift cancels out, gradient and all; cutting it off saves work on the way back",
    },
    61: {
        _changed(
            "surprise = distribution.masked_fill(nothing, 1.0).log()"
            " - log_probs.masked_fill(nothing, 0.0)",
            old,
            new,
        ): "p = 0 times any number is 0"
        for old, new in ((", 1.0)", ", 2.0)"), (", 0.0)", ", 1.0)"))
    },
    89: {
        _changed(
            "positions = torch.arange(x.shape[2], device=x.device)", ", device=x.device", ""
        ): "torch takes an index that lies on the CPU on any device",
        _changed(
            "strays = positions[(positions < 0) | (positions >= len(cos))]", ">=", ">"
        ): "on the CPU the lookup itself then raises an IndexError that names the position",
    },
}
