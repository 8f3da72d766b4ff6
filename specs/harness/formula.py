r"""TeX made readable as plain text: ``\sqrt{d_k}`` becomes ``√d_k``."""

from __future__ import annotations

import re
import unicodedata


def _table(text: str) -> dict[str, str]:
    """Pair up a text's words."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)
WIDE, BREAK = "\u2003", "\u2028"  # a space and a line end that survive tidying

SIGNS = _table("""
    alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ
    lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω
    ell ℓ infty ∞ partial ∂ nabla ∇ sum Σ prod Π int ∫ top ⊤ prime ′ forall ∀ exists ∃
    ldots … dots … cdots … vdots ⋮ emptyset ∅ varnothing ∅ ast * circ ∘ bullet •
    lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ lvert | rvert | Vert ‖
    vert | | ‖ lbrace { rbrace } lbrack [ rbrack ] { { } } % % _ _ # # $ $ & &
""")
SPACED = _table("""
    cdot · times × le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ∼ equiv ≡ propto ∝ to → gets ←
    rightarrow → leftarrow ← mapsto ↦ Rightarrow ⇒ Leftarrow ⇐ iff ⇔ implies ⇒ in ∈ notin ∉
    subset ⊂ subseteq ⊆ cup ∪ cap ∩ pm ± mp ∓ odot ⊙ otimes ⊗ oplus ⊕ div ÷ ll ≪ gg ≫ mid |
    land ∧ lor ∨ wedge ∧ vee ∨ setminus ∖ coloneqq :=
""")
SPACES = {"quad": WIDE * 3, "qquad": WIDE * 6, ",": " ", ";": " ", ":": " ", " ": " ", "!": ""}
WORDS = re.compile(r"(arg)?(max|min)|arg|log|ln|exp|(sin|cos|tan)h?|lim|sup|inf|det|dim|Pr|mod")
UPRIGHT = re.compile(r"text(bf|it|tt|rm)?|math(rm|bf|it|sf|tt|cal)|boldsymbol|operatorname")
SIZES = re.compile(r"left|right|[bB]ig{1,2}[lr]?|(display|text)style|(no)?limits")
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "vec": "\u20d7", "dot": "\u0307"}
DOUBLE = dict(zip("CENPQRZ1", "ℂ𝔼ℕℙℚℝℤ𝟙", strict=True))
RAISED = dict(zip("0123456789+−=()niTt⊤", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀᵗᵀ", strict=True))
LOWERED = dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True))
TABLES = {
    **dict.fromkeys(("aligned", "gathered", "split"), ("", "", BREAK)),
    **{"matrix": ("", "", "; "), "pmatrix": ("(", ")", "; "), "bmatrix": ("[", "]", "; ")},
    "cases": ("{ ", "", ";" + WIDE),
}
WHOLE = re.compile(r"[\w.′√∞^\u0302-\u0307⁰-⁹₀-₉]+(\([^()]*\))?|\([^()]*\)|[^\w\s]")


class _Strange(Exception):  # no error: a reason to leave a formula as it is
    """Something that plain text has no way to say."""


def plain(tex: str) -> str:
    """Write a formula in plain letters, or leave it as it is where that is not simple."""
    try:
        text = _until(TOKEN.findall(tex)[::-1], None)
    except (_Strange, IndexError, RecursionError):
        return tex.strip()
    text = unicodedata.normalize("NFC", text)  # one letter for a letter and its accent
    text = re.sub(r"\s*\u2028\s*", BREAK, re.sub(r"[ \n\t]+", " ", text)).strip()
    text = re.sub(r"(?<=[(\[⌊⌈⟨]) | (?=[)\]⌋⌉⟩,;])", "", text)
    return text.replace(WIDE, " ").replace(BREAK, "\n")


def _until(tokens: list[str], end: str | None) -> str:
    """Write what stands before the token ``end``, which is taken too; the last token is next."""
    written = ""
    while tokens:
        token = tokens.pop()
        if token == end:
            return written
        if token in "^_":
            written = written.rstrip(" ") + _script(token, tokens)
        else:
            written += _one(token, tokens)
    if end is not None:
        raise _Strange
    return written


def _argument(tokens: list[str]) -> str:
    """Write the next group, or the next thing."""
    while tokens[-1].isspace():
        tokens.pop()
    return _one(tokens.pop(), tokens).strip()


def _one(token: str, tokens: list[str]) -> str:
    """Write one thing, with the arguments that belong to it."""
    if token == "{":
        return _until(tokens, "}")
    if token == "}":
        raise _Strange
    if token.startswith("\\"):
        return _command(token[1:], tokens)
    return {"-": "−", "~": " ", "'": "′", "&": " "}.get(token, token)


def _command(name: str, tokens: list[str]) -> str:
    """Write what a command stands for."""
    if name in ("\\", "cr"):
        return BREAK
    if name in SIGNS or name in SPACES:
        return SIGNS.get(name) or SPACES[name]
    if name in SPACED:
        return f" {SPACED[name]} "
    if WORDS.fullmatch(name):
        follows = tokens[-1].lstrip("\\") if tokens else ""
        return name + (" " if follows[:1].isalnum() and not SIZES.fullmatch(follows) else "")
    if SIZES.fullmatch(name):
        return "" if not tokens or tokens[-1] != "." else tokens.pop()[1:]
    if UPRIGHT.fullmatch(name):
        return _upright(tokens)
    if name in ("frac", "dfrac", "tfrac"):
        return "/".join(_factor(_argument(tokens)) for _ in range(2))
    return _dressed(name, tokens)


def _dressed(name: str, tokens: list[str]) -> str:
    """Write what changes its argument: a root, an accent, a blackboard letter, a table."""
    inner = _argument(tokens)
    if name == "sqrt" and inner != "[":
        return f"√{_factor(inner)}"
    if name == "mathbb" and inner in DOUBLE:
        return DOUBLE[inner]
    if name in ACCENTS and len(inner) == 1:
        return inner + ACCENTS[name]
    if name == "begin" and inner in TABLES:
        opening, closing, joint = TABLES[inner]
        rows = _until(tokens, "\\end").strip().replace(BREAK, joint)
        if _argument(tokens) == inner:
            return f"{opening}{rows}{closing}"
    raise _Strange


def _upright(tokens: list[str]) -> str:
    """Write words; their spaces count."""
    if tokens[-1] == "*":
        tokens.pop()
    if tokens[-1] != "{":
        return _argument(tokens)
    tokens.pop()
    return _until(tokens, "}")


def _factor(text: str) -> str:
    """Bracket what a division or a root would tear apart."""
    return text if WHOLE.fullmatch(text) else f"({text})"


def _script(token: str, tokens: list[str]) -> str:
    """Write an index or a power."""
    text = _argument(tokens)
    small = RAISED if token == "^" else LOWERED
    if all(letter in small for letter in text):
        return "".join(small[letter] for letter in text)
    if not text.strip("′"):
        return text
    return token + (text if re.fullmatch(r"[^\W_]+|.|\([^()]*\)", text) else f"({text})")
