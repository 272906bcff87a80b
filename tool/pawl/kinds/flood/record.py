# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench crowd --flood` measures."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.crowd.plan import MAIN
from pawl.kinds.flood.kind import KIND
from pawl.kinds.flood.plan import FLOOR, Request, plan

SECONDS = 1.2


def _plan(path: Path, scale: float) -> Plan:
    choice = candidates.choose(f"{FLOOR},{MAIN}", driver.candidates(path))
    request = Request(threads=[2, 8, 32], rounds=2, seconds=SECONDS * scale)
    return Plan(plan(request, choice.names), choice.missing)


PART = Part(KIND, KIND.title, _plan, baseline=FLOOR)
