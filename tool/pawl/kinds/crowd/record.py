# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench crowd` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, beside_peers, rows
from pawl.kinds.crowd.kind import KIND
from pawl.kinds.crowd.plan import EVIDENCE, FLOOR, MAIN, OFF, PEERS, SPIN, Request, plan

BUDGET, SCALING_BUDGET, FAIR_SECONDS = 125.0, 75.0, 1.0


def _grid(scale: float, names: list[str]) -> list[Cell]:
    """Two rounds of longer samples: a crowd takes its time to go round once."""
    return plan(Request(rounds=2, warmup=0.004, budget=BUDGET * scale), names)


def _fair(scale: float, names: list[str]) -> list[Cell]:
    request = Request(
        threads=[32],
        writes=[10.0],
        hogs=[False],
        rounds=3,
        warmup=0.02,
        seconds=FAIR_SECONDS * min(scale, 1),
    )
    return plan(request, names)


def _scaling(scale: float, names: list[str]) -> list[Cell]:
    """Six rounds are the fewest with an interval. The plain lock is a null row."""
    return plan(Request(rounds=6, warmup=0.004, budget=SCALING_BUDGET * scale), names)


GRID = Part(KIND, "Crowds of threads", beside_peers([MAIN, SPIN, FLOOR], PEERS, _grid))
FAIR = Part(
    KIND, "Shares of 32 threads over a second", rows(f"{MAIN},{FLOOR}", _fair), baseline=FLOOR
)
SCALING = Part(
    KIND,
    "Crowds of threads, readers that scale",
    rows(f"{MAIN},{OFF},{EVIDENCE}", _scaling),
    baseline=OFF,
)
