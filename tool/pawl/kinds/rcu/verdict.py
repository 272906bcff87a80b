# SPDX-License-Identifier: MIT
"""What a page of `pawl bench rcu` begins with: each group beside liburcu's."""

from pawl.core import stats
from pawl.core.compare import TIME, Comparison
from pawl.core.groups import worded
from pawl.kinds.rcu.plan import GROUPS, baseline_of
from pawl.kinds.rcu.table import times

# The quiescent-state flavour is what a verdict is about where only it announces.
ONLY = {"quiet": "pawl_rcu_qs"}
QUANTITY = {"delay": "the 99th percentile of the delays", "flood": "the longest queue"}


def _held(samples: list[dict]) -> dict[str, dict[int, float]]:
    """candidate -> round -> bytes queued at most."""
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        found.setdefault(sample["candidate"], {})[sample["round"]] = sample["peak_bytes"]
    return found


def _of_group(cell: dict) -> list[Comparison]:
    group = cell["group"]
    table = (_held if group == "flood" else times)(cell["samples"])
    found = []
    for name in cell["candidates"]:
        what, where = name.split("/")[1].split("@")
        if what == ONLY.get(group, "pawl_rcu"):
            theirs = baseline_of(name)
            values = stats.paired(table, name, theirs)
            work = f"{GROUPS[group]}, {worded(where)}"
            found.append(Comparison(work, name, theirs, [values], QUANTITY.get(group, TIME)))
    return found


def comparisons(result: dict) -> list[Comparison]:
    return [c for cell in result["cells"] for c in _of_group(cell)]
