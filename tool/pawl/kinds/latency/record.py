# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench latency` measures: all scenarios."""

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.latency import plan
from pawl.kinds.latency.kind import KIND

# A sample of the scenario placed.
PLACED_SECONDS = 4.2


def _plan(path: Path, scale: float) -> Plan:
    request = plan.Request(seconds=round(PLACED_SECONDS * scale, 4))
    offered = driver.candidates(path)
    choice = candidates.choose("all", offered)
    pairs = driver.candidates(path, plan.pair_options(request))
    rows = plan.rows_of_pairs(pairs, [c["name"] for c in offered], choice.names)
    return Plan(plan.plan(request, choice.names, rows), choice.missing)


PART = Part(KIND, KIND.title, _plan)
