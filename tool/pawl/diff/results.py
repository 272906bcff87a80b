# SPDX-License-Identifier: MIT
"""Two results of benchmarks: the rows of the same cell and candidate.

Runs of one command differ by as much as the machine does from one hour to the next, and all rows
of a run by the same. So what is compared is each row's ratio to its baseline, measured in turns
with it. Two ratios differ where their intervals lie apart, and where they do so by more than the
rows of these two runs do as a rule. The more rows, the more is asked for: of two runs of the same
thing at most one in twenty should have any row that differs.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist

from pawl.core import results, stats
from pawl.core.kind import Kinds
from pawl.diff.rows import Compared, Row

MANY = 20
FEW = 4  # rows of a cell: fewer do not say what they have in common
MAD = 1.4826  # times the median deviation is the standard deviation, of normal values
LAYOUT = math.log(1.05)  # rows of two runs differ by so much by where their memory lies
CHANCE = 0.05  # that a comparison of a thing with itself finds a difference
Interval = tuple[float, float, float]  # the ratio, and its ends


def _rows(path: Path, kinds: Kinds) -> dict[str, dict]:
    found = {}
    for kind, result in results.parts(path, kinds):
        for cell in result["cells"]:
            for row in cell["summary"]:
                found[f"{kind.name} {kind.label(cell)}: {row['candidate']}"] = row
    return found


def _apart(rows: int) -> float:
    """So many standard deviations from none, that one of so many rows comes there by chance."""
    return NormalDist().inv_cdf(1 - CHANCE / max(rows, 1) / 2)


def confidence(rows: int) -> float:
    """Of each interval, so that of two equal ratios they lie apart as seldom as one row of so many
    may. The difference of two is wider than each of them by the root of two."""
    return max(2 * NormalDist().cdf(_apart(rows) / math.sqrt(2)) - 1, stats.CONFIDENCE)


def _far(rows: int) -> float:
    """As _apart, of Student's distribution with three degrees of freedom: a few rows
    of two runs of one command change more than normal values do."""
    low, high = 0.0, 1e6
    while high - low > 1e-3:
        middle = (low + high) / 2
        x = middle / math.sqrt(3)
        beyond = 0.5 - (x / (1 + x * x) + math.atan(x)) / math.pi
        low, high = (middle, high) if beyond > CHANCE / max(rows, 1) / 2 else (low, middle)
    return high


def _changes(rows: list[Row]) -> list[float]:
    """Logarithms of how the ratios changed, without what the rows of a cell have in common: that is
    the change of their baseline."""
    cells: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        cells[row.name.rpartition(": ")[0]].append(math.log(row.ratio("ratio")))
    common = {name: statistics.median(c) if len(c) >= FEW else 0.0 for name, c in cells.items()}
    return [math.log(r.ratio("ratio")) - common[r.name.rpartition(": ")[0]] for r in rows]


def _usual(changes: list[float]) -> float:
    """The logarithm by which rows of these two runs differ without a reason, and more for chance:
    most rows have none. Few rows do not say it; then it is what memory's layout does alone."""
    if len(changes) < MANY:
        return LAYOUT
    middle = statistics.median(changes)
    spread = statistics.median(abs(c - middle) for c in changes)
    return max(_far(len(changes)) * MAD * spread, LAYOUT)


def _interval(row: dict) -> Interval | None:
    ends = row.get("ratio_to_baseline"), row.get("ratio_ci95_low"), row.get("ratio_ci95_high")
    if any(end is None or end <= 0 for end in ends) or ends[0] == ends[1] == ends[2] == 1:
        return None  # it is the baseline itself, or there are too few rounds
    return ends


def _row(name: str, old: dict, new: dict) -> Row:
    made = Row(name, {"median": (old["median"], new["median"])})
    before, after = _interval(old), _interval(new)
    if before is None or after is None:
        return made
    made.measures = {"ratio": (before[0], after[0]), **made.measures}
    made.sure = before[2] < after[1] or after[2] < before[1]
    made.visible = max(
        before[2] / before[0] * after[0] / after[1], before[0] / before[1] * after[2] / after[0]
    )
    change = after[0] / before[0]
    made.weight = max(change, 1 / change)
    return made


def compare(before: Path, after: Path, kinds: Kinds) -> Compared:
    several = max(len(_rows(before, kinds).keys() & _rows(after, kinds).keys()), 1)
    with stats.confidence(confidence(several)):
        old, new = _rows(before, kinds), _rows(after, kinds)
    rows = [_row(name, row, new[name]) for name, row in old.items() if name in new]
    judged = [row for row in rows if row.sure is not None]
    changes = _changes(judged)
    usual = _usual(changes)
    for row, change in zip(judged, changes, strict=True):
        row.sure = row.sure and abs(change) > usual
        row.visible = max(row.visible, math.exp(usual))
    return Compared(
        sorted(rows, key=lambda r: (not r.sure, -r.weight, r.name)),
        sorted(old.keys() - new.keys()),
        sorted(new.keys() - old.keys()),
        [],
        [],
    )
