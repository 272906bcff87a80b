# SPDX-License-Identifier: MIT
"""What a page of `pawl bench pairs` begins with."""

from pawl.core.compare import TIME, Comparison, of_cells
from pawl.kinds.pairs.plan import FLOOR
from pawl.kinds.pairs.table import MODES

LOCKS = ("pawl_spin32", "pawl_lock64")
PEER = "pthread_rwlock"


def _of_mode(cells: list[dict], mode: str, work: str) -> list[Comparison]:
    """Beside the lock that has the mode too; where none was measured, beside the floor."""
    offered = cells[0]["candidates"]
    theirs = f"{mode}/{PEER}" if f"{mode}/{PEER}" in offered else FLOOR
    # Time against time is rate against rate the other way round.
    return [
        Comparison(work, ours, theirs, of_cells(work, theirs, ours, cells).workloads, TIME)
        for lock in LOCKS
        if (ours := f"{mode}/{lock}") in offered
    ]


def comparisons(result: dict) -> list[Comparison]:
    cells = result["cells"]
    return [c for mode, work in MODES if mode != "floor" for c in _of_mode(cells, mode, work)]
