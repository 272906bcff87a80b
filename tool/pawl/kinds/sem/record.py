# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench sem` measures: all rows."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.sem.kind import KIND
from pawl.kinds.sem.plan import Request, plan

BUDGET = 12.0


def _plan(path: Path, scale: float) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    return Plan(plan(Request(threads=[1, 2], budget=BUDGET * scale), choice.names), choice.missing)


PART = Part(KIND, KIND.title, _plan)
