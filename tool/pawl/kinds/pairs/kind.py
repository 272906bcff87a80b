# SPDX-License-Identifier: MIT
"""The kind "pairs"."""

from __future__ import annotations

from pawl.core.kind import Kind
from pawl.kinds.pairs import plan, table
from pawl.kinds.pairs.command import COMMAND


def figures(result: dict):
    from pawl.kinds.pairs import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.pairs import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="pairs",
    title="One thread alone",
    driver=plan.DRIVER,
    baseline=plan.FLOOR,
    command=COMMAND,
    figures=figures,
    above_zero=True,
    workload=table.workload,
    comparisons=comparisons,
    explained=table.MODES,
    what="mode/lock",
    ranks_from=88,
    columns=table.columns,
)
