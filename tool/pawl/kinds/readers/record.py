# SPDX-License-Identifier: MIT
"""The parts of recorded runs that `pawl bench readers` measures."""

from pawl.core.record import Part, rows
from pawl.kinds.readers.kind import KIND
from pawl.kinds.readers.plan import MAIN, NULL, XADD, Request, plan

PAIR_BUDGET, WORD_BUDGET, GRID_BUDGET, SCENES_BUDGET = 25.0, 4.0, 180.0, 55.0


def _part(title: str, budget: float, names: str = "all", **wanted) -> Part:
    return Part(
        KIND,
        title,
        rows(names, lambda scale, found: plan(Request(budget=budget * scale, **wanted), found)),
    )


_ALONE = {"sections": [0.0], "writes": [0.0], "locks": [1], "rounds": 12}
PAIR = _part("The reader's pair", PAIR_BUDGET, **_ALONE)
WORD = _part(PAIR.title, WORD_BUDGET, f"{MAIN},{NULL},{XADD}", threads=[1], **_ALONE)
GRID = _part("Readers and writers", GRID_BUDGET)
SCENES = _part(
    "Writers and seekers beside readers",
    SCENES_BUDGET,
    scenes=["write", "seek", "flood"],
    sections=[0.0],
    rounds=6,
)
