# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench counters` measures: all rows, longer."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.counters.kind import KIND
from pawl.kinds.counters.plan import Request, plan

SECONDS, ROUNDS = 0.04, 15


def _plan(path: Path, scale: float) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    request = Request(seconds=round(SECONDS * scale, 4), rounds=ROUNDS)
    return Plan(plan(request, choice.names), choice.missing)


PART = Part(KIND, KIND.title, _plan)
