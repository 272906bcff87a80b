# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench crowd --busy` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, beside_peers
from pawl.kinds.busy.kind import KIND
from pawl.kinds.busy.plan import MAIN, PEERS, Request, plan

BUDGET, FEW_SECONDS = 330.0, 0.15
# The machines that have targets.
JUDGED = ["idle", "one-cpu", "busy-1", "busy-2"]


def _cells(scale: float, names: list[str]) -> list[Cell]:
    """One round: three runs are recorded, and all waits of more would be a large file."""
    return plan(Request(machines=JUDGED, rounds=1, budget=BUDGET * scale), names)


def _few(scale: float, names: list[str]) -> list[Cell]:
    """The middle of the grid, and the one beside the others."""
    request = Request(
        machines=["busy-2"],
        threads=[16],
        sections=[10.0],
        writes=[10.0],
        outside=0,
        rounds=1,
        seconds=round(FEW_SECONDS * scale, 4),
    )
    return plan(request, names)


PART = Part(KIND, KIND.title, beside_peers([MAIN], PEERS, _cells))
FEW = Part(KIND, KIND.title, beside_peers([MAIN], PEERS, _few))
