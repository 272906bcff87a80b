# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench readers` measures."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.readers.kind import KIND
from pawl.kinds.readers.plan import Request, plan

PAIR_BUDGET, GRID_BUDGET, SCENES_BUDGET = 25.0, 180.0, 55.0


def _part(path: Path, request: Request) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    return Plan(plan(request, choice.names), choice.missing)


def _pair(path: Path, scale: float) -> Plan:
    return _part(
        path,
        Request(sections=[0.0], writes=[0.0], locks=[1], rounds=12, budget=PAIR_BUDGET * scale),
    )


def _grid(path: Path, scale: float) -> Plan:
    return _part(path, Request(budget=GRID_BUDGET * scale))


def _scenes(path: Path, scale: float) -> Plan:
    return _part(
        path,
        Request(
            scenes=["write", "seek", "flood"],
            sections=[0.0],
            rounds=6,
            budget=SCENES_BUDGET * scale,
        ),
    )


PAIR = Part(KIND, "The reader's pair", _pair)
GRID = Part(KIND, "Readers and writers", _grid)
SCENES = Part(KIND, "Writers and seekers beside readers", _scenes)
