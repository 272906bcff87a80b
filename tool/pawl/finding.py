# SPDX-License-Identifier: MIT
"""What a target is, and how one is judged from the parts of a recorded run."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from pawl import stats
from pawl.errors import BadInput


@dataclass
class Finding:
    """One run's answer: the value compared with the limit, its interval, what else to say."""

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""

    def show(self) -> str:
        interval = "" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{interval}"


@dataclass
class Target:
    name: str
    limit: float
    at_least: bool
    find: Callable[[dict], Finding]
    # Judged by the median of the runs: of each run alone otherwise.
    middle: bool = False

    def met(self, found: Finding) -> bool:
        return found.value >= self.limit if self.at_least else found.value <= self.limit

    def verdicts(self, found: list[Finding]) -> list[bool]:
        """Of each run; a target of the median gives all runs that one's."""
        if not self.middle:
            return [self.met(f) for f in found]
        return [self.met(Finding(statistics.median(f.value for f in found)))] * len(found)

    def text(self) -> str:
        of = ", median of the runs" if self.middle else ""
        return f"{self.name}{of} {'>=' if self.at_least else '<='} {self.limit:.2f}"


def paired(table: dict[str, dict[int, float]], over: str, under: str) -> Finding:
    """How many times `under` the candidate `over` has, round by round."""
    values = stats.paired(table, over, under)
    if not values:
        missing = over if over not in table else under
        raise BadInput(f"{missing} was not measured; record again with a build that has it.")
    found = stats.ratio(values)
    return Finding(found["ratio"], found["low"], found["high"])


def ratio(cell: dict, over: str, under: str) -> Finding:
    return paired(stats.rates(cell["samples"]), over, under)


def find_part(run: dict, kind: str, test: Callable[[dict], bool]) -> dict:
    for one in run["parts"]:
        if one["kind"] == kind and one["cells"] and test(one):
            return one
    raise BadInput(f"the run of {run.get('started')} lacks a part of kind {kind}; record again.")
