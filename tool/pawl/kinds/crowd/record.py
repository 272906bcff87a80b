# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench crowd` measures."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.crowd.kind import KIND
from pawl.kinds.crowd.plan import EVIDENCE, FLOOR, MAIN, OFF, PEERS, SPIN, Request, plan

BUDGET, SCALING_BUDGET, FAIR_SECONDS = 125.0, 75.0, 1.0


def _grid(path: Path, scale: float) -> Plan:
    offered = driver.candidates(path)
    absent = [
        {"candidate": c["name"], "why": c["why"]}
        for c in offered
        if c["name"] in PEERS and not c["available"]
    ]
    peers = [n for n in PEERS if n not in {a["candidate"] for a in absent}]
    choice = candidates.choose(",".join([MAIN, SPIN, *peers, FLOOR]), offered)
    # Two rounds of longer samples: a crowd takes its time to go round once.
    request = Request(rounds=2, warmup=0.004, budget=BUDGET * scale)
    return Plan(plan(request, choice.names), absent)


def _fair(path: Path, scale: float) -> Plan:
    choice = candidates.choose(f"{MAIN},{FLOOR}", driver.candidates(path))
    request = Request(
        threads=[32],
        writes=[10.0],
        hogs=[False],
        rounds=3,
        warmup=0.02,
        seconds=FAIR_SECONDS * min(scale, 1),
    )
    return Plan(plan(request, choice.names), choice.missing)


def _scaling(path: Path, scale: float) -> Plan:
    """Six rounds are the fewest with an interval. The plain lock is a null row."""
    choice = candidates.choose(f"{MAIN},{OFF},{EVIDENCE}", driver.candidates(path))
    request = Request(rounds=6, warmup=0.004, budget=SCALING_BUDGET * scale)
    return Plan(plan(request, choice.names), choice.missing)


GRID = Part(KIND, "Crowds of threads", _grid)
FAIR = Part(KIND, "Shares of 32 threads over a second", _fair, baseline=FLOOR)
SCALING = Part(KIND, "Crowds of threads, readers that scale", _scaling, baseline=OFF)
