# SPDX-License-Identifier: MIT
"""The part of recorded runs that has other people's programs."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.shim.kind import KIND
from pawl.kinds.shim.plan import plan


def _plan(path: Path, scale: float) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    return Plan(plan(scale, choice.names), choice.missing)


PART = Part(KIND, KIND.title, _plan)
