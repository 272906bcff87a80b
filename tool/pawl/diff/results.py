# SPDX-License-Identifier: MIT
"""Two results of benchmarks: the rows of the same cell and candidate."""

from __future__ import annotations

from pathlib import Path

from pawl.core import results
from pawl.core.kind import Kinds
from pawl.diff.rows import Compared, Row


def _rows(path: Path, kinds: Kinds) -> dict[str, dict]:
    found = {}
    for kind, result in results.parts(path, kinds):
        for cell in result["cells"]:
            for row in cell["summary"]:
                found[f"{kind.name} {kind.label(cell)}: {row['candidate']}"] = row
    return found


def _apart(a: dict, b: dict) -> bool:
    return a["q3"] < b["q1"] or b["q3"] < a["q1"]


def compare(before: Path, after: Path, kinds: Kinds) -> Compared:
    old, new = _rows(before, kinds), _rows(after, kinds)
    rows = [
        Row(name, {"median": (a["median"], new[name]["median"])}, sure=_apart(a, new[name]))
        for name, a in old.items()
        if name in new
    ]
    for row in rows:
        ratio = row.ratio("median") or 0
        row.weight = max(ratio, 1 / ratio) if ratio else 1e9
    return Compared(
        sorted(rows, key=lambda r: (not r.sure, -r.weight, r.name)),
        sorted(old.keys() - new.keys()),
        sorted(new.keys() - old.keys()),
        [],
        [],
    )
