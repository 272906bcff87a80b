# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench crowd --flood` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.crowd.plan import MAIN
from pawl.kinds.flood.kind import KIND
from pawl.kinds.flood.plan import FLOOR, Request, plan

SECONDS = 1.2


def _cells(scale: float, names: list[str]) -> list[Cell]:
    return plan(Request(threads=[2, 8, 32], rounds=2, seconds=SECONDS * scale), names)


PART = Part(KIND, KIND.title, rows(f"{FLOOR},{MAIN}", _cells), baseline=FLOOR)
