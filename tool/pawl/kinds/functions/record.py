# SPDX-License-Identifier: MIT
"""The part of recorded runs that `pawl bench functions` measures: all rows, more rounds."""

from pawl.core import groups
from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.functions.kind import KIND
from pawl.kinds.functions.plan import GROUPS, SECONDS, WARMUP

RECORDED_ROUNDS = 21


def _cells(scale: float, names: list[str]) -> list[Cell]:
    request = groups.Request(round(SECONDS * scale, 5), RECORDED_ROUNDS, WARMUP)
    return groups.plan("functions", GROUPS, request, names)


PART = Part(KIND, KIND.title, rows("all", _cells))
