"""A house of two small parts, built in a folder of a test's own."""

from __future__ import annotations

from pathlib import Path

from specs.harness.steps import House, Step
from specs.harness.stubs import make_stubs

SUMS = '''\
"""Part 3 · Sums and Halves."""

from __future__ import annotations

import math


def add(left: int, right: int) -> int:
    """Put two numbers together."""
    return left + right


def halve(number: float) -> float:
    """Cut a number in two: ``x ÷ 2``."""
    half = _times(number, 0.5)
    return half


def _times(number: float, factor: float) -> float:
    return number * factor


def root(number: float) -> float:
    """Find what, squared, gives the number."""
    return math.sqrt(number)
'''

WORDS = '''\
"""Part 4 · Words."""


def shout(word: str) -> str:
    """Make a word loud."""
    return word.upper()
'''

LESSON = """\
# 022 · add

*Part 3, Sums and Halves · +5 XP · paper: section 3*

## Intuition

Two numbers meet.

## Concepts

- **Sum.** What both are together.

## Mathematics

$$s = a + b$$

## Implementation

Write `add(left, right)` in `kata/part03_sums.py`.

<details><summary>Hint 1</summary>What do you do with fingers?</details>
<details><summary>Hint 2</summary>There is an operator for it.</details>
<details><summary>Hint 3</summary>`left … right`</details>

## Tests

- 1 and 2 become 3.

## Mistakes

| what was written | what it does |
|---|---|
| `left - right` | 1 and 2 become −1 |

## Checkpoint

What is 2 and 2?

<details><summary>Answer</summary>

4, by hand.

```pycon
>>> 2 + 2
4
```

</details>
"""

STEPS = {
    "part03": {21: "add", 22: "halve", 23: "root"},
    "part04": {31: "shout"},
}


def build(root: Path) -> House:
    """Write the house's files: references, specs, one lesson, and the kata's stubs."""
    texts = {"part03_sums": SUMS, "part04_words": WORDS}
    for folder in ("reference", "kata", "specs/part03", "specs/part04"):
        (root / folder).mkdir(parents=True)
    for part, steps in STEPS.items():
        for number, name in steps.items():
            (root / f"specs/{part}/test_{number:03d}_{name}.py").touch()
    for module, text in texts.items():
        (root / f"reference/{module}.py").write_bytes(text.encode())
    house = House(root)
    for module, text in texts.items():
        stubs = make_stubs(text, house.in_module(module))
        (root / f"kata/{module}.py").write_bytes(stubs.encode())
    lesson = house.find("add").lesson
    lesson.write_bytes(LESSON.replace("022", "021").encode())
    return house


def step_of(house: House, name: str) -> Step:
    """The step of that name."""
    return house.find(name)
