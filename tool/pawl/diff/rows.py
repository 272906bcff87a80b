# SPDX-License-Identifier: MIT
"""What is compared: a lock of two traces, or a row of two results, with its measures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pawl.core.errors import BadInput

CONDITION = re.compile(r"(\w+)([<>])([\d.]+)x")


@dataclass
class Row:
    name: str
    measures: dict[str, tuple[float, float]]  # (before, after)
    weight: float = 0  # the rows that matter most come first
    sure: bool | None = None  # the difference is beyond chance; None: it cannot be told
    visible: float | None = None  # the factor from which on it could have been told

    def ratio(self, measure: str) -> float | None:
        before, after = self.measures[measure]
        return after / before if before else None


@dataclass
class Compared:
    rows: list[Row]
    only_before: list[str]
    only_after: list[str]
    gone: list[str]  # findings
    new: list[str]


@dataclass
class Limit:
    """`name=cache.* p99_wait>1.5x`: the measure has become more than so many times what it was."""

    text: str
    name: str
    measure: str
    above: bool
    factor: float

    def _holds(self, row: Row) -> bool:
        """Of rows that are compared by their ratios, only those that differ beyond chance."""
        if self.measure not in row.measures or (row.sure is False):
            return False
        before, after = row.measures[self.measure]
        if self.above:
            return after > self.factor * before
        return after < self.factor * before

    def broken(self, rows: list[Row]) -> list[str]:
        known = {m for row in rows for m in row.measures}
        if rows and self.measure not in known:
            raise BadInput(
                f"--fail-on '{self.text}': these files have no measure {self.measure}; "
                f"choose among {', '.join(sorted(known))}."
            )
        return [
            f"{r.name}: {self.measure} went from {r.measures[self.measure][0]:.6g} to "
            f"{r.measures[self.measure][1]:.6g}"
            for r in rows
            if fnmatchcase(r.name, self.name) and self._holds(r)
        ]


def parse(text: str) -> Limit:
    words = text.split()
    name = words.pop(0).removeprefix("name=") if words and words[0].startswith("name=") else "*"
    found = CONDITION.fullmatch(words[0]) if len(words) == 1 else None
    try:
        factor = float(found[3]) if found else None
    except ValueError:
        factor = None
    if found is None or factor is None:
        raise BadInput(
            f"--fail-on '{text}' is no condition; say for example "
            "'name=cache.* p99_wait>1.5x' or 'median<0.95x'."
        )
    return Limit(text, name, found[1], found[2] == ">", factor)
