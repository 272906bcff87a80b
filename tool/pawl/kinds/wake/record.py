# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench wake` measures."""

from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.wake.kind import KIND
from pawl.kinds.wake.plan import Request, plan

BUDGET = 58.0


def _cells(scale: float, names: list[str]) -> list[Cell]:
    return plan(Request(budget=BUDGET * scale), names)


PART = Part(KIND, KIND.title, rows("all", _cells))
