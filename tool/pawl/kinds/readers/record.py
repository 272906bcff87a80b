# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench readers` measures."""

from pawl.core.record import Part, rows
from pawl.kinds.readers.kind import KIND
from pawl.kinds.readers.plan import Request, plan

PAIR_BUDGET, GRID_BUDGET, SCENES_BUDGET = 25.0, 180.0, 55.0


def _part(title: str, budget: float, **wanted) -> Part:
    return Part(
        KIND,
        title,
        rows("all", lambda scale, names: plan(Request(budget=budget * scale, **wanted), names)),
    )


PAIR = _part("The reader's pair", PAIR_BUDGET, sections=[0.0], writes=[0.0], locks=[1], rounds=12)
GRID = _part("Readers and writers", GRID_BUDGET)
SCENES = _part(
    "Writers and seekers beside readers",
    SCENES_BUDGET,
    scenes=["write", "seek", "flood"],
    sections=[0.0],
    rounds=6,
)
