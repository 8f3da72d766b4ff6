"""TeX becomes plain text where that is simple, and stays as it is where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.harness.formula import plain
from specs.harness.lessons import read_lesson
from specs.harness.steps import House, Step


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\sqrt{d_k}", "√d_k"),
        (r"\frac{S}{\sqrt{d_k}}", "S/√d_k"),
        (r"\frac{a + b}{2}", "(a + b)/2"),
        (r"\frac{1}{2}", "1/2"),
        (r"\frac12", r"1/2"),
        (r"q \cdot k", "q · k"),
        (r"q\cdot k", "q · k"),
        (r"QK^\top", "QKᵀ"),
        (r"x^2 + y^{n}", "x² + yⁿ"),
        (r"10^{-4}", "10⁻⁴"),
        (r"b^{-2i/D}", "b^(−2i/D)"),
        (r"W^Q_i", "W^Q_i"),
        (r"x_1, x_{12}, x_{i,j}, x_{n_b}", "x₁, x₁₂, x_(i,j), x_(n_b)"),
        (r"PE_{(pos, 2i)}", "PE_(pos, 2i)"),
        (r"d_{\text{model}}", "d_model"),
        (r"\operatorname{softmax}\left(\frac{x}{2}\right)", "softmax(x/2)"),
        (r"\sin\theta + \log x + \max(a, b)", "sin θ + log x + max(a, b)"),
        (r"\alpha \beta \Omega \varepsilon", "α β Ω ε"),
        (r"a \leq b \ne c \approx d \in \mathbb{R}", "a ≤ b ≠ c ≈ d ∈ ℝ"),
        (r"\sum_{i=1}^{n} x_i", "Σ_(i=1)ⁿ x_i"),
        (r"\hat y, \bar{x}", "ŷ, x̄"),
        (r"\{a\} \| b \| 5\%", "{a} ‖ b ‖ 5%"),
        (r"a, \quad b", "a,     b"),
        (r"a - b'", "a − b′"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "(1 2; 3 4)"),
        (r"\begin{cases} 1 & \text{if } x \cr 0 & \text{else} \end{cases}", "{ 1 if x;  0 else"),
        ("\\begin{aligned}\na &= b \\\\\n &= c\n\\end{aligned}", "a = b\n= c"),
        (r"1 \text{ or } 2", "1 or 2"),
        ("", ""),
    ],
)
def test_simple_formulas_read_as_text(tex: str, text: str) -> None:
    """What a person would type."""
    assert plain(tex) == text


@pytest.mark.parametrize(
    "tex",
    [
        r"\underbrace{x}_{y}",
        r"\sqrt[3]{x}",
        r"\frac{a}",
        r"{a",
        "a}",
        "a_",
        "^",
        "\\",
        r"\begin{cases} a \end{aligned}",
        r"\begin{tikzpicture}",
        r"\hat{xyz}",
        "{" * 3000,
    ],
)
def test_the_rest_stays_as_it_is(tex: str) -> None:
    """Half a translation would mislead."""
    assert plain(tex) == tex


@given(st.text(alphabet=r"\{}^_&$ ab-frcsqtegin[]'~", max_size=40))
def test_no_formula_stops_a_lesson(tex: str) -> None:
    """Whatever stands between the dollar signs, there is some text."""
    assert isinstance(plain(tex), str)


STEPS = House(Path(__file__).parents[2]).steps


@pytest.mark.parametrize(
    "step", [step for step in STEPS if step.lesson.exists()], ids=lambda step: step.tag
)
def test_every_formula_of_the_lessons_is_simple_enough(step: Step) -> None:
    """No backslash is left for a learner to puzzle over."""
    text = "\n".join(read_lesson(step).sections.values())
    formulas = re.findall(r"\$\$?([^$]+?)\$", re.sub(r"`[^`]*`|(?s:```.*?```)", "", text))
    assert [formula for formula in formulas if "\\" in plain(formula)] == []
