# SPDX-License-Identifier: MIT
"""The kind "functions"."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.kind import Kind
from pawl.kinds.functions import plan, table
from pawl.kinds.functions.command import COMMAND


def figures(result: dict):
    from pawl.kinds.functions import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.functions import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="functions",
    title="What one call of each function costs",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    heading=table.heading,
    cell_keys=groups.CELL_KEYS,
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    comparisons=comparisons,
    explained=tuple(plan.GROUPS.items()),
    what="function",
    columns=table.columns,
    belongs=groups.belongs,
)
