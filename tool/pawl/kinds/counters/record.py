# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench counters` measures: all rows, longer."""

from __future__ import annotations

from pathlib import Path

from pawl.core import groups
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.counters.kind import KIND
from pawl.kinds.counters.plan import GROUPS


def _plan(path: Path, scale: float) -> Plan:
    return groups.recorded(path, scale, "counters", GROUPS)


PART = Part(KIND, KIND.title, _plan)
