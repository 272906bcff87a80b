# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench hash` measures."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.hash.kind import KIND
from pawl.kinds.hash.plan import BASELINE, MAIN, QUIESCENT, Request, plan

BUDGET = 105.0
# Two cells are compared there, so that each needs more samples, and longer ones.
READING_ROUNDS, READING_SECONDS = 15, 0.05
THREADS = [1, 2]


def _all(path: Path, scale: float) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    return Plan(plan(Request(threads=THREADS, budget=BUDGET * scale), choice.names), choice.missing)


def _reading(path: Path, scale: float) -> Plan:
    choice = candidates.choose(",".join([BASELINE, MAIN, QUIESCENT]), driver.candidates(path))
    request = Request(
        threads=THREADS,
        updates=[0.0],
        rounds=READING_ROUNDS,
        seconds=round(READING_SECONDS * scale, 4),
        warmup=0.02,
    )
    return Plan(plan(request, choice.names), choice.missing)


ALL = Part(KIND, KIND.title, _all)
READING = Part(KIND, "A hash table that is only read", _reading)
