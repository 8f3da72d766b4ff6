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
    61: {
        _changed(
            "if not agreement.isfinite(): asked = wanted > 0"
            " agreement = (wanted[asked] * log_probs[asked]).sum()",
            "not agreement.isfinite()",
            "True",
        ): "the careful way is right for all numbers, only slower",
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
