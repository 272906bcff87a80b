# SPDX-License-Identifier: MIT
"""The kind "rcu"."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.kind import Kind
from pawl.kinds.rcu import plan, table
from pawl.kinds.rcu.command import COMMAND


def figures(result: dict):
    from pawl.kinds.rcu import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.rcu import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="rcu",
    title="Read-copy-update: readers, grace periods, callbacks",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    heading=table.heading,
    cell_keys=groups.CELL_KEYS | {"flood": int, "bound": int},
    sample_optional=table.SAMPLE_KEYS,
    sound=table.sound,
    summarise=table.summarise,
    losses=table.losses,
    comparisons=comparisons,
    explained=tuple(plan.GROUPS.items()),
    what="what",
    ranks_from=125,
    columns=table.columns,
    belongs=groups.belongs,
)
