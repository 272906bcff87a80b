# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench crowd --busy` measures."""

from __future__ import annotations

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.busy.kind import KIND
from pawl.kinds.busy.plan import MAIN, PEERS, Request, plan

BUDGET = 330.0
# The machines that have targets.
JUDGED = ["idle", "one-cpu", "busy-1", "busy-2"]


def _plan(path: Path, scale: float) -> Plan:
    offered = driver.candidates(path)
    absent = [
        {"candidate": c["name"], "why": c["why"]}
        for c in offered
        if c["name"] in PEERS and not c["available"]
    ]
    peers = [n for n in PEERS if n not in {a["candidate"] for a in absent}]
    choice = candidates.choose(",".join([MAIN, *peers]), offered)
    # One round: three runs are recorded, and all waits of more would be a large file.
    request = Request(machines=JUDGED, rounds=1, budget=BUDGET * scale)
    return Plan(plan(request, choice.names), absent)


PART = Part(KIND, KIND.title, _plan)
