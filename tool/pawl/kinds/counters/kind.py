# SPDX-License-Identifier: MIT
"""The kind "counters"."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.kind import NUMBER, Kind
from pawl.kinds.counters import plan, table
from pawl.kinds.counters.command import COMMAND


def figures(result: dict):
    from pawl.kinds.counters import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.counters import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="counters",
    title="Counters and light locks",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    heading=table.heading,
    cell_keys=groups.CELL_KEYS,
    sample_optional={"reads_per_second": NUMBER},
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    comparisons=comparisons,
    nulls=plan.NULLS,
    explained=tuple(plan.GROUPS.items()),
    what="what",
    ranks_from=100,
    columns=table.columns,
    belongs=groups.belongs,
)
