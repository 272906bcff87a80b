# SPDX-License-Identifier: MIT
"""The kind "crate"."""

from __future__ import annotations

from pawl.core import groups
from pawl.core.kind import Kind
from pawl.kinds.crate import plan, table
from pawl.kinds.crate.command import COMMAND


def figures(result: dict):
    from pawl.kinds.crate import plot

    return plot.figures(result)


def comparisons(result: dict):
    from pawl.kinds.crate import verdict

    return verdict.comparisons(result)


KIND = Kind(
    name="crate",
    title="The locks of the Rust crate",
    driver=plan.DRIVER,
    baseline=plan.BASELINE,
    command=COMMAND,
    figures=figures,
    workload=table.workload,
    heading=table.heading,
    cell_keys=groups.CELL_KEYS,
    sample_keys={"threads": int},
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
