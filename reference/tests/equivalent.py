"""Mutants that no spec can kill, each with the reason why it is no slip."""

EQUIVALENT: dict[int, dict[str, str]] = {}
