# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench crowd` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, beside_peers, rows
from pawl.kinds.crowd.kind import KIND
from pawl.kinds.crowd.plan import EVIDENCE, FLOOR, MAIN, MUTEX, OFF, PEERS, SPIN, Request, plan

BUDGET, SCALING_BUDGET, FAIR_SECONDS = 108.0, 75.0, 1.0
SHORT_US, LONG_US = 0.05, 10.0


def _grid(scale: float, names: list[str]) -> list[Cell]:
    """Two rounds of longer samples: a crowd takes its time to go round once."""
    return [
        *plan(Request(rounds=2, warmup=0.004, budget=BUDGET * scale), names),
        *_steady(scale, names, 2, sections=[SHORT_US], outside=0),
    ]


def _steady(scale: float, names: list[str], rounds: int, **cell) -> list[Cell]:
    """32 threads for a second a sample: what a crowd does in its first moments passes."""
    length = FAIR_SECONDS * min(scale, 1)
    request = Request(
        threads=[32],
        writes=[10.0],
        hogs=[False],
        rounds=rounds,
        warmup=0.02,
        seconds=length,
        **cell,
    )
    return plan(request, names)


def _fair(scale: float, names: list[str]) -> list[Cell]:
    return _steady(scale, names, 3)


def _collapse(scale: float, names: list[str]) -> list[Cell]:
    """Short sections without a pause, and the longest of `--quick`."""
    return [
        *_steady(scale, names, 2, sections=[SHORT_US], outside=0),
        *_steady(scale, names, 2, sections=[LONG_US]),
    ]


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
COLLAPSE = Part(
    KIND,
    "Crowds, a second a sample",
    beside_peers([MAIN, OFF, EVIDENCE], (*PEERS, MUTEX), _collapse),
)
