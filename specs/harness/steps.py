"""The register of steps, read from the names of the spec files: no other list exists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SPEC_NAME = re.compile(r"test_(\d{3})_(\w+)\.py")
PART_NAME = re.compile(r"part(\d{2})")
XP_PER_STEP = 5


class UserError(Exception):
    """A slip in what a person asked for, told in one line: what was given, and what to do."""


@dataclass(frozen=True, order=True)
class Step:
    """One function of the kata, found by the name of its spec."""

    number: int
    name: str
    part: str  # "part03"
    module: str  # "part03_attention"
    spec: Path

    @property
    def tag(self) -> str:
        """The number as file names and messages write it: ``022``."""
        return f"{self.number:03d}"

    @property
    def lesson(self) -> Path:
        """Where the step's lesson lies, beside its spec."""
        return self.spec.with_name(f"{self.tag}_{self.name}.md")

    @property
    def file(self) -> str:
        """The file name of the step's module: ``part03_attention.py``."""
        return f"{self.module}.py"


@dataclass(frozen=True)
class House:
    """The repository's folders, and the steps that live in them."""

    root: Path

    @property
    def kata(self) -> Path:
        """Where the learner writes."""
        return self.root / "kata"

    @property
    def reference(self) -> Path:
        """Where the answers lie."""
        return self.root / "reference"

    @cached_property
    def modules(self) -> dict[str, str]:
        """The reference's module of each part: ``{"part03": "part03_attention"}``."""
        return {
            path.stem[:6]: path.stem for path in sorted(self.reference.glob("part[0-9][0-9]_*.py"))
        }

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every step, in order of its number."""
        found = []
        for spec in self.root.glob("specs/part[0-9][0-9]/test_*.py"):
            match = SPEC_NAME.fullmatch(spec.name)
            if match:
                part = spec.parent.name
                module = self.modules.get(part, part)
                found.append(Step(int(match[1]), match[2], part, module, spec))
        return tuple(sorted(found))

    @cached_property
    def by_spec(self) -> dict[Path, Step]:
        """Steps by the path of their spec."""
        return {step.spec: step for step in self.steps}

    def in_module(self, module: str) -> list[Step]:
        """The steps that one module holds, in order."""
        return [step for step in self.steps if step.module == module]

    def mistakes(self, step: Step) -> Path:
        """The file of the step's known wrong versions."""
        return self.reference / "mistakes" / step.part / f"{step.tag}_{step.name}.py"

    def unusual(self, step: Step) -> Path:
        """The file of the step's right but unusual versions, where there are any."""
        return self.reference / "unusual" / step.part / f"{step.tag}_{step.name}.py"

    def part_title(self, part: str) -> str:
        """The part's title, from the first line of its reference module's docstring."""
        module = self.modules.get(part)
        first = (
            (self.reference / f"{module}.py").read_text("utf-8").split("\n", 1)[0] if module else ""
        )
        return first.strip('" .').partition("·")[2].strip() or part

    def find(self, asked: str) -> Step:
        """The step a person asked for, as ``22``, ``022`` or by its function's name."""
        for step in self.steps:
            if asked == step.name or (asked.isdecimal() and int(asked) == step.number):
                return step
        if not self.steps:
            raise UserError(
                f"no steps found under {self.root / 'specs'}: is this the kata's folder?"
            )
        known = f"{self.steps[0].tag} to {self.steps[-1].tag}"
        raise UserError(
            f"there is no step {asked!r}: steps run from {known}, asked for as 22 or by name"
        )

    def find_part(self, asked: str) -> str:
        """The part a person asked for, as ``part03``, ``3`` or its module's name."""
        digits = re.fullmatch(r"(?:part)?(\d{1,2})(?:_\w+)?", asked)
        part = f"part{int(digits[1]):02d}" if digits else asked
        if part not in self.modules:
            raise UserError(f"there is no part {asked!r}: parts are {', '.join(self.modules)}")
        return part
