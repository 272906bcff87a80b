# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench functions` measures: all rows, more rounds."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver, groups
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.functions.kind import KIND
from pawl.kinds.functions.plan import GROUPS, SECONDS, WARMUP

RECORDED_ROUNDS = 21


def _plan(path: Path, scale: float) -> Plan:
    choice = candidates.choose("all", driver.candidates(path))
    request = groups.Request(
        seconds=round(SECONDS * scale, 5), rounds=RECORDED_ROUNDS, warmup=WARMUP
    )
    return Plan(groups.plan("functions", GROUPS, request, choice.names), choice.missing)


PART = Part(KIND, KIND.title, _plan)
