# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench pairs` measures."""

from pathlib import Path

from pawl.core import candidates, driver
from pawl.core.kind import Plan
from pawl.core.record import USUAL_SECONDS, Part
from pawl.kinds.pairs.kind import KIND
from pawl.kinds.pairs.plan import FLOOR, Request, plan

ROUNDS, WARMUP = 15, 0.005


def _planned(choice: candidates.Choice, scale: float) -> Plan:
    request = Request(round(USUAL_SECONDS / 2 * scale, 6), ROUNDS, WARMUP)
    return Plan(plan(request, choice.names), choice.missing)


def _all(path: Path, scale: float) -> Plan:
    offered = driver.candidates(path)
    return _planned(candidates.without_sleepers(candidates.choose("all", offered)), scale)


def _beside_spin(path: Path, scale: float) -> Plan:
    names = [
        f"{mode}/pawl_{lock}{width}"
        for lock in ("lock", "spin")
        for width in (32, 64)
        for mode in "rswa"
    ]
    return _planned(candidates.choose(",".join([FLOOR, *names]), driver.candidates(path)), scale)


ALL = Part(KIND, "One thread alone", _all)
BESIDE_SPIN = Part(KIND, "One thread alone", _beside_spin)
