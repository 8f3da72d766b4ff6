"""Mutants that no spec can kill, each with the reason why it is no slip."""


def _changed(line: str, old: str, new: str) -> str:
    """How a mutant is told: the line, an arrow, and the line with one thing changed."""
    return f"{line} → {line.replace(old, new)}"


SYMMETRIC = "a product does not care which of its factors comes first"
DRAWS = "draws = torch.empty(x.numel() // 2 + 1, dtype=torch.int64, device=x.device)"
CAREFUL = "agreement = (wanted * log_probs.masked_fill(wanted == 0, 0.0)).sum()"

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
        ): SYMMETRIC,
    },
    37: {
        _changed(DRAWS, old, new): "more is drawn than is used"
        for old, new in (("// 2 + 1", "// 2 + 2"), ("// 2", "* 2"))
    },
    61: {
        _changed(
            "agreement = torch.tensordot(wanted, log_probs)",
            "wanted, log_probs",
            "log_probs, wanted",
        ): SYMMETRIC,
        _changed(
            "return torch.tensordot(wanted, log_wanted) - agreement",
            "wanted, log_wanted",
            "log_wanted, wanted",
        ): SYMMETRIC,
        _changed(
            f"if not agreement.isfinite(): {CAREFUL}", "not agreement.isfinite()", "True"
        ): "the careful way is right for all numbers, only slower",
        _changed(CAREFUL, ", 0.0)", ", 1.0)"): "p = 0 times any number is 0",
    },
    68: {
        _changed(
            "floor = eps * second_correction", "*", "/"
        ): "ε may be corrected or not: the fast form of Kingma and Ba leaves it as it is",
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
