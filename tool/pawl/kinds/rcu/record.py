# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench rcu` measures; a short one has a small flood."""

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.groups import group_of, with_baselines
from pawl.core.kind import Plan
from pawl.core.record import Part
from pawl.kinds.rcu.kind import KIND
from pawl.kinds.rcu.plan import Request, baseline_of, most_bytes, plan

SECONDS, DELAY_SECONDS = 0.02, 0.5
FLOOD, CALLBACKS = 10_000_000, 500_000
MOST_MIB = 2048


def _measured(name: str) -> bool:
    """Ten million callbacks take seconds: of the floods those rows that say most."""
    if group_of(name) != "flood":
        return True
    what, where = name.removeprefix("flood/").split("@")
    return what in ("pawl_rcu", "pawl_rcu_wait", "urcu_memb") and where.startswith("1")


def _plan(path: Path, scale: float) -> Plan:
    offered = [c for c in driver.candidates(path) if _measured(c["name"])]
    choice = candidates.choose("all", offered)
    small = min(scale, 1.0)
    request = Request(
        seconds=round(SECONDS * scale, 4),
        delay_seconds=DELAY_SECONDS * scale,
        callbacks=int(CALLBACKS * small),
        flood=int(FLOOD * small),
        most=most_bytes(MOST_MIB),
    )
    return Plan(plan(request, with_baselines(choice, offered, baseline_of)), choice.missing)


PART = Part(KIND, KIND.title, _plan)
