# SPDX-License-Identifier: MIT
"""The part of recorded runs that has other people's programs."""

from dataclasses import replace

from pawl.core.kind import Cell
from pawl.core.record import Part, rows
from pawl.kinds.case.command import cells_of
from pawl.kinds.case.kind import KIND as CASE
from pawl.kinds.shim.kind import KIND
from pawl.kinds.shim.plan import AGAIN, BASELINE, MAIN, PREFER, SCENES, plan

CASE_ROWS = (BASELINE, AGAIN, MAIN, PREFER)
CASE_JOBS = ["one-lock", "one-lock-reads", "one-lock-alone"]


def _busy(scale: float, names: list[str]) -> list[Cell]:
    scene = replace(SCENES["crowd-busy-2"], rows=(BASELINE, AGAIN, MAIN))
    return plan(scale, names, {"crowd-busy-2": scene})


def _rocksdb(scale: float, names: list[str]) -> list[Cell]:
    own = [n for n in CASE_ROWS if n in names]
    return cells_of("rocksdb", CASE_JOBS, [4], 3, round(scale, 4), own)


PART = Part(KIND, KIND.title, rows("all", plan))
BUSY = Part(KIND, KIND.title, rows("all", _busy))
ROCKSDB = Part(CASE, CASE.title, rows("all", _rocksdb))
