# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench tree` measures: all rows."""

from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.tree.kind import KIND
from pawl.kinds.tree.plan import Request, plan

BUDGET = 35.0


def _cells(scale: float, names: list[str]) -> list[Cell]:
    return plan(Request(threads=[1, 2], budget=BUDGET * scale), names)


PART = Part(KIND, KIND.title, rows("all", _cells))
