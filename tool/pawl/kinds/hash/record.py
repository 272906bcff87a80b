# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench hash` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.hash.kind import KIND
from pawl.kinds.hash.plan import BASELINE, MAIN, QUIESCENT, URCU, Request, plan

BUDGET, FEW_BUDGET = 105.0, 20.0
# Two cells are compared there, so that each needs more samples, and longer ones.
READING_ROUNDS, READING_SECONDS = 15, 0.05
THREADS = [1, 2]


def _all(scale: float, names: list[str]) -> list[Cell]:
    return plan(Request(threads=THREADS, budget=BUDGET * scale), names)


def _few(scale: float, names: list[str]) -> list[Cell]:
    request = Request(
        threads=[2], updates=[0.0, 1.0, 5.0, 10.0, 20.0], rounds=6, budget=FEW_BUDGET * scale
    )
    return plan(request, [n for n in names if n in (MAIN, QUIESCENT, *URCU)])


def _reading(scale: float, names: list[str]) -> list[Cell]:
    request = Request(
        threads=THREADS,
        updates=[0.0],
        rounds=READING_ROUNDS,
        seconds=round(READING_SECONDS * scale, 4),
        warmup=0.02,
    )
    return plan(request, names)


ALL = Part(KIND, KIND.title, rows("all", _all))
FEW = Part(KIND, KIND.title, rows("all", _few), baseline=URCU[0])
READING = Part(
    KIND, "A hash table that is only read", rows(f"{BASELINE},{MAIN},{QUIESCENT}", _reading)
)
